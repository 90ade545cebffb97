"""Figures of the chapter on the feed-forward part."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke

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
    matrix,
    styled,
)

PARTS = {
    "feed-forward": FEED_FORWARD,
    "attention": ATTENTION,
    "embeddings": STREAM,
    "norms": NORM,
}


@styled
def moved_rows(
    changed: int,
    feed_forward: Float[np.ndarray, "T"],
    attention: Float[np.ndarray, "T"],
) -> BookFigure:
    """How far each token's output moved when one token of the input was changed."""
    drawing = figure(2.7)
    panels = drawing.subplots(1, 2, sharey=True)
    for axes, moved, color, name in (
        (panels[0], feed_forward, FEED_FORWARD, "feed-forward"),
        (panels[1], attention, ATTENTION, "attention, no mask"),
    ):
        axes.barh(np.arange(len(moved)), moved, color=color, height=0.62)
        for t, distance in enumerate(moved):
            label = "0" if distance == 0 else f"{distance:.2f}"
            axes.annotate(
                label, (distance, t), (4, 0), textcoords="offset points", va="center"
            )
        axes.set_title(name, color=color)
        axes.set(xlim=(0, 1.35 * moved.max()), xticks=[], ylim=(len(moved) - 0.4, -0.6))
        axes.spines["bottom"].set_visible(False)
    ticks = [f"t={t}" + (" changed" if t == changed else "") for t in range(len(moved))]
    panels[0].set_yticks(range(len(ticks)), ticks)
    for axes in panels:
        axes.tick_params(axis="y", length=0)
    drawing.supxlabel("how far the output moved", fontsize=10)
    return drawing


@styled
def pieces(
    w1: Float[np.ndarray, "F 2"], b1: Float[np.ndarray, "F"], furthest: float = 3.0
) -> BookFigure:
    """The plane of two features, cut by each neuron's line into pieces.

    Each piece is labeled by the neurons that are on in it, counted from 1.
    """
    drawing = figure(4.2)
    axes = drawing.subplots()
    box = furthest * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    for corners in _pieces(box, w1, b1):
        middle = corners.mean(axis=0)
        on = np.flatnonzero(w1 @ middle + b1 > 0) + 1
        shade = 0.04 + 0.09 * len(on)
        axes.add_patch(Polygon(corners, lw=0, facecolor=FEED_FORWARD, alpha=shade))
        axes.add_patch(Polygon(corners, fill=False, edgecolor=FEED_FORWARD, lw=1.2))
        label = " ".join(map(str, on)) or "none"
        text = axes.text(middle[0], middle[1], label, ha="center", va="center")
        text.set_path_effects([withStroke(linewidth=3, foreground=PAPER)])
    axes.set(
        title="neurons that are on",
        xlabel="feature 1",
        ylabel="feature 2",
        xlim=(-furthest, furthest),
        ylim=(-furthest, furthest),
        aspect="equal",
    )
    return drawing


def _pieces(
    box: Float[np.ndarray, "C 2"],
    w1: Float[np.ndarray, "F 2"],
    b1: Float[np.ndarray, "F"],
) -> list[Float[np.ndarray, "_ 2"]]:
    found = [box]
    for normal, offset in zip(w1, b1, strict=True):
        sides = [
            _cut(corners, sign * normal, sign * offset)
            for corners in found
            for sign in (1, -1)
        ]
        found = [corners for corners in sides if len(corners) > 2]
    return found


def _cut(
    corners: Float[np.ndarray, "C 2"], normal: Float[np.ndarray, "2"], offset: float
) -> Float[np.ndarray, "_ 2"]:
    """The part of a convex polygon where normal · x + offset is positive."""
    kept = []
    heights = corners @ normal + offset
    for i, height in enumerate(heights):
        if height > 0:
            kept.append(corners[i])
        following = (i + 1) % len(corners)
        if (height > 0) != (heights[following] > 0):
            way = height / (height - heights[following])
            kept.append(corners[i] + way * (corners[following] - corners[i]))
    return np.array(kept).reshape(-1, 2)


@styled
def memories(
    fires: Float[np.ndarray, "F"], values: Float[np.ndarray, "D F"]
) -> BookFigure:
    """What each neuron writes for one token, and the sum of it all."""
    drawing = figure(3.4)
    axes = drawing.subplots()
    written = fires[:, None] * values.T
    rows = np.vstack([written, written.sum(axis=0)]) + 0.0  # −0 becomes 0
    matrix(axes, rows, limit=np.abs(rows).max())
    names = [f"neuron {f + 1} fires {fire:.2f}" for f, fire in enumerate(fires)]
    axes.set_yticks(np.arange(len(rows)) + 0.5, [*names, "sum"])
    axes.axhline(len(fires), color=INK, lw=1.2)
    columns = np.arange(rows.shape[1])
    axes.set_xticks(columns + 0.5, [f"feature {d + 1}" for d in columns], rotation=30)
    axes.set_title("written")
    return drawing


