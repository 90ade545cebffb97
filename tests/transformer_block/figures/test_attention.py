"""What the attention figures draw is what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh

from transformer_block.figures import attention as figures
from transformer_block.figures.style import INK
from transformer_block.in_numpy.scaled_dot_product import softmax

RNG = np.random.default_rng(13)


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def points(axes: Axes, mark: str) -> np.ndarray:
    """The points of an axes' first line with this mark, as (x, y) rows."""
    line = next(line for line in axes.lines if line.get_marker() == mark)
    return np.stack(line.get_data(), axis=1)


def test_hull_draws_values_and_what_was_gathered() -> None:
    values = RNG.normal(size=(3, 2))
    gathered = softmax(RNG.normal(size=(5, 3))) @ values

    (axes,) = figures.hull(values, gathered).axes

    np.testing.assert_array_equal(points(axes, "s"), values)
    np.testing.assert_array_equal(points(axes, "o"), gathered)
    assert {"value 0", "value 1", "value 2"} < set(texts(axes))


def test_hull_keeps_every_corner_in_the_frame() -> None:
    values = np.array([[-7.0, 2.0], [11.0, 3.0], [0.0, 19.0]])

    (axes,) = figures.hull(values, values.mean(axis=0, keepdims=True)).axes

    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert left < -7.0 < 11.0 < right
    assert bottom < 2.0 < 19.0 < top


def test_patterns_color_and_write_each_weight() -> None:
    weights = {"first": softmax(RNG.normal(size=(3, 4))), "second": softmax(RNG.normal(size=(3, 4)))}

    panels = figures.patterns(weights).axes

    for axes, (name, each) in zip(panels, weights.items(), strict=True):
        mesh = next(child for child in axes.get_children() if isinstance(child, QuadMesh))
        np.testing.assert_array_equal(mesh.get_array(), each)
        assert texts(axes) == [f"{weight:.2f}".removeprefix("0") for weight in each.ravel()]
        assert axes.get_title("left") == name


def test_patterns_name_queries_and_keys_by_their_words() -> None:
    (axes,) = figures.patterns({"all": np.eye(3)}, ["a", "b", "c"], decimals=1).axes

    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]
    assert texts(axes) == ["1.0", ".0", ".0", ".0", "1.0", ".0", ".0", ".0", "1.0"]


def test_patterns_write_dark_on_light_and_light_on_dark() -> None:
    (axes,) = figures.patterns({"all": np.array([[0.9, 0.1], [0.25, 0.75]])}).axes

    assert [text.get_color() for text in axes.texts] == ["white", INK, INK, INK]


def test_sharpness_draws_both_entropies_and_the_most_there_can_be() -> None:
    widths, raw, scaled = np.array([4, 16, 64]), np.array([2.0, 1.5, 0.5]), np.array([3.0, 2.75, 2.5])

    (axes,) = figures.sharpness(widths, raw, scaled, most=4.0).axes

    drawn = {tuple(line.get_ydata()) for line in axes.lines}
    assert {tuple(raw), tuple(scaled), (4.0, 4.0)} == drawn
    assert texts(axes) == ["all keys alike: 4 bits", "q · k / √K", "q · k"]
    assert len({line.get_linestyle() for line in axes.lines}) == 3


def test_distances_puts_each_score_at_how_far_back_its_key_stands() -> None:
    scores = {"one": RNG.normal(size=(10, 10)), "other": RNG.normal(size=(10, 10))}

    panels = figures.distances(scores).axes

    for axes, (name, each) in zip(panels, scores.items(), strict=True):
        for line, t in zip(axes.lines, (3, 6, 9), strict=True):
            np.testing.assert_array_equal(line.get_xdata(), t - np.arange(t + 1))
            np.testing.assert_array_equal(line.get_ydata(), each[t, : t + 1])
            assert line.get_label() == f"query at {t}"
        assert len({line.get_marker() for line in axes.lines}) == 3
        assert axes.get_title("left") == name


def test_alike_draws_both_shares_on_a_logarithmic_axis() -> None:
    alone, with_skip = np.array([0.9, 0.1, 0.0001]), np.array([0.9, 0.8, 0.7])

    (axes,) = figures.alike(alone, with_skip).axes

    assert axes.get_yscale() == "log"
    np.testing.assert_array_equal(points(axes, "o"), np.stack([range(3), with_skip], axis=1))
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), alone)
    assert texts(axes) == ["x + attention", "attention alone"]


@pytest.mark.parametrize("decimals", [1, 2])
def test_a_weight_that_rounds_to_one_keeps_its_one(decimals: int) -> None:
    (axes,) = figures.patterns({"all": np.array([[0.999]])}, decimals=decimals).axes

    assert texts(axes) == [f"{1:.{decimals}f}"]
