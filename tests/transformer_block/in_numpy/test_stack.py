import numpy as np
import pytest

from tests.transformer_block.numerics import B, D, H, S, T, normal, small_config
from transformer_block.in_numpy.block import Block
from transformer_block.in_numpy.cache import KVCache
from transformer_block.in_numpy.layer_norm import layer_norm
from transformer_block.in_numpy.masks import padding_mask
from transformer_block.in_numpy.positions import sinusoidal
from transformer_block.in_numpy.stack import Stack
from transformer_block.parameters import initialize_stack, perturb, within

pytestmark = pytest.mark.slow


def stack(**choices):
    config = small_config(**{"n_layers": 3} | choices)
    return Stack(config, perturb(initialize_stack(config, seed=0), seed=0))


def caches(capacity=T, n_layers=3):
    return [KVCache(capacity) for _ in range(n_layers)]


@pytest.mark.parametrize(
    ("choices", "names"),
    [
        ({}, ["blocks.0", "blocks.1", "blocks.2", "norm"]),
        ({"positions": "sinusoidal"}, ["positions", "blocks.0", "blocks.1", "blocks.2", "norm"]),
        ({"placement": "post", "positions": "rotary", "n_layers": 1}, ["blocks.0"]),
        ({"placement": "sandwich", "n_layers": 2}, ["blocks.0", "blocks.1", "norm"]),
        ({"placement": "parallel", "n_layers": 1}, ["blocks.0", "norm"]),
    ],
)
def test_it_passes_through_its_blocks_in_order(choices, names):
    assert [name for name, _ in stack(**choices).stages(normal(1, B, T, D))] == names


def test_it_is_its_blocks_between_the_positions_and_the_norm():
    model, x, visible = stack(positions="sinusoidal", eps=1e-2), normal(1, B, T, D), padding_mask([3, 5], T)
    y = x + sinusoidal(T, D)
    for i in range(3):
        y = Block(model.config, within(model.parameters, f"blocks.{i}"))(y, visible)
    y = layer_norm(y, model.parameters["norm.weight"], model.parameters["norm.bias"], 1e-2)
    np.testing.assert_array_equal(model(x, visible), y)


def test_each_block_has_parameters_of_its_own():
    model, x = stack(n_layers=2), normal(1, B, T, D)
    swapped = dict(model.parameters)
    for name, value in within(model.parameters, "blocks.0").items():
        swapped[f"blocks.0.{name}"] = model.parameters[f"blocks.1.{name}"]
        swapped[f"blocks.1.{name}"] = value
    assert np.abs(Stack(model.config, swapped)(x) - model(x)).max() > 1e-6


@pytest.mark.parametrize("positions", ["none", "sinusoidal", "rotary"])
def test_only_positions_tell_the_order_of_the_tokens(positions):
    model, x, order = stack(positions=positions), normal(1, B, T, D), [3, 0, 4, 1, 2]
    moved = np.abs(model(x[:, order]) - model(x)[:, order]).max()
    assert (moved > 1e-6) == (positions != "none")


@pytest.mark.parametrize("positions", ["none", "sinusoidal", "rotary"])
@pytest.mark.parametrize("chunks", [[5], [2, 1, 2], [1, 1, 1, 1, 1]])
def test_with_caches_every_chunk_stands_at_its_global_position(chunks, positions):
    model, x, held = stack(causal=True, positions=positions), normal(1, B, T, D), caches()
    parts = [model(part, caches=held) for part in np.split(x, np.cumsum(chunks)[:-1], axis=1)]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), model(x), rtol=1e-12, atol=1e-12)


def test_a_stack_of_one_block_continues_from_its_one_cache():
    model, x = stack(n_layers=1, causal=True, positions="sinusoidal"), normal(1, B, T, D)
    held = caches(n_layers=1)
    parts = [model(x[:, :2], caches=held), model(x[:, 2:], caches=held)]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), model(x), rtol=1e-12, atol=1e-12)


