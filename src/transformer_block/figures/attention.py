"""Figures of the chapter on attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Integer
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Polygon

from transformer_block.figures.style import (
    ATTENTION,
    INK,
    MASKED,
    MUTED,
    PAPER,
    STREAM,
    BookFigure,
    figure,
    styled,
)

SHARE = LinearSegmentedColormap.from_list("share", [PAPER, ATTENTION])
"""From nothing to everything: the color of an attention weight."""


@styled
def hull(
    values: Float[np.ndarray, "3 2"], gathered: Float[np.ndarray, "N 2"]
) -> BookFigure:
    """Three values in the plane, and what queries of growing length gather of them."""
    drawing = figure(3.1)
    axes = drawing.subplots()
    axes.add_patch(Polygon(values, lw=0, facecolor=STREAM, alpha=0.1))
    axes.add_patch(Polygon(values, fill=False, edgecolor=STREAM, lw=1))
    axes.plot(*values.T, "s", color=STREAM, ms=8)
    for s, (across, height) in enumerate(values):
        axes.annotate(
            f"value {s}",
            (across, height),
            (0, 9 if height > values[:, 1].mean() else -16),
            textcoords="offset points",
            ha="center",
            color=STREAM,
        )
    axes.plot(*gathered.T, color=ATTENTION, lw=1)
    axes.plot(*gathered.T, "o", color=ATTENTION, ms=5)
    for name, end, shift in (
        ("query × 0: the middle", gathered[0], (34, 40)),
        ("long query", gathered[-1], (22, 36)),
    ):
        axes.annotate(
            name,
            (end[0], end[1]),
            shift,
            textcoords="offset points",
            color=ATTENTION,
            arrowprops={"arrowstyle": "-", "color": ATTENTION, "lw": 0.7},
        )
    low, high = values.min(axis=0), values.max(axis=0)
    margin = 0.18 * (high - low)
    axes.set(xlim=(low[0] - margin[0], high[0] + margin[0]))
    axes.set(ylim=(low[1] - 1.4 * margin[1], high[1] + 1.4 * margin[1]))
    axes.set(xlabel="feature 1", ylabel="feature 2")
    return drawing


@styled
def patterns(
    weights: Mapping[str, Float[np.ndarray, "T S"]],
    words: Sequence[str] | None = None,
    decimals: int = 2,
) -> BookFigure:
    """Attention weights side by side: a row for each query, a column for each key."""
    drawing = figure(2.5 if words is None else 2.8)
    panels = drawing.subplots(1, len(weights), squeeze=False)[0]
    for axes, (name, each) in zip(panels, weights.items(), strict=True):
        _pattern(axes, each, decimals)
        axes.set_title(name, color=ATTENTION)
        T, S = each.shape
        across, down = words or range(S), words or range(T)
        axes.set_xticks(np.arange(S) + 0.5, across, rotation=90 if words else 0)
        axes.set_yticks(np.arange(T) + 0.5, down if axes is panels[0] else [""] * T)
    panels[0].set_ylabel("query")
    panels[len(panels) // 2].set_xlabel("key")
    return drawing


def _pattern(axes: Axes, weights: Float[np.ndarray, "T S"], decimals: int) -> None:
    axes.pcolormesh(
        weights, vmin=0, vmax=1, cmap=SHARE, edgecolors=MASKED, linewidth=0.4
    )
    axes.invert_yaxis()
    axes.set_aspect("equal")
    for (t, s), weight in np.ndenumerate(weights):
        ink = "white" if weight > 0.75 else INK
        label = f"{weight:.{decimals}f}"
        label = label if label.startswith("1") else label.removeprefix("0")
        axes.text(
            s + 0.5, t + 0.5, label, color=ink, fontsize=9, ha="center", va="center"
        )
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


@styled
def sharpness(
    widths: Integer[np.ndarray, "N"],
    raw: Float[np.ndarray, "N"],
    scaled: Float[np.ndarray, "N"],
    most: float,
) -> BookFigure:
    """Entropy of attention weights against the head width, with and without √K."""
    drawing = figure(3.0)
    axes = drawing.subplots()
    axes.axhline(most, color=MUTED, lw=0.8, ls=":")
    axes.text(widths[0], most + 0.08, f"all keys alike: {most:.0f} bits", color=MUTED)
    for values, color, dash, name, shift in (
        (scaled, ATTENTION, "-", "q · k / √K", -16),
        (raw, INK, "--", "q · k", 8),
    ):
        axes.semilogx(widths, values, color=color, ls=dash, marker="o")
        place = (widths[-1], values[-1])
        axes.annotate(
            name, place, (0, shift), textcoords="offset points", color=color, ha="right"
        )
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.minorticks_off()
    axes.set(ylim=(0, most + 0.6), xlabel="head width K", title="entropy, bits")
    return drawing


@styled
def distances(scores: Mapping[str, Float[np.ndarray, "T S"]]) -> BookFigure:
    """Scores of one query at three places, against how far back the key stands."""
    drawing = figure(1.45 * len(scores) + 0.5)
    panels = drawing.subplots(len(scores), 1, sharex=True, squeeze=False)[:, 0]
    looks = (("o", STREAM, 9), ("s", ATTENTION, 6), ("^", INK, 3.5))
    for axes, (name, each) in zip(panels, scores.items(), strict=True):
        places = np.linspace(len(each) // 3, len(each) - 1, 3).round().astype(int)
        for t, (mark, color, size) in zip(places, looks, strict=True):
            back = t - np.arange(t + 1)
            face = PAPER if mark == "o" else color
            scored = each[t, : t + 1]
            axes.plot(
                back, scored, mark, label=f"query at {t}", c=color, ms=size, mfc=face
            )
        axes.set_title(name)
        axes.set(yticks=[], ylabel="score")
        axes.margins(y=0.25)
    panels[-1].set_xlabel("how far back the key stands, t − s")
    panels[-1].legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.45),
        ncols=3,
        frameon=False,
        fontsize=9,
        handletextpad=0.1,
        columnspacing=1,
    )
    return drawing


@styled
def alike(
    alone: Float[np.ndarray, "L"], with_skip: Float[np.ndarray, "L"]
) -> BookFigure:
    """How much tokens differ, layer by layer of attention, without and with a skip."""
    drawing = figure(2.9)
    axes = drawing.subplots()
    for values, color, dash, name, shift in (
        (with_skip, STREAM, "-", "x + attention", (-4, -15)),
        (alone, ATTENTION, "--", "attention alone", (-30, -3)),
    ):
        layers = np.arange(len(values))
        axes.semilogy(layers, values, color=color, ls=dash, marker="o", ms=5)
        axes.annotate(
            name,
            (layers[-1], values[-1]),
            shift,
            textcoords="offset points",
            color=color,
            ha="right",
        )
    axes.set(title="share of the tokens that differs", xlabel="layers")
    axes.set_xticks(range(len(alone)))
    axes.minorticks_off()
    return drawing