@styled
def bends(
    x: Float[np.ndarray, "N"],
    curves: Mapping[str, Float[np.ndarray, "N"]],
    gap: Float[np.ndarray, "N"],
) -> BookFigure:
    """Three activations, and by how much the tanh GELU misses the exact one.

    curves holds ReLU, GELU and SiLU, in this order.
    """
    drawing = figure(4.4)
    above, below = drawing.subplots(2, 1, height_ratios=(3, 2), sharex=True)
    looks = (
        (INK, ":", (-3.0, 0.22)),
        (FEED_FORWARD, "-", (-0.7, -0.42)),
        (STREAM, "--", (-3.0, -0.42)),
    )
    for (name, curve), (color, dash, place) in zip(curves.items(), looks, strict=True):
        above.plot(x, curve, color=color, ls=dash)
        above.text(*place, name, color=color, va="center", ha="center")
    above.set(title="activation", ylim=(-0.6, 2), yticks=[0, 1, 2])
    below.plot(x, 1e4 * gap, color=FEED_FORWARD)
    below.axhline(0, color=MUTED, lw=0.7)
    below.set(title="tanh GELU − GELU, in units of 0.0001", xlabel="input of a neuron")
    return drawing


@styled
def gates(
    x: Float[np.ndarray, "N"],
    logistic: Float[np.ndarray, "N"],
    silu: Float[np.ndarray, "N"],
    gelu: Float[np.ndarray, "N"],
) -> BookFigure:
    """The factor of an inner feature against the sum that its gate was given."""
    drawing = figure(3.0)
    axes = drawing.subplots()
    looks = (
        (logistic, MUTED, "--", (2.6, 0.72), "σ: GLU"),
        (silu, STREAM, "-.", (2.5, 1.65), "SiLU: SwiGLU"),
        (gelu, FEED_FORWARD, "-", (0.0, 2.5), "GELU: GEGLU"),
    )
    for curve, color, dash, (place, height), name in looks:
        axes.plot(x, curve, color=color, ls=dash)
        axes.text(place, height, name, color=color, va="center")
    for level in (0, 1):
        axes.axhline(level, color=MUTED, lw=0.6, ls=":")
    axes.set(title="factor", xlabel="sum made by the gate matrix", ylim=(-0.5, 3.2))
    axes.set_yticks([0, 1, 2, 3])
    return drawing


@styled
def growth(
    scales: Float[np.ndarray, "N"], lengths: Mapping[str, Float[np.ndarray, "N"]]
) -> BookFigure:
    """Lengths of two gated outputs against the scale of their input, logarithmic."""
    drawing = figure(3.3)
    axes = drawing.subplots()
    looks = ((MUTED, "--"), (FEED_FORWARD, "-"))
    for (name, length), (color, dash) in zip(lengths.items(), looks, strict=True):
        axes.loglog(scales, length, color=color, ls=dash)
        axes.annotate(
            name,
            (scales[-1], length[-1]),
            (6, 0),
            textcoords="offset points",
            color=color,
            va="center",
        )
    axes.set(xlabel="token multiplied by", title="length of the output")
    axes.set_xlim(scales[0], scales[-1] * 12)
    axes.set_xticks([0.01, 1, 100], ["0.01", "1", "100"])
    axes.set_yticks([1e-4, 1, 1e4], ["0.0001", "1", "10,000"])
    axes.minorticks_off()
    return drawing


@styled
def parameter_shares(counts: Mapping[str, Mapping[str, int]]) -> BookFigure:
    """Bars cut by what the parameters of each model belong to, in percent."""
    drawing = figure(0.95 * len(counts) + 0.3)
    for axes, (model, parts) in zip(
        drawing.subplots(len(counts), 1, squeeze=False)[:, 0],
        counts.items(),
        strict=True,
    ):
        _share_bar(axes, parts)
        axes.set_title(model)
    return drawing


def _share_bar(axes: Axes, parts: Mapping[str, int]) -> None:
    start, total = 0.0, sum(parts.values())
    for name, count in parts.items():
        share = 100 * count / total
        axes.barh(0, share, left=start, color=PARTS[name], edgecolor=PAPER)
        if share > 15:
            middle, label = start + share / 2, f"{name}\n{share:.1f} %"
            axes.text(middle, 0, label, ha="center", va="center", color="white")
        start += share
    axes.set(xlim=(0, 100), yticks=[], xticks=[])
    axes.spines[:].set_visible(False)