def test_caches_without_room_are_left_as_they_were():
    model, x, held = stack(causal=True), normal(1, B, T, D), caches(capacity=T + 1)
    held[2] = KVCache(T - 1)
    model(x[:, :2], caches=held)
    with pytest.raises(ValueError, match="the cache holds 2 of 4 positions: no room for 3 more"):
        model.stages(x[:, 2:], caches=held)
    assert [cache.offset for cache in held] == [2, 2, 2]


def test_no_gradients_flow_through_caches_and_they_are_left_as_they_were():
    model, x, held = stack(causal=True), normal(1, B, T, D), caches()
    with pytest.raises(ValueError, match="no gradients flow through a cache: cache must be None"):
        model.vjp(x, caches=held)
    assert [cache.offset for cache in held] == [0, 0, 0]


def test_a_decoders_blocks_read_the_same_memory():
    model = stack(cross_attention=True, causal=True)
    x, memory, saved = normal(1, B, T, D), normal(2, B, S, D), {}
    model(x, memory=memory, memory_visible=padding_mask([4, 9], S), saved=saved)
    assert list(saved) == ["blocks.0", "blocks.1", "blocks.2"]
    for each in saved.values():
        weights = each["cross_attention"]["weights"]
        assert weights.shape == (B, H, T, S)
        assert not weights[0, ..., 4:].any()
        assert weights[1].all()


def test_it_drops_only_when_it_is_given_a_generator():
    model, x = stack(residual_dropout=0.5), normal(1, B, T, D)
    draws = [model(x, rng=np.random.default_rng(seed)) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(model(x), stack()(x))
    np.testing.assert_array_equal(draws[0], draws[1])
    assert np.abs(draws[0] - draws[2]).max() > 1e-3


def test_a_deep_post_norm_stack_ends_in_the_norm_of_its_last_block():
    x = stack(placement="post", norm_weight=False, n_layers=4)(normal(1, B, T, D))
    np.testing.assert_allclose(x.mean(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(x.std(axis=-1), 1, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_is_the_parameters(dtype):
    model = stack(positions="sinusoidal")
    cast = {name: value.astype(dtype) for name, value in model.parameters.items()}
    stages = Stack(model.config, cast).stages(normal(1, B, T, D, dtype=dtype))
    assert {value.dtype for _, value in stages} == {np.dtype(dtype)}


def test_a_sequence_needs_no_batch_and_may_be_a_token_or_none():
    model, x = stack(causal=True, positions="sinusoidal"), normal(1, B, T, D)
    np.testing.assert_allclose(model(x[1]), model(x)[1], atol=1e-12)
    np.testing.assert_allclose(model(x[:, :1]), model(x)[:, :1], atol=1e-12)
    assert model(x[:, :0]).shape == (B, 0, D)


def test_wrong_parameters_are_refused_when_it_is_made():
    with pytest.raises(ValueError, match=r"blocks\.2\.norm_1\.weight is missing"):
        Stack(small_config(n_layers=3), initialize_stack(small_config(n_layers=2), seed=0))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("x", "inputs", "error", "sentence"),
    [
        (np.ones((B, T, H)), {}, ValueError, "x must have shape (..., T, 12); got (2, 5, 3)"),
        (np.ones(D), {}, ValueError, "x must have shape (..., T, 12); got (12,)"),
        (np.ones((B, T, D), np.float32), {}, TypeError, "x is float32 but the parameters are float64"),
        (
            np.ones((B, T, D)),
            {"caches": caches(n_layers=2)},
            ValueError,
            "a stack of 3 blocks needs 3 caches; got 2",
        ),
        (
            np.ones((B, T, D)),
            {"memory": np.ones((B, S, D))},
            ValueError,
            "a memory is given, but cross_attention is False",
        ),
    ],
)
@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
def test_what_does_not_fit_is_refused_before_the_first_block(positions, x, inputs, error, sentence):
    with pytest.raises(error) as refusal:
        stack(causal=True, positions=positions).stages(x, **inputs)
    assert str(refusal.value) == sentence
