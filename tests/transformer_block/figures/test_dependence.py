"""What the dependence tables draw is what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes

from transformer_block.figures.dependence import tables

T, S = 3, 5
HEARD = np.tri(T, S, 1, dtype=bool)
MEANT = np.tri(T, S, 0, dtype=bool)
MEANT[2, 4] = True


def cells(axes: Axes, kind: str) -> set[tuple[int, int]]:
    """The (row, column) places that bear the mark of a kind."""
    line = next(line for line in axes.lines if line.get_label() == kind)
    return {(int(row), int(column)) for column, row in zip(*line.get_data(), strict=True)}


def places(table: np.ndarray) -> set[tuple[int, int]]:
    return {(int(row), int(column)) for row, column in np.argwhere(table)}


def test_a_table_marks_what_is_heard_and_what_is_not():
    (axes,) = tables({"encoder": HEARD}, columns=1).axes

    assert axes.get_title(loc="left") == "encoder"
    assert cells(axes, "heard") == places(HEARD)
    assert cells(axes, "silent") == places(~HEARD)
    assert cells(axes, "leak") == cells(axes, "deaf") == set()


def test_what_is_heard_against_the_meaning_has_marks_of_its_own():
    axes, other = tables({"encoder": HEARD, "other": HEARD}, {"encoder": MEANT}).axes

    assert cells(axes, "heard") == places(HEARD & MEANT)
    assert cells(axes, "leak") == places(HEARD & ~MEANT) == {(0, 1), (1, 2), (2, 3)}
    assert cells(axes, "deaf") == places(~HEARD & MEANT) == {(2, 4)}
    assert cells(other, "leak") == set()


def test_the_kinds_differ_in_shape_and_not_in_color_alone():
    axes, _ = tables({"encoder": HEARD, "other": HEARD}, {"encoder": MEANT}).axes

    looks = {(line.get_marker(), line.get_fillstyle(), line.get_mfc() == "none") for line in axes.lines}

    assert len(looks) == 4


def test_rows_run_down_and_all_cells_lie_within_the_frame():
    (axes,) = tables({"encoder": HEARD}, columns=1).axes

    bottom, top = axes.get_ylim()
    left, right = axes.get_xlim()
    assert top < 0 < T - 1 < bottom
    assert left < 0 < S - 1 < right


def test_axes_are_named_at_the_edges_only():
    panels = tables(dict.fromkeys("abcd", HEARD), rows_are="query", columns_are="key").axes

    assert [axes.get_ylabel() for axes in panels] == ["query", "", "query", ""]
    assert [axes.get_xlabel() for axes in panels] == ["", "", "key", "key"]


def test_places_without_a_table_are_left_empty():
    assert len(tables(dict.fromkeys("abc", HEARD), columns=2).axes) == 3


def test_a_split_is_drawn_behind_so_many_rows_and_columns():
    (axes,) = tables({"joined": np.eye(S, dtype=bool)}, columns=1, split=2).axes

    *_, across, down = axes.lines
    assert set(across.get_ydata()) == {1.5}
    assert set(down.get_xdata()) == {1.5}


@pytest.mark.parametrize(("names", "first"), [(None, "0"), (["the", "cat", "sat", "so", "still"], "the")])
def test_positions_bear_their_names_or_numbers(names, first):
    (axes,) = tables({"encoder": HEARD}, columns=1, names=names).axes

    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert len(labels) == S
    assert labels[0] == first
    assert [label.get_text() for label in axes.get_yticklabels()] == labels[:T]
