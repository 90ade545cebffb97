"""What the figures of masks draw is what they were given."""

import numpy as np
from matplotlib.colors import to_hex

from tests.transformer_block.figures.test_dependence import cells, places
from transformer_block.figures import masks as figures
from transformer_block.figures.style import NORM, STREAM
from transformer_block.in_numpy.masks import causal_mask

MEANT = {"causal": causal_mask(4), "window": causal_mask(4, window=2)}


def test_leaks_has_a_row_for_each_mistake_and_a_column_for_each_mask():
    heard = {"right": MEANT, "inverted": {name: ~mask for name, mask in MEANT.items()}}

    panels = figures.leaks(heard, MEANT).axes

    assert [axes.get_title() for axes in panels] == ["causal", "window", "", ""]
    assert [axes.get_ylabel() for axes in panels] == ["right", "", "inverted", ""]
    for axes, mask in zip(panels[:2], MEANT.values(), strict=True):
        assert cells(axes, "heard") == places(mask)
        assert "silent" not in {line.get_label() for line in axes.lines}
    for axes, mask in zip(panels[2:], MEANT.values(), strict=True):
        assert cells(axes, "leak") == places(~mask)
        assert cells(axes, "deaf") == places(mask)


def test_leaks_says_what_its_marks_mean():
    drawing = figures.leaks({"right": MEANT}, MEANT)

    key = drawing.get_supxlabel()
    assert all(mark in key for mark in ("■ heard", "✕ a leak", "□ meant", "empty: hidden"))


def test_leak_sizes_prints_each_number_in_its_cell():
    moved = {"after": np.arange(12).reshape(3, 4) / 8, "filled": np.full((3, 4), 0.5)}

    after, filled = figures.leak_sizes(moved).axes

    assert [text.get_text() for text in after.texts] == [f"{k / 8:.2f}" for k in range(12)]
    assert after.texts[6].get_position() == (2.5, 1.5)
    assert {text.get_text() for text in filled.texts} == {"0.50"}
    assert after.get_title(loc="left") == "after"


def test_leak_sizes_draws_the_edge_between_past_and_future():
    (axes,) = figures.leak_sizes({"after": np.ones((3, 3))}).axes

    (edge,) = axes.lines
    assert edge.get_drawstyle() == "steps-pre"
    np.testing.assert_array_equal(edge.get_xydata()[:3], [[1, 0], [2, 1], [3, 2]])


def test_shift_draws_rounding_as_none_and_the_rest_where_it_is():
    (axes,) = figures.shift({"pre": (1e-15, 1.25), "post": (3.5, 0.75)}).axes

    marks = [line for line in axes.lines if line.get_marker() in "Do"]
    assert [(float(line.get_xdata()[0]), line.get_ydata()[0]) for line in marks] == [
        (0, 0),
        (1.25, 0),
        (3.5, 1),
        (0.75, 1),
    ]
    assert [text.get_text() for text in axes.texts] == [
        "+100: none",
        "random: 1.2",
        "+100: 3.5",
        "random: 0.8",
    ]
    assert [to_hex(line.get_color()) for line in marks[:2]] == [STREAM, NORM]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["pre", "post"]
    left, right = axes.get_xlim()
    assert left < 0 < 3.5 < right
