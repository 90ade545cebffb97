"""The gradients of whole blocks and stacks, measured by moving what they read."""

import numpy as np
import pytest

from tests.transformer_block.choices import COVERING, B, D, T, config_of, inputs_of, name_of
from tests.transformer_block.numerics import central_differences, normal, relative_error
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block
from transformer_block.in_numpy.cache import KVCache
from transformer_block.in_numpy.masks import padding_mask
from transformer_block.in_numpy.stack import Stack
from transformer_block.parameters import initialize, initialize_stack, perturb

pytestmark = pytest.mark.slow

KINDS = {"block": (Block, initialize), "stack": (Stack, initialize_stack)}
# B, T, S, D, H, K, F: so small that every single entry can be moved
TINY = {"d_model": 6, "n_heads": 3, "d_ff": 5}


def name_of_either(parameter):
    return parameter if isinstance(parameter, str) else name_of(parameter)


# Blocks with every pair of choices; that a stack is a chain of blocks shows in a few.
MOVED = [("block", row) for row in COVERING]
MOVED += [("stack", row) for row in COVERING if row["positions"] == "sinusoidal"][:4]


def made(kind, config):
    make, draw = KINDS[kind]
    return make(config, perturb(draw(config, 0), 0, scale=0.3))


def slope(loss, array, direction, step=1e-6):
    """Derivative of a loss as an array moves in a direction; the array is put back."""
    start = array.copy()
    values = []
    for side in (step, -step):
        array[...] = start + side * direction
        values.append(loss())
    array[...] = start
    return (values[0] - values[1]) / (2 * step)


# The shape checks would cost ten times what the moves cost; other tests make the same calls with them.
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("kind", "row"), MOVED, ids=name_of_either)
def test_every_gradient_foretells_what_a_random_move_does(kind, row):
    model, inputs = made(kind, config_of(row)), inputs_of(config_of(row))
    dy = normal(4, B, T, D)

    dx, gradients = model.gradients(dy=dy, **inputs)

    streams = {name: inputs[name] for name in ("x", "memory") if name in inputs}
    for seed, (name, array) in enumerate({**streams, **model.parameters}.items()):
        gradient = dx if name == "x" else gradients[name]
        direction = normal(seed, *array.shape)
        measured = slope(lambda: (dy * model(**inputs)).sum(), array, direction)
        foretold = (gradient * direction).sum()
        assert abs(foretold - measured) < 1e-6 * np.linalg.norm(gradient), name


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "choices",
    [
        {"placement": "pre", "causal": True},
        {"placement": "post", "cross_attention": True},
        {"placement": "sandwich", "norm": "rms_norm", "activation": "swiglu"},
        {"placement": "parallel", "positions": "rotary", "qk_norm": True, "n_kv_heads": 1},
    ],
    ids=lambda choices: choices["placement"],
)
def test_every_entry_of_every_gradient_is_what_moving_it_does(choices):
    config = BlockConfig(**TINY | choices)
    model, x, dy = made("block", config), normal(1, 1, 3, 6), normal(2, 1, 3, 6)
    memory = {"memory": normal(3, 1, 4, 6)} if config.cross_attention else {}

    dx, gradients = model.gradients(x, dy, **memory)

    arrays = {"x": x, **memory, **model.parameters}
    for name, array in arrays.items():

        def loss(value, array=array):
            array[...] = value
            return (dy * model(x, **memory)).sum()

        start, gradient = array.copy(), dx if name == "x" else gradients[name]
        assert relative_error(gradient, central_differences(loss, start)) < 1e-6, name
        array[...] = start


RATES = {"attention_dropout": 0.2, "residual_dropout": 0.3, "feed_forward_dropout": 0.4}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "choices",
    [
        *({name: rate} for name, rate in RATES.items()),
        RATES | {"placement": "post", "cross_attention": True},
        RATES | {"placement": "parallel", "residual_scaling": "layer_scale"},
    ],
    ids=lambda choices: " ".join(choices),
)
def test_the_way_back_drops_what_the_way_there_dropped(choices, kind):
    config = config_of(choices)
    model, inputs, dy = made(kind, config), inputs_of(config), normal(4, B, T, D)

    dx, gradients = model.gradients(dy=dy, rng=np.random.default_rng(5), **inputs)

    def loss():
        return (dy * model(rng=np.random.default_rng(5), **inputs)).sum()

    for seed, (name, array) in enumerate({"x": inputs["x"], **model.parameters}.items()):
        gradient = dx if name == "x" else gradients[name]
        direction = normal(seed, *array.shape)
        foretold = (gradient * direction).sum()
        assert abs(foretold - slope(loss, array, direction)) < 1e-6 * np.linalg.norm(gradient), name


