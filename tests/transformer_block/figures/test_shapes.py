"""The figures of shapes draw as many cells as the shapes have numbers."""

from collections import Counter

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from transformer_block.figures import shapes as figures
from transformer_block.figures.style import ATTENTION, FEED_FORWARD, INK, STREAM


def cells(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def colors(axes: Axes) -> Counter[str]:
    return Counter(to_hex(cell.get_facecolor()) for cell in cells(axes))


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_a_tensor_has_a_table_for_each_item_and_its_sizes_beside_it() -> None:
    (axes,) = figures.tensor(batch=3, positions=4, features=5).axes

    places = {(cell.get_x(), cell.get_y()) for cell in cells(axes)}
    assert len(places) == 3 * 4 * 5
    assert {"B = 3\nitems", "T = 4", "D = 5 features"} <= set(texts(axes))
    assert {"item 0", "item 1", "item 2", "t=0", "t=3"} <= set(texts(axes))


def test_a_token_is_one_row_and_a_number_is_one_cell() -> None:
    (axes,) = figures.tensor(batch=2, positions=4, features=5).axes

    token = [cell for cell in cells(axes) if to_hex(cell.get_facecolor()) == STREAM]
    assert len(token) == 5
    assert len({cell.get_y() for cell in token}) == 1
    assert colors(axes)[INK] == 1
    assert {"a token", "a number"} <= set(texts(axes))


def test_the_running_tensor_is_drawn_to_scale_for_one_item() -> None:
    steps = {"x": (2, 4, 6), "weights": (2, 3, 4, 5), "inner": (2, 4, 11)}

    (axes,) = figures.running_tensor(steps).axes

    drawn = colors(axes)
    assert drawn[STREAM] == 4 * 6
    assert drawn[ATTENTION] == 3 * 4 * 5
    assert drawn[FEED_FORWARD] == 4 * 11
    assert texts(axes) == ["x  (2, 4, 6)", "weights  (2, 3, 4, 5)", "inner  (2, 4, 11)"]


def test_heads_and_steps_never_overlap_in_the_running_tensor() -> None:
    (axes,) = figures.running_tensor({"queries": (2, 3, 4, 5), "inner": (2, 4, 11)}).axes

    corners = [(cell.get_x(), cell.get_y()) for cell in cells(axes)]
    assert len(set(corners)) == len(corners) == 3 * 4 * 5 + 4 * 11


def test_widths_are_drawn_as_given_with_the_last_one_in_words() -> None:
    added, appended = np.full(4, 7), 7 * 4 ** np.arange(4)

    (axes,) = figures.concatenated(added, appended).axes

    first, second = axes.lines
    np.testing.assert_array_equal(first.get_ydata(), added)
    np.testing.assert_array_equal(second.get_ydata(), appended)
    assert texts(axes) == ["added: 7 features", "appended: 448 features"]


def test_counts_by_length_are_drawn_and_named_with_their_crossing() -> None:
    lengths = 2 ** np.arange(3, 11)
    counts = {"stream": lengths * 5, "inner": lengths * 20, "weights": 2 * lengths**2}

    (axes,) = figures.numbers_by_length(lengths, counts, crossing=(10, 200)).axes

    for line, values in zip(axes.lines, counts.values(), strict=False):
        np.testing.assert_array_equal(line.get_xdata(), lengths)
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert axes.lines[-1].get_xydata().tolist() == [[10, 200]]  # type: ignore[union-attr]
    assert texts(axes) == ["stream", "inner", "weights", "level at T = 10"]
    assert axes.get_xlim()[1] > lengths[-1]
