"""Figures of the chapter that walks one token through a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from transformer_block.figures.style import (
    ATTENTION,
    INK,
    MASKED,
    MUTED,
    NORM,
    PAPER,
    STREAM,
    BookFigure,
    figure,
    styled,
)

# the two points that are left, and what stands beside them
_LEFT = (((1.0, -1.0), "(1, −1)", "left"), ((-1.0, 1.0), "(−1, 1)", "right"))


@styled
def sides(
    sums: Float[np.ndarray, "T 2"], variants: Float[np.ndarray, "V 2"], token: str
) -> BookFigure:
    """Tokens before a norm of two features, those of one token, and the two points."""
    drawing = figure(3.9)
    axes = drawing.subplots()
    limit = 1.15 * max(np.abs(sums).max(), np.abs(variants).max(), 1.3)
    line = np.array([-limit, limit])
    axes.fill_between(line, line, -limit, color=NORM, alpha=0.1, lw=0)
    axes.plot(line, line, color=MUTED, lw=1, ls=":")
    axes.plot(*sums.T, "o", mfc=PAPER, mec=STREAM, ms=7, mew=1.4, ls="none")
    axes.plot(*variants.T, "D", color=ATTENTION, ms=5, ls="none")
    axes.annotate(
        f"“{token}”",
        variants.mean(axis=0).tolist(),
        (0, 10),
        textcoords="offset points",
        color=ATTENTION,
        ha="center",
    )
    for (x, y), label, side in _LEFT:
        axes.plot(x, y, "o", color=NORM, ms=10)
        shift = (9, -4) if side == "left" else (-9, -4)
        axes.annotate(
            label, (x, y), shift, textcoords="offset points", color=NORM, ha=side
        )
    _say_which_side(axes)
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    axes.set(xlabel="feature 1 before the norm", ylabel="feature 2 before the norm")
    return drawing


def _say_which_side(axes: Axes) -> None:
    for (x, y), text, ha, va in (
        ((0.04, 0.95), "feature 2 larger:\nbecomes (−1, 1)", "left", "top"),
        ((0.96, 0.05), "feature 1 larger:\nbecomes (1, −1)", "right", "bottom"),
    ):
        axes.text(x, y, text, transform=axes.transAxes, ha=ha, va=va)


@styled
def shares(
    tokens: Sequence[str],
    free: Float[np.ndarray, "S"],
    causal: Float[np.ndarray, "S"],
) -> BookFigure:
    """What one token gives to each: filled if it sees all, hollow if the past alone."""
    drawing = figure(4.2)
    axes = drawing.subplots()
    _pairs(
        axes,
        tokens,
        {"sees every token": free, "sees no later token": causal},
        (ATTENTION, MASKED),
    )
    axes.set_title("share of attention")
    return drawing


@styled
def change_by_stage(
    stages: Sequence[str],
    changes: Mapping[str, Float[np.ndarray, "N"]],
) -> BookFigure:
    """How large a change is at each stage of two blocks, by the vector's length."""
    drawing = figure(3.4)
    axes = drawing.subplots()
    _pairs(axes, stages, changes, (ATTENTION, STREAM))
    axes.set_title("change, as a share of the vector's length")
    return drawing


def _pairs(
    axes: Axes,
    names: Sequence[str],
    values: Mapping[str, Float[np.ndarray, "N"]],
    colors: tuple[str, str],
) -> None:
    """Two bars a row, the second hollow, each with its number."""
    rows = np.arange(len(names))
    furthest = max(each.max() for each in values.values())
    looks = zip(values.items(), colors, (-0.2, 0.2), (True, False), strict=True)
    for (name, each), color, shift, filled in looks:
        face = color if filled else PAPER
        axes.barh(rows + shift, each, 0.34, fc=face, ec=color, lw=1.2, label=name)
        for row, value in zip(rows, each, strict=True):
            axes.text(
                value + 0.01 * furthest,
                row + shift,
                f"{value:.3f}",
                va="center",
                fontsize=9,
            )
    axes.set_yticks(rows, names)
    axes.invert_yaxis()
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
    axes.set(xlim=(0, 1.18 * furthest))
    axes.legend(frameon=False, loc="lower right")


@styled
def passes(
    widths: Sequence[int],
    measured: Float[np.ndarray, "N"],
    expected: Float[np.ndarray, "N"],
) -> BookFigure:
    """Share of a change that passes a layer norm, against the number of features."""
    drawing = figure(2.9)
    axes = drawing.subplots()
    axes.semilogx(widths, expected, color=MUTED, ls="--", lw=1.2)
    axes.semilogx(widths, measured, "o", color=NORM, ms=7)
    axes.axhline(1, color=INK, lw=0.6, ls=":")
    for width, value in zip(widths, measured, strict=True):
        axes.annotate(
            f"{value:.2f}",
            (width, value),
            (8, -13),
            textcoords="offset points",
            fontsize=9.5,
        )
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.minorticks_off()
    axes.set(
        title="share of a change that passes the norm",
        xlabel="features of a token",
        xlim=(widths[0] * 0.8, widths[-1] * 1.5),
        ylim=(-0.14, 1.1),
    )
    return drawing