@pytest.mark.parametrize("kind", KINDS)
def test_the_value_and_its_backward_come_from_one_run(kind):
    config = config_of({"cross_attention": True, "placement": "sandwich"})
    model, inputs, dy = made(kind, config), inputs_of(config), normal(4, B, T, D)
    y, backward = model.vjp(**inputs)
    np.testing.assert_array_equal(y, model(**inputs))
    dx, gradients = backward(dy)
    again, same = model.gradients(dy=dy, **inputs)
    np.testing.assert_array_equal(dx, again)
    assert list(gradients) == [*model.parameters, "memory"] == list(same)
    for name, gradient in gradients.items():
        np.testing.assert_array_equal(gradient, same[name])


BRANCHES = ["attention", "cross_attention", "feed_forward"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_way_back_computes_no_branch_anew(kind, monkeypatch):
    config = config_of({"cross_attention": True})
    _, backward = made(kind, config).vjp(**inputs_of(config))
    for name in BRANCHES:
        monkeypatch.delattr(f"transformer_block.in_numpy.{name}.{name}")
    backward(normal(4, B, T, D))


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_way_there_has_to_show_is_saved_for_the_caller_too(kind):
    config, saved = config_of({"cross_attention": True}), {}
    made(kind, config).vjp(**inputs_of(config), saved=saved)
    shown = saved if kind == "block" else saved["blocks.2"]
    assert list(shown) == BRANCHES
    assert shown["attention"]["weights"].shape == (B, config.n_heads, T, T)


@pytest.mark.parametrize("kind", KINDS)
def test_backward_is_linear_and_may_run_once_for_each_gradient(kind):
    config = config_of({"cross_attention": True})
    model, inputs = made(kind, config), inputs_of(config)
    _, backward = model.vjp(**inputs)
    one, other = normal(4, B, T, D), normal(5, B, T, D)
    (dx, gradients), (dx_2, gradients_2), (dx_3, gradients_3) = map(backward, (one, other, 2 * one - other))
    assert relative_error(dx_3, 2 * dx - dx_2) < 1e-12
    for name, gradient in gradients_3.items():
        assert relative_error(gradient, 2 * gradients[name] - gradients_2[name]) < 1e-10


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("causal", [False, True])
def test_a_query_that_sees_nothing_has_finite_gradients(causal, kind):
    model = made(kind, config_of({"causal": causal}))
    visible = padding_mask([0, 4], T)
    dx, gradients = model.gradients(normal(1, B, T, D), normal(2, B, T, D), visible)
    assert all(np.isfinite(gradient).all() for gradient in (dx, *gradients.values()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(T, D), (B, 0, D), (B, 1, D)])
def test_a_sequence_needs_no_batch_and_may_be_a_token_or_none(shape, kind):
    model = made(kind, config_of({"causal": True}))
    dx, gradients = model.gradients(normal(1, *shape), normal(2, *shape))
    assert dx.shape == shape
    assert {name: each.shape for name, each in gradients.items()} == {
        name: each.shape for name, each in model.parameters.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_was_given_is_changed(kind):
    config = config_of({"cross_attention": True, "residual_scaling": "rezero"})
    model, inputs, dy = made(kind, config), inputs_of(config), normal(4, B, T, D)
    for array in (*inputs.values(), *model.parameters.values(), dy):
        array.setflags(write=False)
    _, backward = model.vjp(**inputs)
    backward(dy)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_a_gradient_of_another_shape_or_dtype_is_refused(placement, kind):
    model = made(kind, config_of({"placement": placement}))
    _, backward = model.vjp(normal(1, B, T, D))
    with pytest.raises(ValueError, match=r"dy must have shape \(2, 5, 24\); got \(5, 24\)"):
        backward(normal(2, T, D))
    with pytest.raises(TypeError, match="dy is float32 but the parameters are float64"):
        backward(normal(2, B, T, D, dtype=np.float32))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
def test_a_stack_refuses_an_x_that_is_no_stream_before_it_adds_positions(positions):
    with pytest.raises(ValueError, match=r"x must have shape \(\.\.\., T, 24\); got \(24,\)"):
        made("stack", config_of({"positions": positions})).vjp(normal(1, D))


def test_no_gradients_flow_through_a_cache():
    x, config = normal(1, B, T, D), config_of({"causal": True})
    sentence = "no gradients flow through a cache: cache must be None"
    with pytest.raises(ValueError, match=sentence):
        made("block", config).vjp(x, cache=KVCache(T))
    with pytest.raises(ValueError, match=sentence):
        made("stack", config).vjp(x, caches=[KVCache(T) for _ in range(config.n_layers)])
