"""The exercises on residuals: what counts as right agrees with the package's own parts."""

import numpy as np

from block_course.check import attempt, open_cases
from block_course.checks import exercise
from block_course.checks.residual.add import APART, FITTING, STRETCHED
from block_course.checks.residual.right import add, gradient, jacobian, paths
from block_course.verdict import judge
from transformer_block.config import BlockConfig
from transformer_block.graph import graph
from transformer_block.graph import paths as ways
from transformer_block.in_numpy.feed_forward import feed_forward, feed_forward_backward
from transformer_block.in_numpy.residual import residual

rng = np.random.default_rng(0)


def cases(id):
    return exercise(id).cases(np.random.default_rng(0))


def judged(id, answer):
    found = exercise(id)
    return judge(found, attempt(found, answer, open_cases(found)))


def test_an_update_fits_where_the_packages_residual_takes_it() -> None:
    for case in cases("residual.add"):
        x, update = (case.arguments[name] for name in ("x", "update"))
        fits, out = add(x, update)

        assert fits == (case.name in FITTING)
        assert (case.name in (*STRETCHED, *APART)) is not bool(fits)
        if fits:
            np.testing.assert_allclose(out, residual(x, update), rtol=1e-6)


def test_numpy_stretches_the_updates_that_are_said_to_be_stretched() -> None:
    for case in cases("residual.add"):
        if case.name in STRETCHED:
            assert (case.arguments["x"] + case.arguments["update"]).shape == case.arguments["x"].shape


def test_the_jacobian_of_a_layer_is_what_the_packages_backward_says() -> None:
    for case in cases("residual.jacobian"):
        x, w1, b1, w2 = (each.astype(np.float64) for each in case.arguments.values())
        rows = feed_forward_backward(np.eye(len(x)), np.tile(x, (len(x), 1)), w1, b1, w2, 0 * x).x

        np.testing.assert_allclose(jacobian(x, w1, b1, w2), np.eye(len(x)) + rows, atol=1e-12)


def test_the_gradient_with_skips_is_that_of_a_stack_that_runs() -> None:
    layers = [[rng.normal(size=shape) / 2 for shape in ((7, 5), (7,), (5, 7), (5,))] for _ in range(3)]
    x, dy = rng.normal(size=(2, 5))
    jacobians, stream = [], x
    for w1, b1, w2, b2 in layers:
        jacobians.append(jacobian(stream, w1, b1, w2) - np.eye(5))
        stream = stream + feed_forward(stream, w1, b1, w2, b2)

    def loss(x):
        for layer in layers:
            x = x + feed_forward(x, *layer)
        return dy @ x

    step = 1e-6
    moved = [(loss(x + step * axis) - loss(x - step * axis)) / (2 * step) for axis in np.eye(5)]
    np.testing.assert_allclose(gradient(dy, np.array(jacobians))[1], moved, rtol=1e-6, atol=1e-7)


def test_a_block_has_as_many_ways_as_two_residual_layers() -> None:
    drawn = graph(BlockConfig(d_model=4, n_heads=2, d_ff=8))

    assert len(list(ways(drawn))) == paths(2, 1, 1)["paths"]


def test_an_answer_by_the_packages_residual_is_forbidden() -> None:
    def answer(x, update):
        return x.shape == update.shape, residual(x, update) if x.shape == update.shape else x

    assert judged("residual.add", answer).status == "forbidden"
