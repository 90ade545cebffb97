"""Figures of the chapter on variants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import blended_transform_factory

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

# color of a switch, by the part of the block that it turns
PARTS = {
    "norm": NORM,
    "attention": ATTENTION,
    "feed-forward": FEED_FORWARD,
    "stream": STREAM,
}
# color, dash and marker of a stack, by the name that the figure writes
LOOKS = {
    "pre-norm": (STREAM, "-", "o"),
    "LayerScale": (ATTENTION, "-.", "^"),
    "post-norm": (NORM, "--", "s"),
    "DeepNorm": (FEED_FORWARD, ":", "D"),
}
MARKERS = ("o", "s", "^")
Differences = Mapping[str, tuple[str, float]]


@styled
def switches(differences: Differences) -> BookFigure:
    """How far each switch moves the output, on a log axis, with its part beside it."""
    drawing = figure(0.33 * len(differences) + 0.8)
    axes = drawing.subplots()
    beside = blended_transform_factory(axes.transAxes, axes.transData)
    for row, (part, difference) in enumerate(differences.values()):
        color = PARTS[part]
        axes.plot([1e-6, difference], [row, row], color=color, lw=1.2)
        axes.plot(difference, row, "o", color=color, ms=6)
        axes.text(1.02, row, part, color=color, va="center", transform=beside)
    axes.set_yticks(range(len(differences)), list(differences))
    axes.tick_params("y", length=0)
    axes.set(xscale="log", xlim=(1e-6, 3), ylim=(len(differences) - 0.5, -0.5))
    axes.set_xticks([1e-6, 1e-4, 1e-2, 1], ["10⁻⁶", "10⁻⁴", "0.01", "1"])
    axes.minorticks_off()
    axes.set_xlabel("change of the block's update")
    return drawing


@styled
def largest_scores(
    factors: Int[np.ndarray, "N"],
    scores: Mapping[str, Float[np.ndarray, "N"]],
    bound: float,
) -> BookFigure:
    """The largest score against the factor on the weights of queries and keys."""
    drawing = figure(2.5)
    axes = drawing.subplots()
    axes.axhline(bound, color=MUTED, lw=0.9, ls=":")
    axes.text(5.8 * factors[-1], 1.15 * bound, "bound √K", color=MUTED, ha="right")
    looks = (("-", -4), ("--", -11))  # the second name stands below the bound's line
    for (name, values), (dash, below) in zip(scores.items(), looks, strict=True):
        axes.loglog(factors, values, "o", ls=dash, color=ATTENTION, ms=5)
        place = float(factors[-1]), float(values[-1])
        axes.annotate(
            name,
            place,
            (7, below),
            textcoords="offset points",
            color=ATTENTION,
            annotation_clip=False,
        )
    axes.set_xticks(factors, map(str, factors))
    axes.minorticks_off()
    axes.set_xlim(0.8 * factors[0], 6 * factors[-1])
    axes.set_ylim(bottom=0.5 * bound)
    axes.set(xlabel="factor on query and key weights", ylabel="largest score")
    return drawing


@styled
def gradients_by_block(
    gradients: Mapping[str, Float[np.ndarray, "L"]],
) -> BookFigure:
    """The gradient of each block's branches in one stack, a curve for each variant."""
    drawing = figure(3.0)
    axes = drawing.subplots()
    heights = apart({name: float(each[-1]) for name, each in gradients.items()}, 1.7)
    for name, values in gradients.items():
        color, dash, marker = LOOKS[name]
        blocks = np.arange(1, len(values) + 1)
        axes.semilogy(blocks, values, marker, ls=dash, color=color, ms=4, markevery=4)
        axes.text(1.03 * len(values), heights[name], name, color=color, va="center")
    deepest = max(map(len, gradients.values()))
    axes.set_xticks(np.linspace(0, deepest, 5))
    axes.set_xlim(0, 1.34 * deepest)
    axes.minorticks_off()
    axes.set(xlabel="block", ylabel="gradient of its branches")
    return drawing


@styled
def steps_until(
    found: Mapping[str, Mapping[float, Float[np.ndarray, "N"]]], steps: int
) -> BookFigure:
    """When each run found out: a row a variant, a mark a seed; hollow ones never did.

    A run that did not is nan. There are at most three rates, each with a marker.
    """
    drawing = figure(0.42 * len(found) + 1.1)
    axes = drawing.subplots()
    for row, by_rate in enumerate(found.values()):
        axes.axhline(row + 0.5, color=MUTED, lw=0.4, alpha=0.5)
        shifts = np.linspace(-0.27, 0.27, len(by_rate))
        for values, shift, marker in zip(
            by_rate.values(), shifts, MARKERS, strict=False
        ):
            never = np.isnan(values)
            done = values[~never]
            at = np.full(len(done), row + shift)
            axes.plot(done, at, marker, color=INK, ms=4.5, alpha=0.7, mew=0)
            late = np.full(never.sum(), 1.06 * steps)
            axes.plot(
                late,
                np.full(len(late), row + shift),
                marker,
                mfc=PAPER,
                mec=INK,
                ms=4.5,
            )
    axes.axvline(steps, color=MUTED, lw=0.7, ls=":")
    axes.set_yticks(range(len(found)), list(found))
    axes.tick_params("y", length=0)
    axes.set(xlim=(0, 1.12 * steps), ylim=(len(found) - 0.5, -0.5), xlabel="step")
    _name_rates(axes, next(iter(found.values())))
    return drawing


def apart(heights: Mapping[str, float], factor: float) -> dict[str, float]:
    """Place names beside heights on a log axis, each above the last by a factor."""
    placed: dict[str, float] = {}
    floor = 0.0
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        placed[name] = floor = max(height, floor * factor)
    return placed


def _name_rates(axes: Axes, rates: Iterable[float]) -> None:
    marks = [
        Line2D([], [], marker=marker, ls="", color=INK, ms=5, label=f"rate {rate:g}")
        for rate, marker in zip(rates, MARKERS, strict=False)
    ]
    axes.legend(
        handles=marks,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=len(marks),
        frameon=False,
        handletextpad=0.1,
        columnspacing=1.2,
    )
