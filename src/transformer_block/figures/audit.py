"""What an audit found: moves that should be none, contracts, sizes of faults."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from transformer_block.figures.style import (
    ATTENTION,
    INK,
    MASKED,
    MUTED,
    STREAM,
    BookFigure,
    figure,
    matrix,
    styled,
)

_SIGNS = (
    ("broken", "X", 7.0, ATTENTION),
    ("held", ".", 3.0, MASKED),
    ("not applicable", "_", 6.0, MUTED),
)
_NEAR, _FAR = 1e-5, 10.0
"""From thresholds to outputs: what is larger than these is drawn at the edge."""


@styled
def moves(moved: Float[np.ndarray, "N T"], names: Sequence[str]) -> BookFigure:
    """Draw how far each earlier output moved, as numbers, a row for each test."""
    drawing = figure(0.45 * len(names) + 0.75)
    axes = drawing.subplots()
    matrix(axes, moved, float(moved.max()))
    axes.set_aspect("auto")
    axes.set_yticks(np.arange(len(names)) + 0.5, names)
    axes.set_xticks(
        np.arange(moved.shape[1]) + 0.5, [f"{t}" for t in range(moved.shape[1])]
    )
    axes.set_xlabel("position of the output")
    return drawing


@styled
def findings(states: Mapping[str, Mapping[str, str]]) -> BookFigure:
    """Draw a row for each block, a column for each contract, a sign in each place."""
    drawing = figure(0.32 * len(states) + 1.9)
    axes = drawing.subplots()
    contracts = list(dict.fromkeys(name for found in states.values() for name in found))
    for state, marker, size, color in _SIGNS:
        spots = [
            (contracts.index(contract), row)
            for row, found in enumerate(states.values())
            for contract, said in found.items()
            if said == state
        ]
        across, down = zip(*spots, strict=True) if spots else ((), ())
        axes.plot(across, down, marker, color=color, ms=size, label=state)
    axes.set_xticks(range(len(contracts)), contracts, rotation=90)
    _name_rows(axes, states)
    axes.xaxis.tick_top()
    axes.set(xlim=(-0.6, len(contracts) - 0.4), ylim=(len(states) - 0.4, -0.6))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    handles = [line for line in axes.lines if len(line.get_xdata())]  # type: ignore[arg-type]
    drawing.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return drawing


@styled
def violations(
    sizes: Mapping[str, Mapping[str, float]], thresholds: tuple[float, float]
) -> BookFigure:
    """Draw how large each violation is, a row for each block, on a logarithmic axis.

    The band reaches from the least to the largest threshold; left of it is what
    rounding explains. A size beyond the axis stands at its edge, as an arrow.
    """
    drawing = figure(0.32 * len(sizes) + 1.0)
    axes = drawing.subplots()
    for row, found in enumerate(sizes.values()):
        inside = [size for size in found.values() if size < _FAR]
        axes.plot(
            inside, [row] * len(inside), "o", color=ATTENTION, ms=6, mec=INK, mew=0.6
        )
        if len(inside) < len(found):
            axes.plot([_FAR], [row], ">", color=ATTENTION, ms=7, mec=INK, mew=0.6)
    axes.axvspan(*thresholds, color=MASKED, alpha=0.35, lw=0)
    axes.text(
        thresholds[1] * 1.4, -0.9, "thresholds", color=MUTED, fontsize=9, va="center"
    )
    axes.hlines(range(len(sizes)), _NEAR / 2, _FAR, color=MASKED, lw=0.4, zorder=0)
    axes.set_xscale("log")
    axes.set(xlim=(_NEAR / 2, _FAR * 1.5), ylim=(len(sizes) - 0.4, -1.5))
    _name_rows(axes, sizes)
    axes.set_xlabel("size of the violation")
    axes.minorticks_off()
    axes.spines["left"].set_visible(False)
    return drawing


@styled
def two_placements(
    own: Float[np.ndarray, "N"],
    other: Float[np.ndarray, "N"],
    sizes: Mapping[str, Float[np.ndarray, "L"]],
) -> BookFigure:
    """Draw one output against the other, and the stream's size behind each block."""
    drawing = figure(5.6)
    above, below = drawing.subplots(2, height_ratios=(3, 2))
    limit = 1.05 * float(np.abs([own, other]).max())
    above.axline((0.0, 0.0), slope=1.0, color=MUTED, lw=0.8)
    above.plot(own, other, "o", color=STREAM, ms=3.5, alpha=0.7, mew=0)
    above.text(
        0.97 * limit,
        0.82 * limit,
        "equal",
        color=MUTED,
        ha="right",
        va="top",
        fontsize=9,
    )
    above.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    above.set(xlabel="feature, post-norm block", ylabel="pre-norm block")
    for (name, values), color in zip(sizes.items(), (STREAM, ATTENTION), strict=True):
        depth = np.arange(1, len(values) + 1)
        below.plot(depth, values, "o-" if color == STREAM else "s-", color=color, ms=4)
        below.annotate(
            name,
            (depth[-1], values[-1]),
            (0, 7),
            textcoords="offset points",
            color=color,
            ha="right",
        )
    below.set(xlabel="block", ylabel="size of a feature", ylim=(0.0, None))
    return drawing


def _name_rows(axes: Axes, names: Iterable[str]) -> None:
    """Label rows with names of faults, the long ones on two lines."""
    words = [textwrap.fill(name.replace("_", " "), 24) for name in names]
    axes.set_yticks(range(len(words)), words, fontsize=9, linespacing=0.95)
    axes.tick_params(axis="y", length=0)
