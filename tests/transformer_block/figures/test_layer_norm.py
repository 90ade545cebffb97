"""What the layer-norm figures draw is what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Circle, Rectangle

from transformer_block.figures import layer_norm as figures
from transformer_block.figures.style import NORM, PAPER
from transformer_block.in_numpy.layer_norm import layer_norm

RNG = np.random.default_rng(11)


def markers(axes: Axes) -> np.ndarray:
    """The points of an axes' first marked line, as (x, y) rows."""
    line = next(line for line in axes.lines if line.get_marker() == "o")
    return np.stack(line.get_data(), axis=1)


def points_after(axes: Axes) -> np.ndarray:
    """The points of the last marked line: where tokens end."""
    line = next(line for line in reversed(axes.lines) if line.get_marker() == "o")
    return np.stack(line.get_data(), axis=1)


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_before_and_after_puts_each_feature_where_it_is() -> None:
    token, normalized = np.array([2.0, 4.0, 5.0, 9.0]), np.array([-1.177, -0.392, 0.0, 1.569])

    above, below = figures.before_and_after(token, normalized).axes

    np.testing.assert_array_equal(markers(above)[:, 0], token)
    np.testing.assert_array_equal(markers(below)[:, 0], normalized)
    assert texts(above) == ["2", "4", "5", "9"]
    assert texts(below) == ["−1.177", "−0.392", "0", "1.569"]


def test_what_is_left_draws_each_token_before_and_after() -> None:
    pairs, triples = RNG.normal(size=(7, 2)), RNG.normal(size=(9, 3))
    pairs_after, triples_after = layer_norm(pairs, eps=0.0), layer_norm(triples, eps=0.0)

    left, right = figures.what_is_left(pairs, triples, pairs_after, triples_after).axes

    np.testing.assert_array_equal(markers(left), pairs)
    np.testing.assert_array_equal(points_after(left), pairs_after)
    np.testing.assert_allclose(np.linalg.norm(points_after(right), axis=1), np.sqrt(3))
    circle = next(patch for patch in right.patches if isinstance(patch, Circle))
    assert circle.get_radius() == pytest.approx(np.sqrt(3))


def test_what_is_left_keeps_every_token_in_the_frame() -> None:
    pairs, triples = 9 * RNG.normal(size=(7, 2)), 5 * RNG.normal(size=(9, 3))

    drawing = figures.what_is_left(pairs, triples, layer_norm(pairs), layer_norm(triples))

    for axes in drawing.axes:
        assert np.abs(markers(axes)).max() < axes.get_xlim()[1]


def test_shared_statistics_marks_one_token_and_one_feature() -> None:
    above, below = figures.shared_statistics(batch=2, positions=3, features=4).axes

    def marked(axes: Axes) -> int:
        boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
        assert len(boxes) == 2 * 3 * 4
        return sum(box.get_facecolor() == to_rgba(NORM) for box in boxes)

    assert marked(above) == 4
    assert marked(below) == 2 * 3


def test_jacobian_writes_every_entry() -> None:
    derivative = RNG.normal(size=(4, 4))

    (axes,) = figures.jacobian(derivative).axes

    assert texts(axes) == [f"{value:.2f}".replace("-", "−") for value in derivative.ravel()]


def test_singular_values_tell_lost_directions_from_passing_ones() -> None:
    (axes,) = figures.singular_values({2: np.array([0.0, 0.0]), 3: np.array([1.0, 0.0, 0.0])}).axes

    assert texts(axes) == ["0.0", "0.0", "1.0", "0.0", "0.0"]
    faces = [line.get_markerfacecolor() for line in axes.lines]
    assert faces == [PAPER, PAPER, NORM, PAPER, PAPER]


def test_eps_curve_marks_half_at_the_root_of_eps() -> None:
    spread = np.logspace(-7, 0, 141)
    curves = {eps: spread**2 / (spread**2 + eps) for eps in (1e-12, 1e-6, 1e-5)}

    (axes,) = figures.eps_curve(spread, curves).axes

    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    bars = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "|"]
    np.testing.assert_allclose(dots, np.sqrt([1e-12, 1e-6, 1e-5]), rtol=0.02)
    np.testing.assert_allclose(bars, 10 * np.sqrt([1e-12, 1e-6, 1e-5]), rtol=0.02)
    assert texts(axes) == ["eps = 1e−12", "eps = 1e−6", "eps = 1e−5"]
