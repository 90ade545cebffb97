import numpy as np
import pytest
import torch

from tests.transformer_block.numerics import B, D, T, normal
from tests.transformer_block.parts import some_kept
from transformer_block.in_numpy import dropout as numpy_twin
from transformer_block.in_torch.dropout import DropMask, Dropout, draw_mask, dropout


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_it_agrees_with_its_twin(dtype):
    x, keep = normal(1, B, T, D, dtype=dtype), some_kept(2, B, T, D)
    y = dropout(torch.tensor(x), DropMask(torch.tensor(keep), 0.3))
    expected = numpy_twin.dropout(x, numpy_twin.DropMask(keep, 0.3))
    assert y.numpy().dtype == dtype
    np.testing.assert_allclose(y, expected, rtol=2 * np.finfo(dtype).eps)


def test_the_mean_is_kept():
    x = 3 + torch.tensor(normal(1, 200, 300))
    dropped = dropout(x, draw_mask(x.shape, 0.3, torch.Generator().manual_seed(2)))
    deviation = (x.square().mean() * 0.3 / 0.7 / x.numel()).sqrt()
    assert (dropped.mean() - x.mean()).abs() < 4 * deviation


@pytest.mark.parametrize("rate", [0.1, 0.8])
def test_the_share_that_is_dropped_is_the_rate(rate):
    drop = draw_mask((200, 300), rate, torch.Generator().manual_seed(3))
    assert drop.rate == rate
    assert drop.keep.dtype == torch.bool
    share = (~drop.keep).double().mean()
    assert (share - rate).abs() < 4 * (rate * (1 - rate) / drop.keep.numel()) ** 0.5


def test_the_generator_decides_and_torchs_own_where_none_is_given():
    first, again = (draw_mask((T, D), 0.5, torch.Generator().manual_seed(1)).keep for _ in range(2))
    assert torch.equal(first, again)
    torch.manual_seed(1)
    by_the_global_one = draw_mask((T, D), 0.5).keep
    assert torch.equal(by_the_global_one, first)
    assert not torch.equal(draw_mask((T, D), 0.5).keep, first)


def test_without_a_mask_or_a_rate_nothing_is_dropped_or_drawn():
    x, before = torch.ones(T, D), torch.get_rng_state()
    assert dropout(x) is x
    assert draw_mask((T, D), 0.0) is None
    assert Dropout(0.0).train()(x) is x
    assert Dropout(0.3).eval()(x) is x
    assert torch.equal(torch.get_rng_state(), before)


def test_the_module_drops_in_training_and_anew_each_time():
    module, x = Dropout(0.3).train(), torch.ones(200, 300)
    first, second = module(x), module(x)
    assert set(first.unique().tolist()) == {0, torch.tensor(1 / 0.7).item()}
    assert not torch.equal(first, second)


def test_the_gradient_is_dropped_and_stretched_as_the_entry_was():
    keep = torch.tensor([True, False, True])
    x = torch.ones(3, requires_grad=True)
    dropout(x, DropMask(keep, 0.5)).sum().backward()
    assert x.grad.tolist() == [2, 0, 2]


def test_nan_is_not_hidden():
    y = dropout(torch.tensor([1, torch.nan]), DropMask(torch.tensor([True, False]), 0.5))
    assert y.isnan().tolist() == [False, True]


def test_the_mask_lies_where_it_is_asked_for():
    assert draw_mask((T, D), 0.5, device=torch.device("meta")).keep.device.type == "meta"
    assert Dropout(0.3).train()(torch.ones(T, D, device="meta")).device.type == "meta"


@pytest.mark.parametrize("rate", [1.0, -0.1])
def test_a_rate_that_leaves_nothing_or_is_none_is_refused(rate):
    sentence = rf"the dropout rate must lie in \[0, 1\); got {rate}"
    with pytest.raises(ValueError, match=sentence):
        draw_mask((T, D), rate)
    with pytest.raises(ValueError, match=sentence):
        Dropout(rate)
    with pytest.raises(ValueError, match=sentence):
        dropout(torch.ones(T), DropMask(torch.ones(T, dtype=torch.bool), rate))


def test_a_mask_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"keep must have shape \(5, 12\); got \(12,\)"):
        dropout(torch.ones(T, D), DropMask(torch.ones(D, dtype=torch.bool), 0.1))


def test_what_is_drawn_at_the_rate_itself_is_kept():
    drawn = torch.rand(T, D, generator=torch.Generator().manual_seed(1))
    keep = draw_mask((T, D), drawn[2, 3].item(), torch.Generator().manual_seed(1)).keep
    assert torch.equal(keep, drawn >= drawn[2, 3])
    assert keep[2, 3]
