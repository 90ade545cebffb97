import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.transformer_block.numerics import B, F, H, T, normal, relative_error
from tests.transformer_block.parts import (
    D,
    by_autograd,
    feed_forward_arrays,
    gate_arrays,
    largest_gap_in_slope,
    some_kept,
    tensors,
)
from transformer_block.config import CHOICES
from transformer_block.in_numpy.dropout import DropMask
from transformer_block.in_numpy.feed_forward import feed_forward, feed_forward_backward

THEIRS = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
    "swiglu": functional.silu,
    "geglu": functional.gelu,
}
GATED = ["swiglu", "geglu"]


def arrays_of(activation, *, bias=True):
    return feed_forward_arrays(bias=bias) | (gate_arrays(bias=bias) if activation in GATED else {})


def by_the_formula(activation, drop=None):
    def part(x, w1, b1, w2, b2, gate=None, gate_bias=None):
        bend, up = THEIRS[activation], functional.linear(x, w1, b1)
        inner = bend(up) if gate is None else bend(functional.linear(x, gate, gate_bias)) * up
        if drop is not None:
            inner = inner * torch.tensor(drop.keep) / (1 - drop.rate)
        return functional.linear(inner, w2, b2)

    return part


def test_every_activation_of_the_config_is_tested():
    assert list(THEIRS) == list(CHOICES["activation"])


@pytest.mark.parametrize("activation", THEIRS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(D,), (T, D), (B, H, T, D)])
def test_it_is_two_linear_maps_with_a_bend_between(shape, bias, activation):
    arrays = arrays_of(activation, bias=bias) | {"x": normal(1, *shape)}
    expected = by_the_formula(activation)(**tensors(arrays))
    np.testing.assert_allclose(feed_forward(**arrays, activation=activation), expected, atol=1e-11)


def test_the_bend_is_a_relu_unless_asked():
    arrays, dy = feed_forward_arrays(), normal(8, B, T, D)
    np.testing.assert_array_equal(feed_forward(**arrays), feed_forward(**arrays, activation="relu"))
    np.testing.assert_array_equal(
        feed_forward_backward(dy, **arrays).w1, feed_forward_backward(dy, **arrays, activation="relu").w1
    )


def test_a_gate_of_one_token_by_hand():
    # up = (2, 3); the gate's logits are ln 3 and 0, so that σ opens it to 3/4 and to 1/2
    x, one = np.array([1.0]), np.ones((1, 2))
    y = feed_forward(
        x, np.array([[2.0], [3.0]]), None, one, None, "swiglu", gate=np.array([[np.log(3.0)], [0.0]])
    )
    np.testing.assert_allclose(y, [2 * 0.75 * np.log(3)])


