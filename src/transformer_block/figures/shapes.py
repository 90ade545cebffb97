"""Figures of the chapter on shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from transformer_block.figures.style import (
    ATTENTION,
    FEED_FORWARD,
    INK,
    MUTED,
    NORM,
    PAPER,
    STREAM,
    BookFigure,
    bare,
    figure,
    styled,
)

Shape = Sequence[int]

PART = {
    "norm": NORM,
    "queries": ATTENTION,
    "weights": ATTENTION,
    "attention": ATTENTION,
    "inner": FEED_FORWARD,
    "feed_forward": FEED_FORWARD,
}


@styled
def tensor(batch: int, positions: int, features: int) -> BookFigure:
    """A tensor (B, T, D) as B tables; one token and one number are marked."""
    drawing = figure(2.1)
    axes = bare(drawing.subplots())
    for item in range(batch):
        left = item * (features + 3.4)
        _table(axes, left, 0, positions, features, PAPER)
        axes.text(left + features / 2, 0.35, f"item {item}", ha="center")
        if item == 0:
            _table(axes, left, -1, 1, features, STREAM)
            axes.add_patch(Rectangle((features - 1, -2.86), 0.86, 0.86, facecolor=INK))
            axes.text(features + 0.1, -1.45, "a token", va="center", color=STREAM)
            axes.text(features + 0.1, -2.45, "a number", va="center")
    middle, bottom = -positions / 2, -positions - 0.25
    for t in range(positions):
        axes.text(-0.25, -t - 0.45, f"t={t}", ha="right", va="center", fontsize=9)
    axes.text(-1.75, middle, f"T = {positions}", ha="center", va="center", rotation=90)
    axes.text(features / 2, bottom, f"D = {features} features", ha="center", va="top")
    right = (batch - 1) * (features + 3.4) + features
    axes.text(right + 0.3, middle, f"B = {batch}\nitems", va="center")
    axes.set(xlim=(-2.2, right + 2.3), ylim=(bottom - 0.8, 1.1))
    return drawing


def _table(
    axes: Axes, left: float, top: float, rows: int, columns: int, face: str
) -> None:
    for row in range(rows):
        for column in range(columns):
            axes.add_patch(
                Rectangle(
                    (left + column, top - row - 0.86),
                    0.86,
                    0.86,
                    facecolor=face,
                    edgecolor=MUTED,
                    lw=0.7,
                )
            )


@styled
def running_tensor(steps: Mapping[str, Shape]) -> BookFigure:
    """Each step's values for one batch item, drawn to scale: a table, or one a head.

    Shapes are (B, T, width), or (B, H, T, width) inside attention.
    """
    heights = [shape[-2] + 2.3 for shape in steps.values()]
    drawing = figure(0.133 * sum(heights) + 0.1)
    axes = bare(drawing.subplots())
    top, widest = 0.0, 0.0
    for (name, shape), height in zip(steps.items(), heights, strict=True):
        color = PART.get(name.rstrip("_12"), STREAM)
        written = "({})".format(", ".join(map(str, shape)))
        axes.text(0, top + 0.45, f"{name}  {written}", color=color, va="bottom")
        heads = shape[1] if len(shape) == 4 else 1
        for head in range(heads):
            left = head * (shape[-1] + 1)
            _table(axes, left, top, shape[-2], shape[-1], color)
            widest = max(widest, left + shape[-1])
        top -= height
    axes.set(xlim=(-0.2, max(widest, 25) + 0.2), ylim=(top + 1.6, 2.2))
    return drawing


@styled
def concatenated(
    added: Int[np.ndarray, "N"], appended: Int[np.ndarray, "N"]
) -> BookFigure:
    """Width of a token after each block: updates added, and updates appended."""
    drawing = figure(2.6)
    axes = drawing.subplots()
    blocks = np.arange(len(added))
    axes.semilogy(blocks, added, "o-", color=STREAM, ms=5)
    axes.semilogy(blocks, appended, "s--", color=MUTED, ms=5)
    axes.annotate(
        f"added: {added[-1]:,} features",
        (blocks[-1], added[-1]),
        (0, 9),
        textcoords="offset points",
        ha="right",
        color=STREAM,
    )
    axes.annotate(
        f"appended: {appended[-1]:,} features",
        (blocks[-1], appended[-1]),
        (-12, -2),
        textcoords="offset points",
        ha="right",
        color=MUTED,
    )
    axes.set(xlabel="blocks passed", ylabel="width of a token", xticks=blocks[::2])
    return drawing


@styled
def numbers_by_length(
    lengths: Int[np.ndarray, "N"],
    counts: Mapping[str, Float[np.ndarray, "N"] | Int[np.ndarray, "N"]],
    crossing: tuple[int, int],
) -> BookFigure:
    """How many numbers each step holds, against the length; where two are level."""
    drawing = figure(3.2)
    axes = drawing.subplots()
    looks = ((STREAM, "-"), (FEED_FORWARD, "--"), (ATTENTION, "-."))
    for (name, values), (color, dash) in zip(counts.items(), looks, strict=True):
        axes.loglog(lengths, values, color=color, ls=dash)
        axes.annotate(
            name,
            (lengths[-1], values[-1]),
            (5, 0),
            textcoords="offset points",
            color=color,
            va="center",
        )
    axes.plot(*crossing, "o", color=INK, ms=6)
    axes.annotate(
        f"level at T = {crossing[0]}",
        crossing,
        (-8, 10),
        textcoords="offset points",
        ha="right",
    )
    axes.set(xlabel="length T", ylabel="numbers of one item")
    ticks = lengths[:: max(1, len(lengths) // 4)]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(lengths[0], lengths[-1] * (lengths[-1] / lengths[0]) ** 0.3)
    return drawing
