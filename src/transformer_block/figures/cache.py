"""Figures of the chapter on the key-value cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from transformer_block.figures.style import (
    ATTENTION,
    INK,
    MASKED,
    MUTED,
    PAPER,
    STREAM,
    BookFigure,
    bare,
    figure,
    styled,
)


@styled
def work(steps: int) -> BookFigure:
    """Which tokens run through the stack at each step, without a cache and with one."""
    drawing = figure(2.75)
    for axes, cached in zip(drawing.subplots(1, 2), (False, True), strict=True):
        bare(axes)
        computed = 0
        for step in range(steps):
            for position in range(step + 1):
                runs = position == step or not cached
                computed += runs
                axes.add_patch(
                    Rectangle(
                        (position, -step),
                        0.88,
                        0.88,
                        facecolor=STREAM if runs else PAPER,
                        edgecolor=MUTED,
                        lw=0.8,
                    )
                )
            axes.text(-0.2, 0.44 - step, f"{step + 1}", ha="right", va="center")
        name = "with a cache" if cached else "without"
        axes.set_title(f"{name}: {computed} tokens run", loc="center")
        axes.set(xlim=(-1.1, steps), ylim=(0.5 - steps, 1.1))
    return drawing


@styled
def errors(
    by_position: Mapping[str, Float[np.ndarray, "T"]], chunks: Sequence[int]
) -> BookFigure:
    """Error of each position's output, a panel for each bug; chunks are marked."""
    drawing = figure(0.78 * len(by_position) + 0.75)
    panels = drawing.subplots(len(by_position), 1, sharex=True, squeeze=False)[:, 0]
    largest = max(each.max() for each in by_position.values())
    for axes, (name, each) in zip(panels, by_position.items(), strict=True):
        places = np.arange(len(each))
        axes.bar(places, each, 0.75, color=ATTENTION)
        for start in np.cumsum(chunks)[:-1]:
            axes.axvline(start - 0.5, color=INK, lw=0.8, ls=":")
        axes.set(ylim=(0, 1.15 * largest), yticks=[0, int(largest)])
        axes.set_title(name, fontsize=9.5, pad=2)
        axes.tick_params(axis="x", length=0)
    panels[-1].set_xticks(places)
    panels[-1].set_xlabel("position (dotted: a new chunk begins)")
    drawing.supylabel("error of the output", fontsize=10)
    return drawing


@styled
def caught(found: Mapping[str, Mapping[str, bool]]) -> BookFigure:
    """Which test (column) finds which bug (row): a cross where it does."""
    tests = list(next(iter(found.values())))
    drawing = figure(0.4 * len(found) + 0.95)
    axes = drawing.subplots()
    for row, by_test in enumerate(found.values()):
        for column, test in enumerate(tests):
            _mark(axes, column, row, by_test[test])
    axes.set_xticks(np.arange(len(tests)), tests, fontsize=9)
    axes.set_yticks(np.arange(len(found)), list(found))
    axes.xaxis.tick_top()
    axes.set(xlim=(-0.5, len(tests) - 0.5), ylim=(len(found) - 0.5, -0.5))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return drawing


def _mark(axes: Axes, column: int, row: int, finds: bool) -> None:
    axes.add_patch(
        Rectangle(
            (column - 0.46, row - 0.42),
            0.92,
            0.84,
            facecolor=ATTENTION if finds else PAPER,
            edgecolor=MASKED,
            lw=0.8,
        )
    )
    word, color = ("found", "white") if finds else ("passes", MUTED)
    axes.text(column, row, word, ha="center", va="center", color=color, fontsize=9.5)


@styled
def time_per_token(
    held: Sequence[int],
    step: Float[np.ndarray, "N"],
    again: Float[np.ndarray, "N"],
) -> BookFigure:
    """Time of one more token behind so many, with a cache and without, as ratios."""
    drawing = figure(2.9)
    axes = drawing.subplots()
    for values, name, color, look, up in (
        (again, "without: all tokens again", ATTENTION, "s--", True),
        (step, "with a cache: one step", STREAM, "o-", False),
    ):
        axes.loglog(held, values, look, color=color, base=10)
        axes.annotate(
            name,
            (held[0], values[0]),
            (2, 36 if up else 9),
            textcoords="offset points",
            color=color,
        )
        axes.annotate(
            f"{values[-1]:.3g}",
            (held[-1], values[-1]),
            (0, 8),
            textcoords="offset points",
            ha="center",
            color=color,
        )
    axes.set_xticks(list(held), [f"{each:,}" for each in held])
    axes.minorticks_off()
    axes.set_yticks([1, 10, 100], ["1", "10", "100"])
    axes.set(xlabel="tokens read before", ylabel="time, shortest step = 1")
    axes.set(ylim=(0.6, 1.8 * again.max()))
    return drawing
