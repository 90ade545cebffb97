"""Figures of the chapter on masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from transformer_block.figures.dependence import Table, draw_table
from transformer_block.figures.style import (
    INK,
    MASKED,
    NORM,
    PAPER,
    STREAM,
    BookFigure,
    figure,
    matrix,
    styled,
)

ROUNDING = 1e-3
"""What is drawn as no movement: far above float32's rounding, far below what moves."""


@styled
def leaks(
    heard: Mapping[str, Mapping[str, Table]], meant: Mapping[str, Table]
) -> BookFigure:
    """What each query hears: a row of tables a mistake, a column a mask."""
    drawing = figure(1.12 * len(heard) + 0.75)
    grid = drawing.subplots(len(heard), len(meant), squeeze=False)
    for axes, mask in zip(grid[0], meant, strict=True):
        axes.set_title(mask, loc="center")
    for row, (mistake, of_mask) in zip(grid, heard.items(), strict=True):
        row[0].set_ylabel(
            mistake, rotation=0, ha="right", va="center", labelpad=8, linespacing=1.1
        )
        for axes, (mask, table) in zip(row, of_mask.items(), strict=True):
            draw_table(axes, table, meant[mask], size=62, dots=False)
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set(visible=True, color=MASKED, linewidth=0.6)
    drawing.supxlabel(
        "■ heard, as meant     ✕ a leak: heard, though hidden\n"
        "□ meant, but not heard     empty: hidden, not heard",
        fontsize=9.5,
    )
    return drawing


@styled
def leak_sizes(moved: Mapping[str, Float[np.ndarray, "T S"]]) -> BookFigure:
    """How far each output moves when one key is changed, in numbers."""
    drawing = figure(2.95 * len(moved) + 0.2)
    limit = max(table.max() for table in moved.values())
    panels = drawing.subplots(len(moved), 1, squeeze=False)[:, 0]
    for axes, (name, table) in zip(panels, moved.items(), strict=True):
        matrix(axes, table, limit)
        n_rows, n_columns = table.shape
        corner = np.arange(min(table.shape))
        axes.step(  # the edge of the causal mask: what lies above it should be 0
            [*corner + 1, n_columns],
            [*corner, n_rows - 1],
            color=INK,
            lw=2,
            where="pre",
        )
        axes.set_xticks(np.arange(n_columns) + 0.5, range(n_columns))
        axes.set_yticks(np.arange(n_rows) + 0.5, range(n_rows))
        axes.set(title=name, ylabel="query")
    panels[-1].set_xlabel("changed key")
    return drawing


@styled
def shift(movements: Mapping[str, Sequence[float]]) -> BookFigure:
    """How far earlier outputs move, with no mask: a shift of the last token, and noise.

    A movement within rounding is drawn as none, at the left.
    """
    drawing = figure(0.62 * len(movements) + 1.15)
    axes = drawing.subplots()
    looks = ((STREAM, "D", PAPER, "+100", 9), (NORM, "o", NORM, "random", -17))
    for row, (_, both) in enumerate(movements.items()):
        axes.axhline(row, color=MASKED, lw=0.6)
        for value, (color, marker, face, name, up) in zip(both, looks, strict=True):
            silent = value < ROUNDING
            at = 0.0 if silent else value
            axes.plot(at, row, marker, color=color, mfc=face, ms=9, mew=1.6, zorder=3)
            label = f"{name}: none" if silent else f"{name}: {value:.1f}"
            axes.annotate(
                label, (at, row), (0, up), textcoords="offset points", ha="center",
                color=color, fontsize=9,
            )  # fmt: skip
    widest = max(max(both) for both in movements.values())
    axes.set_yticks(range(len(movements)), movements)
    axes.set(
        xlim=(-0.14 * widest, 1.14 * widest), ylim=(len(movements) - 0.5, -0.75),
        xlabel="largest movement of an earlier output",
    )  # fmt: skip
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return drawing
