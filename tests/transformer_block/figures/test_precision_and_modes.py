"""What the figures on number formats and modes draw is what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from transformer_block.figures import precision_and_modes as figures
from transformer_block.figures.precision_and_modes import Suspect
from transformer_block.figures.style import STREAM

RNG = np.random.default_rng(17)


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def boxes(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def start(line: Line2D) -> float:
    return float(np.asarray(line.get_xdata())[0])


def labels(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def test_grids_marks_each_number_and_fills_a_band_where_there_are_too_many() -> None:
    many, few = np.linspace(8.0, 20.0, 301), np.array([8.0, 10.0, 16.0])

    (axes,) = figures.grids({"fine": many, "coarse": few}, turn=16.0).axes

    (band,) = boxes(axes)
    assert (band.get_x(), band.get_width(), band.get_y()) == (8.0, 12.0, -0.28)
    (marks,) = [each for each in axes.collections if isinstance(each, LineCollection)]
    places = [(segment[0, 0], segment[:, 1].mean()) for segment in marks.get_segments()]
    assert places == [(8.0, 1.0), (10.0, 1.0), (16.0, 1.0)]
    assert labels(axes) == ["fine", "coarse"]
    assert [start(line) for line in axes.lines] == [16.0]


def test_digits_by_depth_draws_a_line_for_each_format_from_the_stored_tokens_on() -> None:
    kept = {"one": RNG.uniform(6, 8, 8), "two": RNG.uniform(2, 4, 8)}

    (axes,) = figures.digits_by_depth(kept).axes

    for line, each in zip(axes.lines, kept.values(), strict=True):
        np.testing.assert_array_equal(np.stack(line.get_data()), [np.arange(8), each])
    assert len({line.get_marker() for line in axes.lines}) == 2
    assert texts(axes) == ["one", "two"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["stored", "3", "6"]
    assert axes.get_ylim() == pytest.approx((0.0, 1.15 * kept["one"].max()))


def test_variance_errors_draws_both_ways_and_what_storing_has_done_dotted() -> None:
    ratio = np.array([1.0, 10.0, 100.0, 1000.0])
    errors = {"worse": RNG.uniform(0.1, 9, 4), "better": RNG.uniform(1e-7, 1e-6, 4)}
    stored = RNG.uniform(1e-6, 1e-5, 4)

    (axes,) = figures.variance_errors(ratio, errors, stored).axes

    *curves, whole = axes.lines
    drawn = [np.stack(line.get_data()) for line in curves]
    np.testing.assert_array_equal(drawn, [[ratio, each] for each in (*errors.values(), stored)])
    assert [line.get_linestyle() for line in curves] == ["-", "-", ":"]
    assert np.array_equal(whole.get_ydata(), [1.0, 1.0])
    assert texts(axes) == ["worse", "better", "storing the token", "as large as the variance"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_positions_says_number_zero_or_nan_and_frames_padding_dotted() -> None:
    numbers = np.array([[1.5, -2.0, 0.5], [0.7, 3.0, 1.1]])
    mixed = np.array([[1.5, -2.0, 0.0], [np.nan, 0.0, np.nan]])

    drawing = figures.positions({"a": numbers, "b": mixed}, np.array([2, 0]))

    first, second = drawing.axes
    assert texts(first) == ["number"] * 6
    assert texts(second) == ["number", "number", "0", "NaN", "0", "NaN"]
    for axes, name in ((first, "a"), (second, "b")):
        assert axes.get_title(loc="left") == name
        assert labels(axes) == ["2 tokens", "0 tokens"]
        dotted = [box.get_linestyle() in (":", "dotted") for box in boxes(axes)]
        assert dotted == [False, False, True, True, True, True]
    filled = [box.get_facecolor() == to_rgba(STREAM) for box in boxes(first)]
    assert filled == [True, True, False, False, False, False]


def test_ruler_sorts_its_suspects_and_gives_each_kind_a_mark_of_its_own() -> None:
    suspects = {
        "least": Suspect(0.34, "mode"),
        "most": Suspect(6.81, "format"),
        "middle": Suspect(3.62, "rule"),
        "next": Suspect(2.0, "format"),
    }

    (axes,) = figures.ruler(suspects).axes

    assert labels(axes) == ["most", "middle", "next", "least"]
    rows, key = axes.lines[:4], axes.lines[4:]
    assert [start(line) for line in rows] == [6.81, 3.62, 2.0, 0.34]
    assert texts(axes) == ["6.8", "3.6", "2.0", "0.3", "mode", "format", "rule"]
    mark = dict(zip(texts(axes)[4:], (line.get_marker() for line in key), strict=True))
    assert len(set(mark.values())) == 3
    kinds = ("format", "rule", "format", "mode")
    assert [line.get_marker() for line in rows] == [mark[kind] for kind in kinds]
