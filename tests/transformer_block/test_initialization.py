import math

import numpy as np
import pytest
import torch
from torch import nn

from transformer_block.config import BlockConfig
from transformer_block.initialization import deep_norm, stream_of, stream_scale
from transformer_block.parameters import initialize, initialize_stack

# Wide enough that a spread is known to about a percent; H · K = 48, G · K = 24, K = 12, F = 80.
WIDE = {
    "d_model": 48,
    "n_heads": 4,
    "n_kv_heads": 2,
    "d_ff": 80,
    "cross_attention": True,
    "activation": "swiglu",
}
Q, KV = 48, 24
MATRICES = {
    "attention.qkv.weight": (Q + 2 * KV, 48),
    "attention.out.weight": (48, 48),
    "cross_attention.q.weight": (48, 48),
    "cross_attention.kv.weight": (2 * KV, 48),
    "cross_attention.out.weight": (48, 48),
    "feed_forward.up.weight": (80, 48),
    "feed_forward.gate.weight": (80, 48),
    "feed_forward.down.weight": (48, 80),
}
TO_THE_STREAM = {"attention.out.weight", "cross_attention.out.weight", "feed_forward.down.weight"}


def parameters(**choices):
    return initialize(BlockConfig(**WIDE | choices), seed=1)


def assert_spread(sample, std, kurtosis):
    """The variance of n draws strays by √((kurtosis − 1)/n) of itself; five times that is too much."""
    stray = 5 * math.sqrt((kurtosis - 1) / sample.size)
    assert abs(sample.var() / std**2 - 1) < stray
    assert abs(sample.mean()) < 5 * std / math.sqrt(sample.size)


def assert_uniform(sample, bound):
    assert_spread(sample, bound / math.sqrt(3), kurtosis=1.8)
    assert (1 - 10 / sample.size) * bound < np.abs(sample).max() <= bound


@pytest.mark.parametrize(("name", "shape"), MATRICES.items())
def test_xavier_counts_what_goes_in_and_what_comes_out(name, shape):
    torch.manual_seed(1)
    drawn_by_torch = nn.init.xavier_uniform_(torch.empty(shape, dtype=torch.float64)).numpy()
    bound = math.sqrt(6 / sum(shape))
    for matrix in (parameters()[name], drawn_by_torch):
        assert matrix.shape == shape
        assert_uniform(matrix, bound)


@pytest.mark.parametrize(("name", "shape"), MATRICES.items())
def test_pytorch_counts_what_goes_in_for_weights_and_biases(name, shape):
    torch.manual_seed(1)
    linear = nn.Linear(shape[1], shape[0])
    drawn = parameters(initialization="pytorch")
    bound = 1 / math.sqrt(shape[1])
    assert_uniform(drawn[name], bound)
    assert_uniform(linear.weight.detach().numpy(), bound)
    bias = drawn[name.replace("weight", "bias")]
    assert_spread(bias, bound / math.sqrt(3), kurtosis=1.8)
    assert np.abs(bias).max() <= bound
    assert linear.bias.abs().max() <= bound


@pytest.mark.parametrize("name", MATRICES)
def test_normal_has_one_spread_whatever_the_width(name):
    matrix = parameters(initialization="normal")[name]
    assert_spread(matrix, 0.02, kurtosis=3)
    assert np.abs(matrix).max() > 0.05  # a uniform with this spread ends at 0.035


@pytest.mark.parametrize("initialization", ["xavier", "normal"])
def test_biases_start_at_zero_unless_they_are_pytorchs(initialization):
    drawn = parameters(initialization=initialization)
    biases = [value for name, value in drawn.items() if name.endswith("bias")]
    assert len(biases) == 11
    assert not any(bias.any() for bias in biases)


@pytest.mark.parametrize("initialization", ["xavier", "pytorch", "normal"])
def test_norms_start_as_the_identity(initialization):
    drawn = parameters(initialization=initialization, placement="sandwich", qk_norm=True)
    weights = [name for name in drawn if "norm" in name and name.endswith("weight")]
    assert len(weights) == 3 + 3 + 4
    for name in weights:
        np.testing.assert_array_equal(drawn[name], 1)
        if name.startswith("norm"):
            np.testing.assert_array_equal(drawn[name.replace("weight", "bias")], 0)


