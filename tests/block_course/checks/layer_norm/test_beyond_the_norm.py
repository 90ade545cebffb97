"""Exercises around layer norm: gradient, test of norms and who hears whom agree with the package."""

import numpy as np
import pytest
import torch

from block_course.checks import exercise
from block_course.checks.layer_norm.backward_reference import backward
from block_course.checks.layer_norm.modes_reference import moved
from block_course.checks.layer_norm.norms import BENT, right_norms, wrong_norms
from transformer_block.in_numpy.layer_norm import layer_norm, layer_norm_backward

B, T, D = 2, 3, 9


def cases(id):
    return exercise(id).cases(np.random.default_rng(0))


def drawn(seed=0):
    return np.random.default_rng(seed).normal(1.0, 1.5, (B, T, D))


def test_the_gradients_are_the_packages() -> None:
    for case in cases("layer_norm.backward"):
        dy, x, gamma = (case.arguments[name].astype(np.float64) for name in ("dy", "x", "gamma"))
        eps = case.arguments.get("eps", 1e-5)

        for mine, right in zip(
            backward(dy, x, gamma, eps), layer_norm_backward(dy, x, gamma, eps), strict=True
        ):
            np.testing.assert_allclose(mine, right, atol=1e-12)


@pytest.mark.parametrize("name", right_norms())
def test_a_right_norm_is_layer_norm(name) -> None:
    np.testing.assert_allclose(right_norms()[name](drawn()), layer_norm(drawn()), atol=1e-4)


@pytest.mark.parametrize("name", wrong_norms())
def test_a_wrong_norm_is_not(name) -> None:
    assert np.abs(wrong_norms()[name](drawn()) - layer_norm(drawn())).max() > 1e-3


def test_a_norm_behind_a_bend_keeps_two_promises_of_three() -> None:
    y, shifted = (wrong_norms()[BENT](x) for x in (drawn(), drawn() + 1.0))

    np.testing.assert_allclose(y.mean(axis=-1), 0, atol=1e-9)
    np.testing.assert_allclose(y.var(axis=-1), 1, atol=1e-6)
    assert np.abs(shifted - y).max() > 0.1


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("norm", ["layer", "batch", "sequence"])
def test_tokens_hear_a_change_where_a_norm_that_runs_says_so(norm, training) -> None:
    x, b, t = drawn(), 1, 2
    changed = x.copy()
    changed[b, t] = drawn(1)[0, 0]
    shapes = {"layer": D, "sequence": (T, D)}
    module = torch.nn.BatchNorm1d(D) if norm == "batch" else torch.nn.LayerNorm(shapes[norm])
    module = module.double().train(training)

    def run(tokens):
        given = torch.from_numpy(tokens)
        return (module(given.mT).mT if norm == "batch" else module(given)).detach().numpy()

    heard = np.abs(run(changed) - run(x)).max(axis=-1) > 1e-9

    np.testing.assert_array_equal(moved(norm, training, B, T, b, t), heard)
