"""Figures of the chapter on the backward pass."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

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
    matrix,
    styled,
)

# where the values of the one-number block stand, and what makes them
PLACES = {"x": (0, 0), "u": (1.5, 1), "r": (3, 1), "b": (4.5, 1), "y": (6, 0)}
MADE_BY = {"x": "given", "u": "v · x", "r": "relu(u)", "b": "w · r", "y": "x + b"}
WIRES = (("x", "u"), ("u", "r"), ("r", "b"), ("b", "y"), ("x", "y"))


@styled
def circuit(values: Mapping[str, float], gradients: Mapping[str, float]) -> BookFigure:
    """The block of one number: values run to the right, gradients to the left."""
    drawing = figure(2.5)
    axes = bare(drawing.subplots())
    for start, end in WIRES:
        (x, y), (to_x, to_y) = PLACES[start], PLACES[end]
        color = STREAM if (start, end) == ("x", "y") else FEED_FORWARD
        arrow = {"arrowstyle": "-|>", "color": color, "lw": 1.5, "shrinkB": 2}
        axes.annotate("", (to_x - 0.54, to_y), (x + 0.54, y), arrowprops=arrow)
    for name, (x, y) in PLACES.items():
        box = FancyBboxPatch(
            (x - 0.54, y - 0.29), 1.08, 0.58, "round,pad=0,rounding_size=0.08"
        )
        box.set(facecolor=PAPER, edgecolor=MUTED)
        axes.add_patch(box)
        axes.text(x, y + 0.36, MADE_BY[name], ha="center", color=MUTED, fontsize=9)
        _number(axes, x, y + 0.13, name, values[name], INK)
        _number(axes, x, y - 0.14, f"d{name}", gradients[name], ATTENTION)
    axes.set(xlim=(-0.6, 6.6), ylim=(-0.4, 1.65))
    return drawing


@styled
def softmax_derivative(derivative: Float[np.ndarray, "S S"]) -> BookFigure:
    """The derivative of each attention weight by each score."""
    drawing = figure(3.5)
    axes = drawing.subplots()
    matrix(axes, derivative, limit=np.abs(derivative).max())
    ticks = np.arange(len(derivative))
    axes.set_xticks(ticks + 0.5, ticks + 1)
    axes.set_yticks(ticks + 0.5, ticks + 1)
    axes.set(title="∂(weight) / ∂(score)", xlabel="score", ylabel="weight")
    return drawing


@styled
def stage_gradients(lengths: Mapping[str, float]) -> BookFigure:
    """The length of the gradient at each stage of a block, in the order of arrival."""
    drawing = figure(0.32 * len(lengths) + 0.75)
    axes = drawing.subplots()
    for row, (stage, length) in enumerate(lengths.items()):
        axes.barh(row, length, 0.62, color=_color(stage))
        axes.text(length, row, f" {length:.1f}", va="center", fontsize=9.5)
    axes.set_yticks(range(len(lengths)), lengths)
    axes.tick_params("y", length=0)
    axes.set(xlabel="length of the gradient at the stage")
    axes.set(ylim=(len(lengths) - 0.5, -0.5), xlim=(0, 1.12 * max(lengths.values())))
    return drawing


@styled
def step_size(
    steps: Float[np.ndarray, "N"], errors: Mapping[str, Float[np.ndarray, "N"]]
) -> BookFigure:
    """The error of a difference quotient against its step, one-sided and central."""
    drawing = figure(3.1)
    axes = drawing.subplots()
    looks = ((ATTENTION, "--", "s"), (STREAM, "-", "o"))
    for (name, values), (color, dash, marker) in zip(
        errors.items(), looks, strict=True
    ):
        axes.loglog(steps, values, marker, ls=dash, color=color, ms=4.5)
        third = float(steps[2]), float(values[2])
        side = 1 if dash == "-" else -1
        axes.annotate(
            name,
            third,
            (9 * side, -9 * side),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center",
            color=color,
        )
    axes.set(xlabel="step h", ylabel="error of the slope")
    axes.set_ylim(bottom=0.03 * min(map(np.min, errors.values())))
    axes.text(0.03, 0.06, "rounding", color=MUTED, transform=axes.transAxes)
    axes.text(
        0.97, 0.06, "truncation", color=MUTED, ha="right", transform=axes.transAxes
    )
    return drawing


@styled
def through_the_stack(lengths: Mapping[str, Float[np.ndarray, "L"]]) -> BookFigure:
    """What arrives at each block's input, and what its two branches add to it."""
    drawing = figure(3.0)
    axes = drawing.subplots()
    looks = {
        "in all": (STREAM, "-", "o"),
        "attention": (ATTENTION, "--", "s"),
        "feed-forward": (FEED_FORWARD, "-.", "^"),
    }
    from_below = sorted(lengths, key=lambda name: float(lengths[name][0]))
    for name, values in lengths.items():
        color, dash, marker = looks[name]
        blocks = np.arange(1, len(values) + 1)
        axes.plot(blocks, values, marker, ls=dash, color=color, ms=4)
        axes.annotate(
            name,
            (1, float(values[0])),
            (-8, 10 * from_below.index(name) - 5),
            textcoords="offset points",
            ha="right",
            va="center",
            color=color,
        )
    axes.set(xlabel="block", ylabel="length of the gradient", ylim=(0, None))
    axes.set_xlim(-0.36 * len(blocks), len(blocks) + 0.5)
    axes.set_xticks([1, *range(6, len(blocks) + 1, 6)])
    return drawing


def _number(
    axes: Axes, x: float, y: float, name: str, value: float, color: str
) -> None:
    text = f"{name} = {value:g}".replace("-", "−")
    axes.text(x, y, text, ha="center", va="center", color=color, fontsize=9)


def _color(stage: str) -> str:
    kinds = {
        "norm": NORM,
        "attention": ATTENTION,
        "feed_forward": FEED_FORWARD,
    }
    return next((c for kind, c in kinds.items() if stage.startswith(kind)), STREAM)