@pytest.mark.parametrize("activation", THEIRS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_the_gradients_are_those_of_autograd(activation, bias, rate):
    arrays, dy = arrays_of(activation, bias=bias), normal(8, B, T, D)
    drop = DropMask(some_kept(9, B, T, F), rate) if rate else None
    y, expected = by_autograd(by_the_formula(activation, drop), arrays, dy)
    choices = {"activation": activation, "drop": drop}
    assert relative_error(feed_forward(**arrays, **choices), y) < 1e-12
    gradients = feed_forward_backward(dy, **arrays, **choices)._asdict()
    for name, gradient in gradients.items():
        reference = expected.get(name)
        assert (gradient is None) == (reference is None), name
        if reference is not None:
            assert relative_error(gradient, reference) < 1e-12, name


@pytest.mark.parametrize("name", [*feed_forward_arrays(), *gate_arrays()])
def test_each_gradient_is_that_of_central_differences(name):
    arrays, dy = arrays_of("geglu"), normal(8, B, T, D)
    gradients = feed_forward_backward(dy, **arrays, activation="geglu")

    def loss(moved):
        return np.sum(dy * feed_forward(**(arrays | {name: moved}), activation="geglu"))

    assert largest_gap_in_slope(loss, arrays[name], getattr(gradients, name)) < 1e-6


@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_what_the_forward_pass_saved_gives_the_same_gradients_and_is_left_alone(activation, monkeypatch):
    arrays, dy, saved = arrays_of(activation), normal(8, B, T, D), {}
    y = feed_forward(**arrays, activation=activation, saved=saved)
    np.testing.assert_allclose(saved["inner"] @ arrays["w2"].T + arrays["b2"], y, atol=1e-12)
    for each in (*arrays.values(), dy, *saved.values()):
        if each is not None:
            each.setflags(write=False)
    again = feed_forward_backward(dy, **arrays, activation=activation)
    # so that nothing can be computed anew
    monkeypatch.delattr("transformer_block.in_numpy.feed_forward.feed_forward")
    kept = feed_forward_backward(dy, **arrays, activation=activation, saved=saved)
    for name in arrays:
        np.testing.assert_array_equal(getattr(kept, name), getattr(again, name))
    assert set(saved) == {"up", "opened", "inner"}


def test_a_change_of_one_token_reaches_no_other():
    arrays = feed_forward_arrays()
    changed = arrays["x"].copy()
    changed[1, 2] = normal(6, D)
    moved = np.abs(feed_forward(**arrays) - feed_forward(**(arrays | {"x": changed}))).max(axis=-1) > 1e-9
    assert np.argwhere(moved).tolist() == [[1, 2]]


def test_a_batch_without_tokens_moves_no_parameter():
    arrays = arrays_of("swiglu") | {"x": np.empty((B, 0, D))}
    assert feed_forward(**arrays, activation="swiglu").shape == (B, 0, D)
    gradients = feed_forward_backward(np.empty((B, 0, D)), **arrays, activation="swiglu")
    assert gradients.x.shape == (B, 0, D)
    assert all((each == 0).all() for each in gradients[1:])


@pytest.mark.parametrize("activation", THEIRS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_dtype_is_kept_and_nan_stays_in_its_token(dtype, activation):
    arrays = {name: array.astype(dtype) for name, array in arrays_of(activation).items()}
    gradients = feed_forward_backward(arrays["x"], **arrays, activation=activation)
    assert {each.dtype for each in gradients if each is not None} == {np.dtype(dtype)}
    arrays["x"][1, 2, 3] = np.nan
    y = feed_forward(**arrays, activation=activation)
    assert y.dtype == dtype
    assert np.argwhere(np.isnan(y).all(axis=-1)).tolist() == [[1, 2]]
    assert np.isnan(y).sum() == D


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ({"x": np.ones((T, D), int)}, TypeError, "feed_forward needs a floating dtype; got int64"),
        ({"w1": np.ones((F, D + 1))}, ValueError, "w1 must have shape (7, 24); got (7, 25)"),
        ({"b1": np.ones(D)}, ValueError, "b1 must have shape (7,); got (24,)"),
        ({"w2": np.ones((F, D))}, ValueError, "w2 must have shape (24, 7); got (7, 24)"),
        ({"b2": np.ones(F)}, ValueError, "b2 must have shape (24,); got (7,)"),
        (
            {"activation": "swish"},
            ValueError,
            "activation must be one of relu, gelu, gelu_tanh, silu, swiglu, geglu; got 'swish'",
        ),
        ({"activation": "swiglu"}, ValueError, "swiglu needs a gate; got None"),
        ({"gate": np.ones((F, D))}, ValueError, "relu has no gate: gate and gate_bias must be None"),
        ({"gate_bias": np.ones(F)}, ValueError, "relu has no gate: gate and gate_bias must be None"),
        (
            {"activation": "geglu", "gate": np.ones((D, F))},
            ValueError,
            "gate must have shape (7, 24); got (24, 7)",
        ),
        (
            {"activation": "geglu", "gate": np.ones((F, D)), "gate_bias": np.ones(D)},
            ValueError,
            "gate_bias must have shape (7,); got (24,)",
        ),
        (
            {"drop": DropMask(np.ones((B, T, D), bool), 0.1)},
            ValueError,
            "keep must have shape (2, 5, 7); got (2, 5, 24)",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name_forward_and_backward(wrong, error, sentence):
    given = feed_forward_arrays() | wrong
    with pytest.raises(error) as refusal:
        feed_forward(**given)
    assert str(refusal.value) == sentence
    with pytest.raises(error) as refusal:
        feed_forward_backward(np.ones((B, T, D)), **given)
    assert str(refusal.value) == sentence


@pytest.mark.usefixtures("unchecked")
def test_the_gradient_that_arrives_has_the_shape_of_the_tokens():
    with pytest.raises(ValueError, match=r"dy must have shape \(2, 5, 24\); got \(5, 24\)"):
        feed_forward_backward(np.ones((T, D)), **feed_forward_arrays())
