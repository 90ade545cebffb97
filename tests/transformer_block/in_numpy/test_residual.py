import numpy as np
import pytest

from tests.transformer_block.numerics import B, D, T, central_differences, normal, relative_error
from transformer_block.in_numpy.dropout import DropMask
from transformer_block.in_numpy.residual import residual, residual_backward

X, UPDATE, DY = normal(1, B, T, D), normal(2, B, T, D), normal(3, B, T, D)
KEEP = np.random.default_rng(4).random((B, T, D)) < 0.6
CHOICES = [
    {},
    {"weight": normal(5, 1)},
    {"weight": normal(5, D)},
    {"alpha": 1.7},
    {"drop": DropMask(KEEP, 0.4)},
    {"weight": normal(5, D), "alpha": 1.7, "drop": DropMask(KEEP, 0.4)},
    {"weight": normal(5, 1), "drop": DropMask(KEEP, 0.4)},
]


def test_it_adds_feature_by_feature():
    np.testing.assert_array_equal(
        residual(np.array([1.2, -0.4]), np.array([0.3, 0.5])), np.array([1.2 + 0.3, -0.4 + 0.5])
    )


def test_alpha_scales_the_stream_and_weight_the_update():
    weight = normal(5, D)
    np.testing.assert_allclose(
        residual(X, UPDATE, weight, 1.7), 1.7 * X + weight * UPDATE, rtol=1e-15, atol=1e-15
    )


def test_a_weight_of_one_entry_scales_all_features():
    np.testing.assert_array_equal(residual(X, UPDATE, np.array([0.5])), X + 0.5 * UPDATE)


def test_dropout_falls_on_the_update_alone_and_stretches_what_stays():
    y = residual(X, UPDATE, np.array([2.0]), 3.0, drop=DropMask(KEEP, 0.4))
    np.testing.assert_allclose(y, np.where(KEEP, 3 * X + 2 * UPDATE / 0.6, 3 * X), rtol=1e-14)


@pytest.mark.parametrize("choices", CHOICES, ids=lambda choices: " ".join(choices) or "plain")
def test_its_gradients_are_what_moving_its_arrays_does(choices):
    gradients = residual_backward(DY, X, UPDATE, **choices)
    arrays = {"x": X, "update": UPDATE, "weight": choices.get("weight")}
    for name, array in arrays.items():
        if array is None:
            assert getattr(gradients, name) is None
            continue

        def loss(value, name=name):
            given = {**choices, "x": X, "update": UPDATE, name: value}
            return (DY * residual(**given)).sum()

        assert relative_error(getattr(gradients, name), central_differences(loss, array)) < 1e-8, name


def test_a_plain_sum_hands_the_gradient_to_both_unchanged():
    gradients = residual_backward(DY, X, UPDATE)
    assert gradients.x is DY
    assert gradients.update is DY


@pytest.mark.parametrize("choices", CHOICES, ids=lambda choices: " ".join(choices) or "plain")
def test_float32_stays_float32(choices):
    x, update, dy = (array.astype(np.float32) for array in (X, UPDATE, DY))
    if "weight" in choices:
        choices = choices | {"weight": choices["weight"].astype(np.float32)}
    assert residual(x, update, **choices).dtype == np.float32
    gradients = residual_backward(dy, x, update, **choices)
    assert {each.dtype for each in gradients if each is not None} == {np.dtype(np.float32)}


@pytest.mark.parametrize("shape", [(0, D), (1, D), (D,)])
@pytest.mark.parametrize("entries", [1, D])
def test_no_tokens_and_one_token_are_streams_too(shape, entries):
    x, weight = normal(1, *shape), normal(2, entries)
    assert residual(x, x, weight).shape == shape
    gradients = residual_backward(x, x, x, weight)
    assert [each.shape for each in gradients] == [shape, shape, (entries,)]


@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"update must have shape \(2, 5, 12\); got \(5, 12\)"):
        residual(X, UPDATE[0])
    with pytest.raises(ValueError, match=r"weight must have shape \(1,\) or \(12,\); got \(5,\)"):
        residual(X, UPDATE, normal(5, T))
    with pytest.raises(ValueError, match=r"update must have shape \(2, 5, 12\); got \(5, 12\)"):
        residual_backward(DY, X, UPDATE[0])
    with pytest.raises(ValueError, match=r"weight must have shape \(1,\) or \(12,\); got \(5,\)"):
        residual_backward(DY, X, UPDATE, normal(5, T))
    with pytest.raises(ValueError, match=r"dy must have shape \(2, 5, 12\); got \(5, 12\)"):
        residual_backward(DY[0], X, UPDATE)
