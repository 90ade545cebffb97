"""Figures of the chapter on training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from transformer_block.figures.style import (
    ATTENTION,
    INK,
    MUTED,
    NORM,
    PAPER,
    STREAM,
    BookFigure,
    figure,
    matrix,
    styled,
)

LOOKS = {"pre-norm": (STREAM, "o"), "post-norm": (NORM, "s")}
Curves = Mapping[str, Float[np.ndarray, "N"]]


@styled
def schedules(rates: Curves) -> BookFigure:
    """The learning rate of each step, one curve for each schedule, by its name."""
    drawing = figure(2.1)
    axes = drawing.subplots()
    peak = max(each.max() for each in rates.values())
    for (name, each), dash in zip(rates.items(), ("-", "--"), strict=True):
        steps = np.arange(1, len(each) + 1)
        axes.plot(steps, each, color=INK, ls=dash)
        half = int(np.argmax(each >= 0.5 * peak))
        place, shift = (steps[half], each[half]), (8, -4) if half else (2, 5)
        axes.annotate(name, place, shift, textcoords="offset points")
    axes.set(xlabel="step", ylabel="learning rate", ylim=(0, 1.25 * peak))
    axes.set(xlim=(0, max(map(len, rates.values()))), yticks=[0, peak / 2, peak])
    return drawing


@styled
def losses(
    curves: Mapping[str, Curves], every: int, levels: Mapping[str, float]
) -> BookFigure:
    """Loss curves by placement and schedule, a panel a placement; levels are dotted."""
    drawing = figure(4.7)
    panels = drawing.subplots(len(curves), 1, sharex=True, sharey=True, squeeze=False)[
        :, 0
    ]
    for axes, (placement, pair) in zip(panels, curves.items(), strict=True):
        color, _ = LOOKS[placement]
        end = every * max(map(len, pair.values()))
        for values, dash in zip(pair.values(), ("-", "--"), strict=True):
            steps = every * (np.arange(len(values)) + 0.5)
            axes.plot(steps, values, color=color, ls=dash)
        _name_curves(axes, pair, every, color)
        for name, level in levels.items():
            axes.axhline(level, color=MUTED, lw=0.9, ls=":")
            axes.text(1.02 * end, level, name, va="center", fontsize=9)
        axes.set_title(placement, color=color)
        axes.set(ylabel="loss (nats)", xlim=(0, end))
        axes.set_ylim(0, 1.25 * max(levels.values()))
    panels[-1].set_xlabel("step")
    return drawing


def _name_curves(axes: Axes, pair: Curves, every: int, color: str) -> None:
    """Write each name beside its curve where it falls, or below its end if it does not.

    The name of the curve that falls first stands to the left, that of the other to the
    right of it.
    """
    low = 0.7
    falls = {
        name: every * (int(np.argmax(values < low)) + 0.5)
        for name, values in pair.items()
        if (values < low).any()
    }
    for name, values in pair.items():
        if name not in falls:
            end, below = float(every * len(values)), values[-8:].min() - 0.35
            x, y, side, shift = end, below, "right", -4
        elif falls[name] == min(falls.values()):
            x, y, side, shift = falls[name], low, "right", -7
        else:
            x, y, side, shift = falls[name], low, "left", 7
        axes.annotate(
            name,
            (x, y),
            (shift, -3),
            textcoords="offset points",
            ha=side,
            color=color,
        )


@styled
def solved_share(
    rates: Sequence[float], solved: Mapping[str, Int[np.ndarray, "R"]], seeds: int
) -> BookFigure:
    """How many of the seeds solved the task, for each rate and each kind of run."""
    drawing = figure(0.52 * len(solved) + 0.9)
    axes = drawing.subplots()
    for row, (kind, counts) in enumerate(solved.items()):
        color, _ = LOOKS[kind.partition(",")[0]]
        for column, count in enumerate(counts):
            share = count / seeds
            box = Rectangle(
                (column + 0.03, row + 0.05), 0.94, 0.9, fc=color, alpha=share, lw=0
            )
            axes.add_patch(box)
            axes.text(
                column + 0.5,
                row + 0.5,
                f"{count} of {seeds}",
                ha="center",
                va="center",
                color="white" if share > 0.5 else INK,
            )
    axes.set_xticks(np.arange(len(rates)) + 0.5, [f"{rate:g}" for rate in rates])
    axes.set_yticks(np.arange(len(solved)) + 0.5, list(solved))
    axes.set(xlim=(0, len(rates)), ylim=(len(solved), 0), xlabel="learning rate")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return drawing


@styled
def attention_map(weights: Float[np.ndarray, "T S"]) -> BookFigure:
    """One head's weights with their numbers; the mirrored positions are framed."""
    drawing = figure(3.9)
    axes = drawing.subplots()
    matrix(axes, weights, limit=1.0)
    length = len(weights)
    for t in range(length):
        frame = Rectangle(
            (length - 1 - t + 0.04, t + 0.04),
            0.92,
            0.92,
            fill=False,
            ec=ATTENTION,
            lw=2,
        )
        axes.add_patch(frame)
    axes.set_xticks(np.arange(length) + 0.5, np.arange(length))
    axes.set_yticks(np.arange(length) + 0.5, np.arange(length))
    axes.set(xlabel="key position", ylabel="query position")
    return drawing


@styled
def first_step(
    depths: Int[np.ndarray, "L"], change: Mapping[str, Float[np.ndarray, "L"]]
) -> BookFigure:
    """How far one step of the optimizer moves the output, against depth, on logs."""
    drawing = figure(2.8)
    axes = drawing.subplots()
    for name, values in change.items():
        color, marker = LOOKS[name.partition(",")[0]]
        axes.loglog(depths, values, color=color, marker=marker, ms=6)
        axes.annotate(
            name,
            (depths[-1], values[-1]),
            (6, -3),
            textcoords="offset points",
            color=color,
            annotation_clip=False,
        )
    axes.set_xticks(depths, depths)
    axes.minorticks_off()
    axes.set(xlabel="blocks in the stack", ylabel="change of the output")
    axes.set_xlim(0.9 * depths[0], 2.6 * depths[-1])
    return drawing


@styled
def dropped(rows: Mapping[str, Float[np.ndarray, "D"]]) -> BookFigure:
    """One token as it leaves dropout, a named row a draw; dropped ones are hollow."""
    drawing = figure(0.42 * len(rows) + 0.5)
    axes = drawing.subplots()
    for row, values in enumerate(rows.values()):
        for column, value in enumerate(values):
            gone = value == 0
            box = Rectangle(
                (column + 0.04, row + 0.06),
                0.92,
                0.88,
                fc=PAPER if gone else STREAM,
                ec=MUTED,
                alpha=1.0,
                lw=0.8,
                hatch="///" if gone else None,
            )
            axes.add_patch(box)
            axes.text(
                column + 0.5,
                row + 0.5,
                "" if gone else f"{value:.2f}",
                ha="center",
                va="center",
                color="white",
                fontsize=9,
            )
    width = len(next(iter(rows.values())))
    axes.set_yticks(np.arange(len(rows)) + 0.5, list(rows))
    axes.set_xticks(np.arange(width) + 0.5, np.arange(1, width + 1))
    axes.set(xlim=(0, width), ylim=(len(rows), 0), xlabel="feature")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return drawing
