"""Tables of which output hears which input, as several chapters draw them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool
from matplotlib.axes import Axes

from transformer_block.figures.style import (
    ATTENTION,
    INK,
    MASKED,
    MUTED,
    BookFigure,
    figure,
    styled,
)

Table = Bool[np.ndarray, "T S"]
KINDS = ("heard", "leak", "deaf", "silent")


@styled
def tables(
    heard: Mapping[str, Table],
    meant: Mapping[str, Table] | None = None,
    *,
    columns: int = 2,
    rows_are: str = "output",
    columns_are: str = "input",
    split: int | None = None,
    names: Sequence[str] | None = None,
) -> BookFigure:
    """Draw each table under its name: a square where output t hears input s.

    Where meant has a table of the same name, what is heard against it is a cross, and
    what is meant and not heard a hollow square. split draws a line behind so many rows
    and columns; names stand at the positions instead of their numbers.
    """
    rows = math.ceil(len(heard) / columns)
    tall = max(table.shape[0] / table.shape[1] for table in heard.values())
    drawing = figure(rows * (4.0 / columns * tall + 0.55) + 0.25)
    drawing.set_layout_engine("constrained", h_pad=0.09)
    grid = drawing.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(heard) :]:
        axes.remove()
    for axes, (name, table) in zip(grid.flat, heard.items(), strict=False):
        draw_table(axes, table, None if meant is None else meant.get(name))
        axes.set_title(name)
        _name_positions(axes, table, names)
        if split is not None:
            axes.axhline(split - 0.5, color=MUTED, lw=1)
            axes.axvline(split - 0.5, color=MUTED, lw=1)
        place = axes.get_subplotspec()
        if place is not None and place.is_first_col():
            axes.set_ylabel(rows_are)
        if place is not None and place.is_last_row():
            axes.set_xlabel(columns_are)
    return drawing


def draw_table(
    axes: Axes,
    heard: Table,
    meant: Table | None = None,
    *,
    size: float = 100,
    dots: bool = True,
) -> None:
    """Mark each cell by its kind; size is the axes' width in points.

    Cells that are silent, and meant to be, are dots, or empty without dots.
    """
    meant = heard if meant is None else meant
    edge = 0.62 * size / max(heard.shape)
    looks = {
        "heard": {"marker": "s", "ms": edge, "color": ATTENTION},
        "leak": {"marker": "x", "ms": edge, "color": INK, "mew": 2.2},
        "deaf": {"marker": "s", "ms": edge, "mec": ATTENTION, "mfc": "none", "mew": 1},
        "silent": {"marker": ".", "ms": 2.5, "color": MASKED, "mec": "none"},
    }
    of_kind = (heard & meant, heard & ~meant, ~heard & meant, ~heard & ~meant)
    for kind, where in zip(KINDS, of_kind, strict=True):
        t, s = np.nonzero(where)
        if kind == "silent" and not dots:
            continue
        axes.plot(s, t, ls="", label=kind, **looks[kind])
    n_rows, n_columns = heard.shape
    axes.set(xlim=(-0.6, n_columns - 0.4), ylim=(n_rows - 0.4, -0.6), aspect="equal")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _name_positions(axes: Axes, table: Table, names: Sequence[str] | None) -> None:
    n_rows, n_columns = table.shape
    if names is None:
        axes.set_xticks(range(n_columns))
        axes.set_yticks(range(n_rows))
    else:
        axes.set_xticks(range(n_columns), names[:n_columns])
        axes.set_yticks(range(n_rows), names[:n_rows])