def test_rezero_starts_every_block_as_the_identity():
    drawn = parameters(residual_scaling="rezero", layer_scale_init=0.3)
    for name in ("residual_1.weight", "residual_2.weight", "residual_3.weight"):
        np.testing.assert_array_equal(drawn[name], [0.0])


def test_a_scale_starts_alike_in_every_block_of_a_stack():
    config = BlockConfig(**WIDE, n_layers=2, residual_scaling="rezero")
    drawn = initialize_stack(config, seed=1)
    scales = [name for name in drawn if "residual" in name]
    assert len(scales) == 2 * 3
    assert not any(drawn[name].any() for name in scales)


def test_layer_scale_starts_every_feature_at_one_small_number():
    drawn = parameters(residual_scaling="layer_scale", layer_scale_init=0.3)
    for name in ("residual_1.weight", "residual_2.weight", "residual_3.weight"):
        np.testing.assert_array_equal(drawn[name], np.full(48, 0.3))


@pytest.mark.parametrize("initialization", ["xavier", "pytorch", "normal"])
@pytest.mark.parametrize(("decoder", "branches"), [(False, 2), (True, 3)])
def test_scaling_shrinks_what_writes_to_the_stream_by_the_root_of_the_number_of_writers(
    decoder, branches, initialization
):
    choices = {"n_layers": 8, "cross_attention": decoder, "initialization": initialization}
    plain, scaled = (parameters(scaled_initialization=scale, **choices) for scale in (False, True))
    for name, value in plain.items():
        factor = 1 / math.sqrt(branches * 8) if name in TO_THE_STREAM else 1
        np.testing.assert_allclose(scaled[name], factor * value, rtol=1e-15, err_msg=name)


def test_the_scale_of_the_stream_is_one_unless_it_is_asked_for():
    assert stream_scale(BlockConfig(**WIDE, n_layers=8)) == 1
    deep = BlockConfig(d_model=4, n_heads=2, d_ff=3, n_layers=8, scaled_initialization=True)
    assert stream_scale(deep) == 0.25


# α and β as in figure 2 of the paper: encoders or decoders alone, and the decoder beside an encoder.
@pytest.mark.parametrize("depth", [1, 6, 18, 1000])
@pytest.mark.parametrize(
    ("decoder", "alpha", "beta"),
    [
        (False, lambda n: (2 * n) ** (1 / 4), lambda n: (8 * n) ** (-1 / 4)),
        (True, lambda n: (3 * n) ** (1 / 4), lambda n: (12 * n) ** (-1 / 4)),
    ],
)
def test_deep_norm_has_the_factors_of_the_paper(decoder, alpha, beta, depth):
    config = BlockConfig(
        **WIDE | {"cross_attention": decoder},
        n_layers=depth,
        placement="post",
        residual_scaling="deep_norm",
    )
    assert deep_norm(config) == pytest.approx((alpha(depth), beta(depth)), rel=1e-14)


def test_deep_norm_shrinks_all_but_queries_keys_and_their_biases():
    choices = {"placement": "post", "n_layers": 18}
    plain, deep = (parameters(residual_scaling=scaling, **choices) for scaling in ("none", "deep_norm"))
    beta = (12 * 18) ** -0.25
    kept = {
        "attention.qkv.weight": Q + KV,
        "cross_attention.q.weight": Q,
        "cross_attention.kv.weight": KV,
    }
    for name in MATRICES:
        rows = kept.get(name, 0)
        np.testing.assert_array_equal(deep[name][:rows], plain[name][:rows], err_msg=name)
        np.testing.assert_allclose(deep[name][rows:], beta * plain[name][rows:], rtol=1e-15, err_msg=name)


@pytest.mark.parametrize("initialization", ["xavier", "pytorch", "normal"])
def test_no_two_matrices_start_alike(initialization):
    config = BlockConfig(**WIDE, n_layers=2, initialization=initialization)
    drawn = {
        name: value for name, value in initialize_stack(config, seed=1).items() if value.shape == (48, 48)
    }
    assert len(drawn) == 2 * 4
    for name, value in drawn.items():
        for other, another in drawn.items():
            if other != name:
                assert abs(np.corrcoef(value.ravel(), another.ravel())[0, 1]) < 0.1


def test_a_stream_depends_on_its_purpose_and_on_the_seed():
    first, again = (stream_of("a", 1).random(5) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not np.isin(stream_of("b", 1).random(5), first).any()
    assert not np.isin(stream_of("a", 2).random(5), first).any()
