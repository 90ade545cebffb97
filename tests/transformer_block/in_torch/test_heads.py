import numpy as np
import pytest
import torch

from tests.transformer_block.numerics import B, K, S, T, normal
from tests.transformer_block.parts import D, G, H, gains, tensors
from transformer_block.in_numpy import heads as numpy_twin
from transformer_block.in_torch.heads import Gain, QKNorm, merge_heads, prepare_heads, split_heads


def random(seed, *shape):
    return torch.tensor(normal(seed, *shape))


def test_a_head_holds_neighboring_features():
    x = random(1, B, T, D)
    heads = split_heads(x, H)
    assert torch.equal(heads[:, 1], x[..., K : 2 * K])
    assert torch.equal(merge_heads(heads), x)
    assert torch.equal(split_heads(x[1], H), heads[1])
    assert torch.equal(merge_heads(heads[1]), x[1])
    assert heads.data_ptr() == x.data_ptr()
    with pytest.raises(ValueError, match="d_model 24 is not divisible by n_heads 5"):
        split_heads(x, 5)


@pytest.mark.parametrize("offset", [(), (3,)])
@pytest.mark.parametrize("rotary_base", [None, 50.0])
@pytest.mark.parametrize("normed", [True, False])
def test_queries_and_keys_are_prepared_as_in_the_twin(normed, rotary_base, offset):
    q, k = normal(1, B, H, T, K), normal(2, B, G, S, K)
    norm = QKNorm(*tensors(gains()).values(), 1e-2) if normed else None
    theirs = numpy_twin.QKNorm(*gains().values(), 1e-2) if normed else None
    prepared = prepare_heads(torch.tensor(q), torch.tensor(k), norm, rotary_base, *offset)
    reference = numpy_twin.prepare_heads(q, k, theirs, rotary_base, *offset)
    for ours, expected in zip(prepared, reference, strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_the_norms_have_the_same_eps_unless_given_and_start_at_one():
    assert QKNorm(*tensors(gains()).values()).eps == numpy_twin.QKNorm(*gains().values()).eps == 1e-5
    assert torch.equal(Gain(K).weight, torch.ones(K))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["q", "k"])
def test_a_gain_has_one_entry_per_feature_of_a_head(name):
    norm = QKNorm(*tensors(gains()).values())._replace(**{name: torch.ones(D)})
    with pytest.raises(ValueError, match=rf"{name}_norm must have shape \(4,\); got \(24,\)"):
        prepare_heads(random(1, B, H, T, K), random(2, B, G, S, K), norm)
