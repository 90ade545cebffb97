import pytest
import torch
from torch.autograd import gradcheck

from tests.transformer_block.numerics import B, D, T, normal
from transformer_block.in_numpy.dropout import DropMask as NumpyDropMask
from transformer_block.in_numpy.residual import residual as in_numpy
from transformer_block.in_torch.dropout import DropMask
from transformer_block.in_torch.residual import Residual, residual

X, UPDATE = normal(1, B, T, D), normal(2, B, T, D)
KEEP = normal(3, B, T, D) < 0.3


@pytest.mark.parametrize("entries", [None, 1, D])
@pytest.mark.parametrize("alpha", [None, 1.7])
@pytest.mark.parametrize("drops", [False, True])
def test_it_is_its_numpy_twin(entries, alpha, drops):
    weight = None if entries is None else normal(4, entries)
    expected = in_numpy(X, UPDATE, weight, alpha, drop=NumpyDropMask(KEEP, 0.4) if drops else None)
    y = residual(
        torch.tensor(X),
        torch.tensor(UPDATE),
        None if weight is None else torch.tensor(weight),
        alpha,
        drop=DropMask(torch.tensor(KEEP), 0.4) if drops else None,
    )
    torch.testing.assert_close(y, torch.tensor(expected), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("entries", [1, D])
def test_it_can_be_differentiated(entries):
    arrays = (normal(1, T, D), normal(2, T, D), normal(3, entries))
    assert gradcheck(residual, tuple(torch.tensor(array, requires_grad=True) for array in arrays))


@pytest.mark.parametrize(("entries", "names"), [(None, []), (1, ["weight"]), (D, ["weight"])])
def test_a_module_has_a_weight_only_if_it_is_asked_for(entries, names):
    module = Residual(entries)
    assert list(module.state_dict()) == names
    assert [tuple(parameter.shape) for parameter in module.parameters()] == [(entries,)] * len(names)


def test_a_module_uses_its_weight_and_alpha():
    module = Residual(D, alpha=1.7).double()
    weight = torch.tensor(normal(4, D))
    module.load_state_dict({"weight": weight})
    x, update = torch.tensor(X), torch.tensor(UPDATE)
    assert torch.equal(module(x, update), residual(x, update, weight, 1.7))


def test_a_module_drops_in_training_alone():
    module, x, update = Residual(dropout=0.4), torch.zeros(100, D), torch.ones(100, D)
    torch.manual_seed(1)
    assert module.train()(x, update).unique().tolist() == pytest.approx([0, 1 / 0.6])
    assert torch.equal(module.eval()(x, update), update)


@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_refused():
    x, update = torch.tensor(X), torch.tensor(UPDATE)
    with pytest.raises(ValueError, match=r"update must have shape \(2, 5, 12\); got \(5, 12\)"):
        residual(x, update[0])
    with pytest.raises(ValueError, match=r"weight must have shape \(1,\) or \(12,\); got \(5,\)"):
        residual(x, update, torch.ones(T, dtype=torch.float64))
