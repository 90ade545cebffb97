"""Figures of the chapter on number formats and modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from transformer_block.figures.style import (
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

_TOO_MANY_TO_SEE = 300
_MARKS = ("o", "s", "^", "D")


@styled
def grids(numbers: Mapping[str, Float[np.ndarray, "_"]], turn: float) -> BookFigure:
    """Which numbers each format has in an interval; a band where a mark each is none.

    turn is the power of two at which the step doubles.
    """
    drawing = figure(0.42 * len(numbers) + 0.7)
    axes = drawing.subplots()
    for row, each in enumerate(numbers.values()):
        if len(each) > _TOO_MANY_TO_SEE:
            width = each[-1] - each[0]
            band = Rectangle((each[0], row - 0.28), width, 0.56, facecolor=STREAM)
            axes.add_patch(band)
        else:
            axes.vlines(each, row - 0.28, row + 0.28, color=STREAM, lw=1.4)
    axes.axvline(turn, color=INK, lw=0.8, ls=":")
    axes.set_yticks(np.arange(len(numbers)), list(numbers))
    axes.set(ylim=(len(numbers) - 0.5, -0.5), xlabel="numbers that exist")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return drawing


@styled
def digits_by_depth(kept: Mapping[str, Float[np.ndarray, "L"]]) -> BookFigure:
    """Digits kept in the stream, as stored and behind each block; a line a format."""
    drawing = figure(2.7)
    axes = drawing.subplots()
    for (name, each), mark in zip(kept.items(), _MARKS, strict=False):
        axes.plot(np.arange(len(each)), each, mark + "-", color=STREAM, ms=4)
        axes.annotate(
            name,
            (len(each) - 1, each[-1]),
            (0, 5),
            textcoords="offset points",
            color=STREAM,
            ha="right",
        )
    last = max(len(each) for each in kept.values()) - 1
    axes.set_xticks(np.arange(0, last + 1, 3), ["stored", *range(3, last + 1, 3)])
    top = 1.15 * max(float(each.max()) for each in kept.values())
    axes.set(xlabel="behind block", ylabel="digits kept", ylim=(0, top))
    return drawing


@styled
def variance_errors(
    ratio: Float[np.ndarray, "N"],
    errors: Mapping[str, Float[np.ndarray, "N"]],
    stored: Float[np.ndarray, "N"],
) -> BookFigure:
    """Relative error of a token's variance against its mean in spreads.

    errors are those of two ways to compute it, the worse one first; stored is what
    storing the token has done to it before.
    """
    drawing = figure(3.3)
    axes = drawing.subplots()
    middle = len(ratio) // 2
    curves = [*errors.items(), ("storing the token", stored)]
    looks = (
        ("o-", NORM, middle, (-8, 2), "right"),
        ("s-", NORM, middle, (4, -14), "left"),
        (":", INK, middle + 1, (-2, 9), "right"),
    )
    for (name, each), (look, color, at, shift, side) in zip(curves, looks, strict=True):
        axes.loglog(ratio, each, look, color=color, ms=4)
        axes.annotate(
            name,
            (ratio[at], each[at]),
            shift,
            textcoords="offset points",
            color=color,
            ha=side,
        )
    axes.axhline(1.0, color=MUTED, lw=0.8, ls="--")
    said = "as large as the variance"
    axes.text(ratio[-1], 0.6, said, color=MUTED, fontsize=9.5, ha="right", va="top")
    axes.minorticks_off()
    axes.set(xlabel="mean of the token, in spreads", ylabel="relative error")
    return drawing


@styled
def positions(
    answers: Mapping[str, Float[np.ndarray, "B T"]], lengths: Int[np.ndarray, "B"]
) -> BookFigure:
    """What stands at each position: a number, 0 or NaN; padding is framed dotted.

    Each entry of answers is one number for each position, such as its largest feature.
    """
    drawing = figure(1.16 * len(answers) + 0.25)
    panels = drawing.subplots(len(answers), 1, squeeze=False)[:, 0]
    for axes, (name, each) in zip(panels, answers.items(), strict=True):
        for (row, column), value in np.ndenumerate(each):
            _position(axes, row, column, value, padded=bool(column >= lengths[row]))
        rows, columns = each.shape
        axes.set_title(name, fontsize=9.5, pad=2)
        axes.set(xlim=(-0.05, columns), ylim=(rows, -0.05))
        axes.set_yticks(np.arange(rows) + 0.45, [f"{int(n)} tokens" for n in lengths])
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return drawing


def _position(axes: Axes, row: int, column: int, value: float, *, padded: bool) -> None:
    word, fill, ink = "number", STREAM, "white"
    if np.isnan(value):
        word, fill, ink = "NaN", INK, "white"
    elif value == 0.0:
        word, fill, ink = "0", PAPER, INK
    box = Rectangle(
        (column, row),
        0.9,
        0.9,
        facecolor=fill if not padded or word != "number" else PAPER,
        edgecolor=INK if word == "0" else fill,
        ls=":" if padded else "-",
        lw=1.2,
    )
    axes.add_patch(box)
    color = fill if padded and word == "number" else ink
    axes.text(
        column + 0.45,
        row + 0.47,
        word,
        ha="center",
        va="center",
        color=color,
        fontsize=9,
    )


class Suspect(NamedTuple):
    """What may make two outputs differ: the digits that agree, and what kind it is."""

    digits: float
    kind: str


@styled
def ruler(suspects: Mapping[str, Suspect]) -> BookFigure:
    """How many digits agree under each suspect, the most at the top; a mark a kind."""
    ordered = sorted(suspects.items(), key=lambda item: -item[1].digits)
    kinds = dict.fromkeys(each.kind for each in suspects.values())
    marks = dict(zip(kinds, _MARKS, strict=False))
    drawing = figure(0.3 * len(ordered) + 0.95)
    axes = drawing.subplots()
    for row, (_, each) in enumerate(ordered):
        axes.hlines(row, 0, each.digits, color=MASKED, lw=0.8)
        axes.plot([each.digits], [row], marks[each.kind], color=STREAM, ms=7)
        axes.annotate(
            f"{each.digits:.1f}",
            (each.digits, row),
            (7, 0),
            textcoords="offset points",
            va="center",
        )
    axes.set_yticks(np.arange(len(ordered)), [name for name, _ in ordered])
    most = max(each.digits for each in suspects.values())
    axes.set(xlim=(0, 1.12 * most + 0.4), ylim=(len(ordered) - 0.4, -0.6))
    axes.set(xlabel="digits in which the outputs agree")
    axes.tick_params(axis="y", length=0)
    _key(axes, marks)
    return drawing


def _key(axes: Axes, marks: Mapping[str, str]) -> None:
    """What each mark means, in the lower right corner, where a sorted ruler is bare."""
    for row, (kind, mark) in enumerate(marks.items()):
        x, y = 0.97, 0.05 + 0.08 * (len(marks) - 1 - row)
        axes.plot([x], [y], mark, color=STREAM, ms=7, transform=axes.transAxes)
        axes.text(
            x - 0.03,
            y,
            kind,
            ha="right",
            va="center",
            fontsize=9.5,
            transform=axes.transAxes,
        )
