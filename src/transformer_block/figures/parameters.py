"""Figures of the chapter on parameters."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Int
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

GAP = 0.3
Sizes = Mapping[str, tuple[float, float]]
COLORS = {"attention": ATTENTION, "feed-forward": FEED_FORWARD}
PARTS = {
    "embeddings": STREAM,
    "attention": ATTENTION,
    "feed-forward": FEED_FORWARD,
    "the rest": NORM,
}


@styled
def matrices(blocks: Mapping[str, Mapping[str, Sizes]]) -> BookFigure:
    """A block's matrices to one scale: as tall as their rows, as wide as their columns.

    By block, by branch and by name; sizes are in units of D.
    """
    tallest = [
        max(rows for sizes in branches.values() for rows, _ in sizes.values())
        for branches in blocks.values()
    ]
    widest = max(
        sum(
            columns + GAP
            for sizes in branches.values()
            for _, columns in sizes.values()
        )
        for branches in blocks.values()
    )
    drawing = figure(0.42 * sum(tallest) + 0.85 * len(blocks))
    panels = drawing.subplots(
        len(blocks), 1, squeeze=False, gridspec_kw={"height_ratios": tallest}
    )[:, 0]
    for axes, (block, branches) in zip(panels, blocks.items(), strict=True):
        bare(axes).set_title(block)
        left = 0.0
        for branch, sizes in branches.items():
            for name, (rows, columns) in sizes.items():
                _matrix(axes, left, (rows, columns), name, COLORS[branch])
                left += columns + GAP
        axes.set(xlim=(-0.05, widest + 0.05), ylim=(-0.55, max(tallest) + 0.05))
    return drawing


def _matrix(
    axes: Axes, left: float, size: tuple[float, float], name: str, color: str
) -> None:
    rows, columns = size
    box = Rectangle((left, 0), columns, rows, fc=color, ec=INK, alpha=0.85, lw=0.8)
    axes.add_patch(box)
    middle = left + columns / 2
    area = f"{rows * columns:g} D²".removeprefix("1 ")
    inside = rows > 0.5
    axes.text(
        middle,
        rows / 2 if inside else rows + 0.1,
        name,
        ha="center",
        va="center" if inside else "bottom",
        color=PAPER if inside else INK,
    )
    axes.text(middle, -0.12, area, ha="center", va="top", fontsize=9)


@styled
def by_width(
    widths: Int[np.ndarray, "N"], counts: Mapping[str, Int[np.ndarray, "N"]]
) -> BookFigure:
    """Parameters of attention and of the feed-forward part, in millions, by width."""
    drawing = figure(0.5 * len(widths) + 0.8)
    axes = drawing.subplots()
    largest = max(each.max() for each in counts.values()) / 1e6
    for shift, (branch, each) in zip((-0.19, 0.19), counts.items(), strict=True):
        places = np.arange(len(widths)) + shift
        axes.barh(places, each / 1e6, height=0.34, color=COLORS[branch])
        for place, count in zip(places, each / 1e6, strict=True):
            name = f"  {branch}" if place > len(widths) - 1.5 else ""
            axes.annotate(
                f"{count:.2f}{name}",
                (count, place),
                (4, 0),
                textcoords="offset points",
                va="center",
                color=COLORS[branch],
            )
    axes.set_yticks(np.arange(len(widths)), [f"D = {width:,}" for width in widths])
    axes.set(xlim=(0, 1.55 * largest), ylim=(len(widths) - 0.5, -0.5))
    axes.set_xlabel("million parameters in one block")
    axes.tick_params(axis="y", length=0)
    return drawing


@styled
def ratios(found: Mapping[str, float], rule: float = 2.0) -> BookFigure:
    """Feed-forward parameters for each of attention's, by block, and a rule's value."""
    drawing = figure(0.34 * len(found) + 0.8)
    axes = drawing.subplots()
    axes.axvline(rule, color=MUTED, ls="--", lw=1)
    for row, ratio in enumerate(found.values()):
        axes.plot([0, ratio], [row, row], color=FEED_FORWARD, lw=1)
        axes.plot(ratio, row, "o", color=FEED_FORWARD)
        axes.annotate(
            f"{ratio:.2f}",
            (ratio, row),
            (8, 0),
            textcoords="offset points",
            va="center",
        )
    axes.set_yticks(range(len(found)), list(found))
    axes.set(xlim=(0, 1.2 * max(found.values())), ylim=(len(found) - 0.5, -0.5))
    axes.set_xlabel("feed-forward parameters for each one of attention")
    axes.tick_params(axis="y", length=0)
    return drawing


@styled
def shares(models: Mapping[str, Mapping[str, int]], least: float = 0.07) -> BookFigure:
    """Where each model's parameters are, in percent, with the total beside its name.

    A part is labeled if it is at least so large a share.
    """
    drawing = figure(0.46 * len(models) + 0.9)
    axes = drawing.subplots()
    names = []
    for row, (model, parts) in enumerate(models.items()):
        total, left = sum(parts.values()), 0.0
        names.append(f"{model}\n{_short(total)}")
        for part, color in PARTS.items():
            share = parts.get(part, 0) / total
            axes.barh(row, share, left=left, color=color, height=0.7, ec=PAPER)
            if share >= least:
                axes.text(
                    left + share / 2,
                    row,
                    f"{100 * share:.0f}",
                    ha="center",
                    va="center",
                    color=PAPER,
                )
            left += share
    place = 0.0
    for part, color in list(PARTS.items())[:3]:
        axes.text(place, -0.6, part, color=color, fontsize=10)
        place += 0.3
    axes.set_yticks(range(len(models)), names)
    axes.set(xlim=(0, 1), ylim=(len(models) - 0.5, -0.95), xticks=[])
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("percent of the model")
    return drawing


def _short(count: int) -> str:
    for unit, size in (("B", 10**9), ("M", 10**6)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:,}"
