import numpy as np
import pytest

from tests.transformer_block.numerics import B, K, S, T, normal
from tests.transformer_block.parts import D, G, H, gains, largest_gap_in_slope
from transformer_block.in_numpy.heads import (
    QKNorm,
    merge_heads,
    prepare_heads,
    prepare_heads_backward,
    split_heads,
)
from transformer_block.in_numpy.positions import rotary
from transformer_block.in_numpy.rms_norm import rms_norm


def norms(eps=1e-2):
    return QKNorm(gains()["q_norm"], gains()["k_norm"], eps)


def test_a_head_holds_neighboring_features():
    x = normal(1, B, T, D)
    heads = split_heads(x, H)
    assert heads.shape == (B, H, T, K)
    np.testing.assert_array_equal(heads[:, 1], x[..., K : 2 * K])
    np.testing.assert_array_equal(merge_heads(heads), x)
    np.testing.assert_array_equal(split_heads(x[1], H), heads[1])
    np.testing.assert_array_equal(merge_heads(heads[1]), x[1])
    assert merge_heads(split_heads(x[:, :0], H)).shape == (B, 0, D)


@pytest.mark.parametrize("n_heads", [5, 0, -6])
def test_heads_share_the_width_evenly(n_heads):
    with pytest.raises(ValueError, match=f"d_model 24 is not divisible by n_heads {n_heads}"):
        split_heads(normal(1, B, T, D), n_heads)


def test_unless_chosen_nothing_is_done_to_queries_and_keys():
    q, k = normal(1, B, H, T, K), normal(2, B, G, S, K)
    prepared = prepare_heads(q, k)
    assert prepared[0] is q
    assert prepared[1] is k


def test_queries_and_keys_are_normalized_and_then_turned():
    q, k, norm = normal(1, B, H, T, K), normal(2, B, G, S, K), norms()
    prepared = prepare_heads(q, k, norm, rotary_base=50.0, offset=3)
    np.testing.assert_array_equal(prepared[0], rotary(rms_norm(q, norm.q, 1e-2), 3, 50))
    np.testing.assert_array_equal(prepared[1], rotary(rms_norm(k, norm.k, 1e-2), 3, 50))
    assert QKNorm(norm.q, norm.k).eps == 1e-5


@pytest.mark.parametrize("rotary_base", [None, 50.0])
@pytest.mark.parametrize("normed", [True, False])
def test_the_gradients_are_those_of_central_differences(normed, rotary_base):
    q, k, dq, dk = normal(1, B, H, T, K), normal(2, B, G, S, K), normal(3, B, H, T, K), normal(4, B, G, S, K)
    norm = norms() if normed else None

    def loss(q, k, norm):
        prepared = prepare_heads(q, k, norm, rotary_base)
        return np.sum(dq * prepared[0]) + np.sum(dk * prepared[1])

    gradients = prepare_heads_backward(dq, dk, q, k, norm, rotary_base)
    assert largest_gap_in_slope(lambda q: loss(q, k, norm), q, gradients[0]) < 1e-6
    assert largest_gap_in_slope(lambda k: loss(q, k, norm), k, gradients[1]) < 1e-6
    if normed:
        for at, gradient, name in ((norm.q, gradients[2], "q"), (norm.k, gradients[3], "k")):
            gap = largest_gap_in_slope(
                lambda gain, name=name: loss(q, k, norm._replace(**{name: gain})), at, gradient
            )
            assert gap < 1e-6
    else:
        assert gradients[2:] == (None, None)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["q", "k"])
def test_a_gain_has_one_entry_per_feature_of_a_head(name):
    with pytest.raises(ValueError, match=rf"{name}_norm must have shape \(4,\); got \(24,\)"):
        prepare_heads(normal(1, B, H, T, K), normal(2, B, G, S, K), norms()._replace(**{name: np.ones(D)}))


def test_norms_keep_scores_in_bounds_whatever_the_scale():
    # a normalized head has at most the length √K, so that no score q · k / √K passes √K
    q, k = 1e8 * normal(1, B, H, T, K), 1e8 * normal(2, B, H, S, K)
    q, k = prepare_heads(q, k, QKNorm(np.ones(K), np.ones(K)))
    assert np.abs(q @ k.swapaxes(-2, -1) / np.sqrt(K)).max() <= np.sqrt(K) + 1e-12
