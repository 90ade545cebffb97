"""Figures of the chapter on norm placement."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes

from transformer_block.figures.style import (
    INK,
    MUTED,
    NORM,
    PAPER,
    STREAM,
    BookFigure,
    figure,
    styled,
)

# color, dash and marker of a placement, by the name that the figures write
LOOKS = {
    "pre-norm": (STREAM, "-", "o"),
    "post-norm": (NORM, "--", "s"),
    "sandwich": (INK, "-.", "^"),
}
Curves = Mapping[str, Float[np.ndarray, "L"]]
LEAST_GAP = 0.085
"""Between two labels at the right margin, as a share of the axes' height."""


@styled
def stream_spread(spread: Curves) -> BookFigure:
    """The spread of the stream after each block of one stack, for each placement."""
    drawing = figure(2.9)
    axes = drawing.subplots()
    for name, values in spread.items():
        color, dash, _ = LOOKS[name]
        axes.plot(np.arange(1, len(values) + 1), values, color=color, ls=dash)
    deepest = max(map(len, spread.values()))
    axes.set(xlabel="after block", ylabel="spread of the stream")
    axes.set(xlim=(0, deepest), ylim=(0, None))
    axes.set_xticks(np.linspace(0, deepest, 5))
    _label_ends(axes, spread)
    return drawing


@styled
def last_gradient(depths: Int[np.ndarray, "L"], gradients: Curves) -> BookFigure:
    """The gradient of a stack's last matrix against its depth, on two log axes."""
    drawing = figure(3.1)
    axes = drawing.subplots()
    first = max(values[0] for values in gradients.values())
    guide = 1.3 * first * (depths / depths[0]) ** -0.5
    axes.plot(depths, guide, color=MUTED, lw=0.9)
    middle = len(depths) // 2
    place = float(depths[middle]), float(guide[middle])
    _beside(axes, *place, "slope −½", (4, 5), "left")
    _by_depth(axes, depths, gradients)
    axes.set_ylabel("gradient of the last matrix")
    return drawing


@styled
def exponents(slopes: Mapping[str, Mapping[str, float]]) -> BookFigure:
    """The exponent of depth in a gradient: rows of conditions, a mark a placement."""
    drawing = figure(0.5 * len(slopes) + 1.1)
    axes = drawing.subplots()
    for place in (-0.5, 0.0):
        axes.axvline(place, color=MUTED, lw=0.7, ls=":")
    for row, values in enumerate(slopes.values()):
        axes.axhline(row + 0.5, color=MUTED, lw=0.4, alpha=0.5)
        for (name, slope), shift in zip(values.items(), (-0.26, 0, 0.26), strict=True):
            color, _, marker = LOOKS[name]
            axes.plot(slope, row + shift, marker, color=color, ms=7)
            if row == 0:
                beside = axes.get_yaxis_transform()
                axes.text(1.02, row + shift, name, color=color, transform=beside)
    axes.set_yticks(range(len(slopes)), slopes)
    axes.tick_params("y", length=0)
    axes.set(ylim=(len(slopes) - 0.5, -0.6), xlim=(-0.8, 0.8))
    axes.set_xticks([-0.5, 0, 0.5], ["−½\nfalls", "0\nstays", "½\ngrows"])
    axes.set_xlabel("exponent of the depth")
    return drawing


@styled
def skip_alone(
    depths: Int[np.ndarray, "L"], arriving: Mapping[str, Curves]
) -> BookFigure:
    """What arrives at a stack's input by all paths, and by the skips alone (hollow)."""
    drawing = figure(3.3)
    axes = drawing.subplots()
    for name, curves in arriving.items():
        color, dash, marker = LOOKS[name]
        for values, face in zip(curves.values(), (color, PAPER), strict=True):
            axes.plot(depths, values, marker, ls=dash, color=color, mfc=face, ms=5.5)
    _depth_axis(axes, depths)
    axes.set(yscale="log", ylabel="gradient at the input")
    axes.set_ylim(top=30)
    flat = {
        f"{name},\n{path}": values
        for name, curves in arriving.items()
        for path, values in curves.items()
    }
    _label_ends(axes, flat, gap=0.15)
    return drawing


@styled
def singular_values(values: Mapping[str, Curves], least: float) -> BookFigure:
    """Singular values of whole stacks, largest first: a panel for each placement."""
    drawing = figure(2.9)
    panels = drawing.subplots(1, len(values), sharey=True, squeeze=False)[0]
    for axes, (name, curves) in zip(panels, values.items(), strict=True):
        color, _, marker = LOOKS[name]
        for (label, each), dash in zip(curves.items(), ("-", "--", ":"), strict=True):
            shown = each[each > least * each[0]] / each[0]
            axes.semilogy(np.arange(1, len(shown) + 1), shown, color=color, ls=dash)
            end = float(len(shown)), float(shown[-1])
            axes.plot(*end, marker, color=color, ms=4)
            _beside(axes, *end, label, (3, -1), "left", color)
        axes.set(title=name, xlabel="direction", ylim=(0.6 * least, 2))
        axes.set_xlim(0, 1.45 * max(map(len, curves.values())))
    panels[0].set_ylabel("share of the largest")
    return drawing


def _by_depth(axes: Axes, depths: Int[np.ndarray, "L"], curves: Curves) -> None:
    for name, values in curves.items():
        color, dash, marker = LOOKS[name]
        axes.plot(depths, values, marker, ls=dash, color=color, ms=5.5)
    _depth_axis(axes, depths)
    axes.set_yscale("log")
    low, high = (f(np.concatenate(list(curves.values()))) for f in (np.min, np.max))
    ticks = [t * 10.0**p for p in range(-4, 4) for t in (1, 2, 5)]
    ticks = [tick for tick in ticks if low / 1.5 < tick < 1.5 * high]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks([], minor=True)
    _label_ends(axes, curves)


def _depth_axis(axes: Axes, depths: Int[np.ndarray, "L"]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(depths, map(str, depths))
    axes.set_xticks([], minor=True)
    axes.set_xlabel("blocks in the stack")


def _label_ends(axes: Axes, curves: Curves, gap: float = LEAST_GAP) -> None:
    """Write each curve's name right of its end; names too near to each other part."""
    to_share = axes.transData + axes.transAxes.inverted()
    x = axes.get_xlim()[1]
    heights = {n: to_share.transform((x, v[-1]))[1] for n, v in curves.items()}
    floor = -np.inf
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        floor = max(height, floor + gap)
        color = LOOKS[name.split(",")[0]][0]
        axes.text(1.02, floor, name, color=color, va="center", transform=axes.transAxes)


def _beside(
    axes: Axes,
    x: float,
    y: float,
    label: str,
    shift: tuple[float, float],
    side: str,
    color: str = MUTED,
) -> None:
    axes.annotate(
        label, (x, y), shift, textcoords="offset points", ha=side, color=color
    )
