"""Figures of the chapter on a trained encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from transformer_block.figures.style import (
    ATTENTION,
    FEED_FORWARD,
    INK,
    MUTED,
    NORM,
    STREAM,
    BookFigure,
    figure,
    matrix,
    styled,
)

Curves = Mapping[str, Float[np.ndarray, "L"]]


@styled
def similarities(
    cosines: Float[np.ndarray, "N N"], sentences: Sequence[str]
) -> BookFigure:
    """The cosine of each pair of sentences, each row labeled with its sentence."""
    drawing = figure(3.3)
    axes = drawing.subplots()
    matrix(axes, cosines, limit=1.0)
    ticks = np.arange(len(sentences)) + 0.5
    axes.set_xticks(ticks, [f"{number + 1}" for number in range(len(sentences))])
    names = [_numbered(n, each) for n, each in enumerate(sentences)]
    axes.set_yticks(ticks, names, fontsize=9)
    axes.xaxis.tick_top()
    return drawing


def _numbered(number: int, sentence: str) -> str:
    words, half = sentence.split(), (len(sentence) + 1) // 2
    first = words[0]
    while len(words) > 1 and len(first) + len(words[1]) < half + 2:
        words = words[1:]
        first += f" {words[0]}"
    rest = sentence.removeprefix(first).strip()
    return f"{number + 1}  {first}\n{rest}" if rest else f"{number + 1}  {first}"


@styled
def by_depth(
    related: Float[np.ndarray, "L"], others: Float[np.ndarray, "L"]
) -> BookFigure:
    """Mean cosine after the embeddings and each block: related pairs, all others."""
    drawing = figure(2.7)
    axes = drawing.subplots()
    places = np.arange(len(related))
    axes.fill_between(places, others, related, color=STREAM, alpha=0.12, lw=0)
    axes.plot(places, related, "o-", color=STREAM)
    axes.plot(places, others, "s--", color=MUTED)
    for values, name, up in ((related, "related", 9), (others, "all others", -16)):
        axes.annotate(
            name,
            (2, values[2]),
            (0, up),
            textcoords="offset points",
            ha="center",
            color=STREAM if up > 0 else MUTED,
        )
    axes.set(ylabel="mean cosine", ylim=(-0.05, 1), xlim=(-0.2, len(related) - 0.8))
    _name_depths(axes, len(related))
    return drawing


@styled
def errors(curves: Curves, floor: float) -> BookFigure:
    """Largest error after each depth, for each setting; below the floor is agreement.

    A setting that changes nothing at a depth has no mark there.
    """
    drawing = figure(3.4)
    axes = drawing.subplots()
    looks = zip((FEED_FORWARD, STREAM, ATTENTION, NORM), "o^sD", strict=True)
    ends = [values[-1] for values in curves.values()]
    for (name, values), (color, marker) in zip(curves.items(), looks, strict=True):
        shown = np.where(values > floor, values, np.nan)
        axes.semilogy(np.arange(len(values)), shown, marker + "-", color=color, ms=5)
        axes.annotate(
            name,
            (len(values) - 1, values[-1]),
            (7, _apart(values[-1], ends)),
            textcoords="offset points",
            va="center",
            color=color,
        )
    axes.axhspan(floor / 100, floor, color=INK, alpha=0.1, lw=0)
    axes.text(0, floor / 3, "right: agrees with transformers", va="top")
    axes.set(ylabel="largest error", ylim=(floor / 100, 1e3))
    depths = len(next(iter(curves.values())))
    axes.set_xlim(-0.3, depths - 0.7)
    _name_depths(axes, depths)
    return drawing


def _apart(end: float, ends: Sequence[float]) -> float:
    """Where a label goes so that it does not stand on that of a curve nearby."""
    near = [each for each in ends if each != end and 0.1 < each / end < 10]
    return 0.0 if not near else 5.0 if end > near[0] else -5.0


@styled
def gains(values: Float[np.ndarray, "N D"], names: Sequence[str]) -> BookFigure:
    """What each norm multiplies its features by: middle 90 %, middle half, extremes."""
    drawing = figure(0.26 * len(values) + 0.75)
    axes = drawing.subplots()
    low, quarter, middle, upper, high = np.percentile(values, [5, 25, 50, 75, 95], 1)
    rows = np.arange(len(values))
    axes.axvline(1, color=INK, lw=0.8, ls=":")
    axes.hlines(rows, low, high, color=NORM, lw=1)
    axes.hlines(rows, quarter, upper, color=NORM, lw=5)
    axes.plot(middle, rows, "|", color="white", ms=6, mew=1.5)
    for row, each in enumerate(values):
        for feature, side, gap in (
            (each.argmin(), "right", -5),
            (each.argmax(), "left", 5),
        ):
            axes.plot(each[feature], row, "o", color=NORM, ms=3.5)
            axes.annotate(
                f"{feature}",
                (each[feature], row),
                (gap, -0.5),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=9,
                color=MUTED,
            )
    axes.set_yticks(rows, names)
    axes.set(ylim=(len(values) - 0.4, -0.6), xlim=(-0.17, 1.75), xlabel="gain")
    axes.tick_params(axis="y", length=0)
    return drawing


@styled
def loud_features(
    values: Float[np.ndarray, "T N"], tokens: Sequence[str], features: Sequence[int]
) -> BookFigure:
    """A few features of each token, in numbers."""
    drawing = figure(0.33 * len(tokens) + 0.7)
    axes = drawing.subplots()
    matrix(axes, values, limit=np.abs(values).max())
    axes.set_aspect("auto")
    axes.set_xticks(np.arange(len(features)) + 0.5, [f"{each}" for each in features])
    axes.set_yticks(np.arange(len(tokens)) + 0.5, tokens)
    axes.xaxis.tick_top()
    axes.set_title("feature", fontsize=10, loc="center")
    return drawing


@styled
def updates(
    attention: Float[np.ndarray, "L"], feed_forward: Float[np.ndarray, "L"]
) -> BookFigure:
    """How long each branch's update is, as a share of the stream before the add."""
    drawing = figure(2.6)
    axes = drawing.subplots()
    blocks = np.arange(len(attention))
    for values, shift, color, hatch in (
        (100 * attention, -0.2, ATTENTION, ""),
        (100 * feed_forward, 0.2, FEED_FORWARD, "///"),
    ):
        axes.bar(
            blocks + shift, values, 0.38, color=color, hatch=hatch, edgecolor="white"
        )
        for block, value in zip(blocks, values, strict=True):
            axes.text(block + shift, value + 2, f"{value:.0f}", ha="center", fontsize=9)
    axes.text(-0.4, 102, "left of each pair: attention", color=ATTENTION)
    axes.text(
        len(blocks) - 0.6, 102, "right: feed-forward", color=FEED_FORWARD, ha="right"
    )
    axes.set_xticks(blocks, [f"block {block}" for block in blocks])
    axes.set(ylabel="update, in % of the stream", ylim=(0, 112))
    axes.tick_params(axis="x", length=0)
    return drawing


def _name_depths(axes: Axes, depths: int) -> None:
    axes.set_xticks(range(depths), ["e", *map(str, range(depths - 1))])
    axes.set_xlabel("after block (e: after the embeddings)")
