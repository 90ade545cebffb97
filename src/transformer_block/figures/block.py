"""Figures of the chapter on the whole block."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.patches import Rectangle

from transformer_block.figures.style import (
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


@styled
def first_gap(
    gaps: Mapping[str, Mapping[str, float]], agree: float = 1e-9
) -> BookFigure:
    """How far two blocks are apart at each stage, a row for each fault.

    Stages that agree are left empty; the first that doesn't is filled.
    """
    stages = list(next(iter(gaps.values())))
    drawing = figure(0.36 * len(gaps) + 1.0)
    axes = drawing.subplots()
    for row, by_stage in enumerate(gaps.values()):
        apart = [stage for stage in stages if by_stage[stage] > agree]
        for column, stage in enumerate(stages):
            first = bool(apart) and stage == apart[0]
            face = STREAM if first else PAPER
            axes.add_patch(
                Rectangle((column, row), 1, 1, facecolor=face, edgecolor=MUTED, lw=0.6)
            )
            label = f"{by_stage[stage]:.1g}" if stage in apart else "="
            color = "white" if first else INK if stage in apart else MUTED
            axes.text(
                *(column + 0.5, row + 0.52, label),
                ha="center",
                va="center",
                color=color,
                fontsize=9,
            )
    names = [stage.replace("feed_forward", "feed_\nforward") for stage in stages]
    axes.set_xticks(np.arange(len(stages)) + 0.5, names, fontsize=9)
    axes.set_yticks(np.arange(len(gaps)) + 0.5, list(gaps))
    axes.set(xlim=(0, len(stages)), ylim=(len(gaps), 0))
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return drawing


@styled
def terms(
    rows: Mapping[str, Float[np.ndarray, "N"]], rules: tuple[int, ...]
) -> BookFigure:
    """Features of one token in rows of numbers, with a rule below some of the rows."""
    values = np.stack(list(rows.values()))
    drawing = figure(0.42 * len(rows) + 0.75)
    axes = drawing.subplots()
    matrix(axes, values, limit=np.abs(values).max())
    axes.set_yticks(np.arange(len(rows)) + 0.5, list(rows))
    axes.set_xticks(np.arange(values.shape[1]) + 0.5, np.arange(values.shape[1]) + 1)
    axes.set_xlabel("feature")
    for row in rules:
        axes.axhline(row, color=INK, lw=1.4)
    return drawing


@styled
def sureness(sure: Mapping[str, Float[np.ndarray, "N"]]) -> BookFigure:
    """Probability of the likeliest word behind each block, for two ways to read it."""
    drawing = figure(2.8)
    axes = drawing.subplots()
    looks = ((STREAM, "o-"), (NORM, "D--"))
    for (name, values), (color, mark) in zip(sure.items(), looks, strict=True):
        blocks = np.arange(len(values))
        axes.plot(blocks, values, mark, color=color, ms=4.5)
        axes.annotate(
            name,
            (blocks[-1], values[-1]),
            (0, 9),
            textcoords="offset points",
            ha="right",
            color=color,
        )
    axes.set(xlabel="blocks passed", ylabel="probability of the first word")
    axes.set_ylim(0, 1.25 * max(values.max() for values in sure.values()))
    axes.set_xticks(blocks[::2])
    return drawing
