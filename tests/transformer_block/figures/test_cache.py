"""What the figures on the cache draw is what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from transformer_block.figures import cache as figures
from transformer_block.figures.style import STREAM

RNG = np.random.default_rng(16)


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def boxes(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_work_fills_a_triangle_without_a_cache_and_its_diagonal_with_one() -> None:
    without, with_one = figures.work(5).axes

    for axes, filled in ((without, 15), (with_one, 5)):
        marks = [box.get_facecolor() == to_rgba(STREAM) for box in boxes(axes)]
        assert len(marks) == 15
        assert sum(marks) == filled
        assert texts(axes) == ["1", "2", "3", "4", "5"]
    assert without.get_title() == "without: 15 tokens run"
    assert with_one.get_title() == "with a cache: 5 tokens run"
    diagonal = [box.get_xy() for box in boxes(with_one) if box.get_facecolor() == to_rgba(STREAM)]
    assert diagonal == [(step, -step) for step in range(5)]


def test_errors_draws_a_bar_for_each_position_and_a_line_for_each_chunk() -> None:
    by_position = {"one": RNG.uniform(0, 3, 9), "other": RNG.uniform(2, 4, 9)}

    drawing = figures.errors(by_position, [4, 2, 3])

    for axes, (name, each) in zip(drawing.axes, by_position.items(), strict=True):
        assert axes.get_title(loc="left") == name
        assert [box.get_height() for box in boxes(axes)] == pytest.approx([*each])
        assert [line.get_xdata()[0] for line in axes.lines] == [3.5, 5.5]
        assert axes.get_ylim() == drawing.axes[0].get_ylim()
    assert drawing.axes[0].get_ylim()[1] > max(each.max() for each in by_position.values())


def test_caught_says_of_every_test_whether_it_finds_every_bug() -> None:
    found = {"bug": {"a": True, "b": False, "c": False}, "other": {"a": False, "b": True, "c": True}}

    (axes,) = figures.caught(found).axes

    assert texts(axes) == ["found", "passes", "passes", "passes", "found", "found"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["bug", "other"]
    places = [text.get_position() for text in axes.texts]
    assert places == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]


def test_time_per_token_draws_both_curves_and_names_their_ends() -> None:
    held, step, again = [64, 256, 2048], np.array([1.0, 1.1, 1.25]), np.array([4.0, 16.0, 250.0])

    (axes,) = figures.time_per_token(held, step, again).axes

    drawn = [np.stack(line.get_data()) for line in axes.lines]
    np.testing.assert_array_equal(drawn[0], [held, again])
    np.testing.assert_array_equal(drawn[1], [held, step])
    assert texts(axes) == ["without: all tokens again", "250", "with a cache: one step", "1.25"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["64", "256", "2,048"]
