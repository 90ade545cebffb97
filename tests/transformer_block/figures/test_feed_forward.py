"""What the feed-forward figures draw is what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Polygon, Rectangle

from transformer_block.figures import feed_forward as figures
from transformer_block.in_numpy.activations import gelu, gelu_tanh, relu, silu
from transformer_block.in_numpy.feed_forward import feed_forward

RNG = np.random.default_rng(12)


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def bars(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_moved_rows_draws_each_distance_and_writes_an_exact_zero_as_such() -> None:
    quiet, moved = np.array([0.0, 0.0, 1.25, 0.0]), np.array([0.5, 0.125, 2.0, 0.25])

    left, right = figures.moved_rows(2, quiet, moved).axes

    assert [bar.get_width() for bar in bars(left)] == quiet.tolist()
    assert [bar.get_width() for bar in bars(right)] == moved.tolist()
    assert texts(left) == ["0", "0", "1.25", "0"]
    assert [label.get_text() for label in left.get_yticklabels()][2] == "t=2 changed"


def test_pieces_are_as_many_as_the_ways_that_neurons_stand() -> None:
    keys, biases = RNG.normal(size=(5, 2)), RNG.normal(size=5)
    points = RNG.uniform(-2, 2, size=(20_000, 2))
    ways = np.unique(points @ keys.T + biases > 0, axis=0)

    (axes,) = figures.pieces(keys, biases, furthest=2.0).axes

    named = {" ".join(str(f + 1) for f in np.flatnonzero(way)) or "none" for way in ways}
    assert named <= set(texts(axes))
    assert len(set(texts(axes))) == len(texts(axes))


def test_pieces_fill_the_square_without_a_gap() -> None:
    keys, biases = RNG.normal(size=(5, 2)), RNG.normal(size=5)

    (axes,) = figures.pieces(keys, biases, furthest=2.0).axes

    corners = [patch.get_xy()[:-1] for patch in axes.patches if isinstance(patch, Polygon) and patch.fill]
    areas = [abs(np.cross(c, np.roll(c, -1, axis=0), axis=-1).sum()) / 2 for c in map(_in_space, corners)]
    assert sum(areas) == pytest.approx(4.0**2)


def _in_space(corners: np.ndarray) -> np.ndarray:
    """Points of the plane with a third coordinate 0, as a cross product wants them."""
    return np.pad(corners, ((0, 0), (0, 1)))


def test_memories_writes_what_each_neuron_adds_and_the_output() -> None:
    x, w1, w2 = RNG.normal(size=3), RNG.normal(size=(4, 3)), RNG.normal(size=(3, 4))
    saved: dict[str, np.ndarray] = {}
    output = feed_forward(x, w1, None, w2, None, saved=saved)

    (axes,) = figures.memories(saved["inner"], w2).axes

    assert len(texts(axes)) == (4 + 1) * 3
    assert texts(axes)[-3:] == [f"{value:.2f}".replace("-", "−") for value in output]
    assert "−0.00" not in texts(axes)
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "sum"


def test_bends_draws_the_curves_above_and_the_gap_enlarged_below() -> None:
    u = np.linspace(-3, 3, 31)
    gap = gelu_tanh(u) - gelu(u)

    above, below = figures.bends(u, {"ReLU": relu(u), "GELU": gelu(u), "SiLU": silu(u)}, gap).axes

    for line, curve in zip(above.lines, (relu(u), gelu(u), silu(u)), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), curve)
    assert texts(above) == ["ReLU", "GELU", "SiLU"]
    np.testing.assert_allclose(below.lines[0].get_ydata(), 1e4 * gap)


def test_gates_draws_three_factors_told_apart_without_color() -> None:
    u = np.linspace(-3, 3, 31)
    curves = (1 / (1 + np.exp(-u)), silu(u), gelu(u))

    (axes,) = figures.gates(u, *curves).axes

    for line, curve in zip(axes.lines, curves, strict=False):
        np.testing.assert_array_equal(line.get_ydata(), curve)
    assert len({line.get_linestyle() for line in axes.lines[:3]}) == 3
    assert texts(axes) == ["σ: GLU", "SiLU: SwiGLU", "GELU: GEGLU"]


def test_growth_draws_lengths_on_logarithmic_axes() -> None:
    scales = np.logspace(-2, 2, 9)

    (axes,) = figures.growth(scales, {"one": 2 * scales, "two": scales**2}).axes

    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), 2 * scales)
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), scales**2)
    assert texts(axes) == ["one", "two"]


def test_parameter_shares_fill_each_bar_and_label_what_is_wide_enough() -> None:
    counts = {
        "first": {"feed-forward": 66, "attention": 33, "norms": 1},
        "second": {"feed-forward": 5, "embeddings": 15},
    }

    above, below = figures.parameter_shares(counts).axes

    assert sum(bar.get_width() for bar in bars(above)) == pytest.approx(100)
    assert texts(above) == ["feed-forward\n66.0 %", "attention\n33.0 %"]
    assert texts(below) == ["feed-forward\n25.0 %", "embeddings\n75.0 %"]
    assert [axes.get_title("left") for axes in (above, below)] == ["first", "second"]
