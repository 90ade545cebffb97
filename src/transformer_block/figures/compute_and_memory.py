"""Figures of the chapter on compute and memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Num
from matplotlib.axes import Axes

from transformer_block.figures.style import (
    ATTENTION,
    FEED_FORWARD,
    INK,
    MUTED,
    NORM,
    PAPER,
    STREAM,
    BookFigure,
    figure,
    styled,
)

Curve = Num[np.ndarray, "N"]
LINES = {
    "all matrices": (INK, "-", "above", 0),
    "feed-forward": (FEED_FORWARD, "-", "below", 0),
    "all of attention": (ATTENTION, "-", "below", 0),
    "pairs of tokens": (ATTENTION, "--", "below", 1 / 3),
}
"""Color, dash, and where the name stands: on which side, and how far along."""
KEPT = {
    "input": STREAM,
    "norms": NORM,
    "attention": ATTENTION,
    "feed-forward": FEED_FORWARD,
}


class Doubled(NamedTuple):
    """Sizes, each twice the one before, and what they cost as ratios to the first."""

    sizes: Curve
    counted: Curve
    measured: Curve


@styled
def per_token(
    lengths: Curve, parts: Mapping[str, Curve], crossings: Mapping[str, float]
) -> BookFigure:
    """Operations for each token against the length, in millions, on logarithms.

    A crossing is a length at which two sums of parts are level, by its name.
    """
    drawing = figure(3.1)
    axes = drawing.subplots()
    for part, each in parts.items():
        color, dash, side, along = LINES[part]
        axes.loglog(lengths, each / 1e6, color=color, ls=dash)
        at = int(along * len(lengths))
        axes.annotate(
            part,
            (lengths[at], each[at] / 1e6),
            (6, 3 if side == "above" else -4),
            textcoords="offset points",
            va="bottom" if side == "above" else "top",
            color=color,
        )
    bottom = 1.2 * axes.get_ylim()[0]
    for name, length in crossings.items():
        axes.axvline(length, color=MUTED, lw=0.9, ls=":")
        axes.text(0.93 * length, bottom, name, rotation=90, ha="right", va="bottom")
    axes.set(xlim=(lengths[0], lengths[-1]), xlabel="tokens in the sequence, T")
    axes.set_ylabel("million FLOPs for each token")
    return drawing


@styled
def doubled(panels: Mapping[str, Doubled]) -> BookFigure:
    """Counted and measured growth, a panel for each letter that was doubled."""
    drawing = figure(2.4 * len(panels))
    rows = drawing.subplots(len(panels), 1, squeeze=False)[:, 0]
    for axes, (letter, (sizes, counted, measured)) in zip(
        rows, panels.items(), strict=True
    ):
        for values, dash, name, fill in (
            (counted, "--", "operations", PAPER),
            (measured, "-", "time", INK),
        ):
            axes.loglog(sizes, values, dash, color=INK, marker="o", mfc=fill)
            axes.annotate(
                f"{name} × {values[-1]:.0f}",
                (sizes[-1], values[-1]),
                (7, 0),
                textcoords="offset points",
                va="center",
            )
        _ticks(axes, sizes)
        axes.set(xlabel=letter, ylabel="ratio to the first")
        axes.set_xlim(0.9 * sizes[0], sizes[-1] * (sizes[-1] / sizes[0]) ** 0.42)
    return drawing


@styled
def branches(lengths: Curve, counted: Curve, measured: Curve) -> BookFigure:
    """How many times as much attention takes as the feed-forward part, by length."""
    drawing = figure(2.7)
    axes = drawing.subplots()
    axes.axhline(1, color=MUTED, lw=1)
    axes.text(
        lengths[-1], 0.96, "as much as the feed-forward part", ha="right", va="top"
    )
    for values, dash, name, fill in (
        (counted, "--", "operations", PAPER),
        (measured, "-", "time", ATTENTION),
    ):
        axes.loglog(lengths, values, dash, color=ATTENTION, marker="o", mfc=fill)
        middle = len(lengths) // 2
        up = values[middle] >= (counted if name == "time" else measured)[middle]
        axes.annotate(
            name,
            (lengths[middle], values[middle]),
            (-9, 7) if up else (9, -10),
            textcoords="offset points",
            ha="right" if up else "left",
            color=ATTENTION,
        )
    _ticks(axes, lengths)
    axes.set_yticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    axes.set(xlabel="tokens in the sequence, T", ylabel="attention / feed-forward")
    return drawing


@styled
def kept(rows: Mapping[str, Mapping[str, float]]) -> BookFigure:
    """Megabytes that a backward needs, by part, a bar for each way to train."""
    drawing = figure(0.5 * len(rows) + 1.0)
    axes = drawing.subplots()
    largest = max(sum(parts.values()) for parts in rows.values())
    for row, parts in enumerate(rows.values()):
        left = 0.0
        for part, size in parts.items():
            axes.barh(row, size, left=left, color=KEPT[part], height=0.66, ec=PAPER)
            left += size
        axes.annotate(
            f"{left:,.0f}", (left, row), (5, 0), textcoords="offset points", va="center"
        )
    shown = {part for parts in rows.values() for part in parts}
    place = 0.0
    for part, color in KEPT.items():
        if part in shown:
            axes.text(place * largest, -0.62, part, color=color)
            place += 0.07 + 0.024 * len(part)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set(xlim=(0, 1.2 * largest), ylim=(len(rows) - 0.5, -1.0))
    axes.set_xlabel("MB for each block")
    axes.tick_params(axis="y", length=0)
    return drawing


@styled
def cache(curves: Mapping[str, tuple[Curve, Curve]]) -> BookFigure:
    """Gigabytes of keys and values against the length, up to each model's context."""
    drawing = figure(2.6)
    axes = drawing.subplots()
    furthest = max(float(lengths[-1]) for lengths, _ in curves.values())
    for (name, (lengths, sizes)), dash in zip(curves.items(), ("-", "--"), strict=True):
        axes.plot(lengths, sizes, dash, color=ATTENTION)
        axes.plot(lengths[-1], sizes[-1], "o", color=ATTENTION)
        axes.annotate(
            f"{name}, {lengths[-1]:,}",
            (lengths[-1], sizes[-1]),
            (0, 7),
            textcoords="offset points",
            ha="center" if lengths[-1] < furthest else "right",
            color=ATTENTION,
        )
    top = max(float(sizes[-1]) for _, sizes in curves.values())
    axes.set_xticks(sorted({lengths[-1] for lengths, _ in curves.values()}))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set(xlim=(0, 1.03 * furthest), ylim=(0, 1.25 * top))
    axes.set(xlabel="tokens held, T", ylabel="GB for each sequence")
    return drawing


def _ticks(axes: Axes, sizes: Curve) -> None:
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
