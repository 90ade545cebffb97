"""Figures of the chapter on layer normalization."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle

from transformer_block.figures.style import (
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


@styled
def before_and_after(
    token: Float[np.ndarray, "D"], normalized: Float[np.ndarray, "D"]
) -> BookFigure:
    """One token's features on a number line, above where layer norm puts them."""
    drawing = figure(2.9)
    above, below = drawing.subplots(2, 1)
    for axes, values, color, name in (
        (above, token, STREAM, "before"),
        (below, normalized, NORM, "after"),
    ):
        mean, spread = values.mean(), values.std()
        axes.axvspan(mean - spread, mean + spread, color=color, alpha=0.13, lw=0)
        axes.axvline(mean, 0, 0.3, color=color, lw=1.2, ls="--")
        axes.plot(values, np.zeros_like(values), "o", color=color, ms=9)
        for value in values:
            label = f"{value:.3f}".rstrip("0").rstrip(".")
            axes.annotate(
                label.replace("-", "−"),
                (value, 0),
                (0, 9),
                textcoords="offset points",
                ha="center",
            )
        axes.set_title(f"{name}: mean {mean:.1f}, mean ± spread shaded", color=color)
        axes.set_xlim(mean - 2 * spread, mean + 2 * spread)
        axes.set_ylim(-0.6, 1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
    below.set_xlabel("value of a feature")
    return drawing


@styled
def what_is_left(
    pairs: Float[np.ndarray, "N 2"],
    triples: Float[np.ndarray, "M 3"],
    pairs_after: Float[np.ndarray, "N 2"],
    triples_after: Float[np.ndarray, "M 3"],
) -> BookFigure:
    """Tokens of two and three features: before layer norm hollow, after it filled."""
    drawing = figure(2.75)
    left, right = drawing.subplots(1, 2)
    # an orthonormal basis of the directions in which three features differ
    basis = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2.0], [6.0]])
    _move(left, pairs, pairs_after)
    left.axline((0, 0), slope=-1, color=MUTED, lw=1, ls=":")
    left.set(
        title="2 features: 2 points are left", xlabel="feature 1", ylabel="feature 2"
    )
    _move(right, triples @ basis.T, triples_after @ basis.T)
    right.add_patch(Circle((0, 0), np.sqrt(3), fill=False, color=MUTED, lw=1, ls=":"))
    right.set(
        title="3 features: a circle is left",
        xlabel="1 against 2",
        ylabel="1 and 2 against 3",
    )
    right.set(xticks=[], yticks=[])
    left.set(xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    furthest = 1.08 * max(
        np.abs(pairs).max(), np.linalg.norm(triples @ basis.T, axis=1).max()
    )
    for axes in (left, right):
        axes.set(xlim=(-furthest, furthest), ylim=(-furthest, furthest), aspect="equal")
    return drawing


def _move(
    axes: Axes, before: Float[np.ndarray, "N 2"], after: Float[np.ndarray, "N 2"]
) -> None:
    for start, end in zip(before, after, strict=True):
        axes.plot(*np.stack([start, end], axis=1), color=MUTED, lw=0.5, alpha=0.6)
    axes.plot(*before.T, "o", mfc=PAPER, mec=STREAM, ms=4, mew=0.9)
    axes.plot(*after.T, "o", color=NORM, ms=6)


@styled
def shared_statistics(batch: int, positions: int, features: int) -> BookFigure:
    """Entries of a (B, T, D) tensor that share a mean: layer norm and batch norm."""
    drawing = figure(4.3)
    above, below = drawing.subplots(2, 1)
    starts = [item * (features + 1.9) for item in range(batch)]
    _grid(above, starts, positions, features, lambda item, t, d: item == 0 and t == 1)
    above.set_title("layer norm: one mean for each token")
    above.text(features + 0.1, -0.56, "one\nmean", va="center", color=NORM)
    _grid(below, starts, positions, features, lambda item, t, d: d == 1)
    below.set_title("batch norm: one mean for each feature")
    bottom, ends = (
        1 - positions - 0.55,
        [start + 1.46 for start in (starts[0], starts[-1])],
    )
    below.plot(
        [ends[0], ends[0], ends[1], ends[1]],
        [bottom + 0.35, bottom, bottom, bottom + 0.35],
        color=NORM,
    )
    below.text(
        sum(ends) / 2, bottom - 0.2, "one mean", ha="center", va="top", color=NORM
    )
    return drawing


def _grid(
    axes: Axes,
    starts: list[float],
    positions: int,
    features: int,
    shares: Callable[[int, int, int], bool],
) -> None:
    bare(axes)
    for item, start in enumerate(starts):
        axes.text(
            start + features / 2,
            1.15,
            f"item {item}: {features} features",
            ha="center",
            fontsize=9.5,
        )
        for t in range(positions):
            if item == 0:
                axes.text(
                    -0.15,
                    0.44 - t,
                    f"t={t}",
                    ha="right",
                    va="center",
                    color=MUTED,
                    fontsize=9,
                )
            for d in range(features):
                face = NORM if shares(item, t, d) else PAPER
                axes.add_patch(
                    Rectangle(
                        (start + d, -t),
                        0.92,
                        0.92,
                        facecolor=face,
                        edgecolor=MUTED,
                        lw=0.8,
                    )
                )
    axes.set(xlim=(-0.9, starts[-1] + features + 0.1), ylim=(1 - positions - 1.3, 1.8))


@styled
def jacobian(derivative: Float[np.ndarray, "D D"]) -> BookFigure:
    """The derivative of each output feature by each input feature."""
    drawing = figure(3.6)
    axes = drawing.subplots()
    matrix(axes, derivative, limit=np.abs(derivative).max())
    ticks = np.arange(len(derivative))
    axes.set_xticks(ticks + 0.5, ticks + 1)
    axes.set_yticks(ticks + 0.5, ticks + 1)
    axes.set(
        title="∂(output feature) / ∂(input feature)",
        xlabel="input feature",
        ylabel="output feature",
    )
    return drawing


@styled
def singular_values(values: Mapping[int, Float[np.ndarray, "_"]]) -> BookFigure:
    """Singular values of layer norm's derivative, times s: a row for each width."""
    drawing = figure(2.5)
    axes = drawing.subplots()
    for row, each in enumerate(values.values()):
        for place, value in enumerate(each, start=1):
            face, ink = (NORM, "white") if value > 0.5 else (PAPER, INK)
            axes.plot(place, row, "o", ms=21, mfc=face, mec=NORM, mew=1)
            axes.text(
                place,
                row,
                f"{value:.1f}",
                ha="center",
                va="center",
                color=ink,
                fontsize=9,
            )
    axes.set_yticks(range(len(values)), [f"D = {width}" for width in values])
    axes.set(title="singular values × s: 1 passes, 0 is lost", xlabel="largest first")
    axes.set(xticks=[], xlim=(0.4, max(values) + 0.6), ylim=(len(values) - 0.4, -0.6))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return drawing


@styled
def eps_curve(
    spread: Float[np.ndarray, "N"], variance: Mapping[float, Float[np.ndarray, "N"]]
) -> BookFigure:
    """Variance after layer norm against the spread before, for several eps, rising."""
    drawing = figure(2.9)
    axes = drawing.subplots()
    looks = (
        (NORM, "-", "left", (8, -4)),
        (STREAM, "--", "right", (-6, 16)),
        (FEED_FORWARD, "-.", "left", (8, -4)),
    )
    for (eps, values), (color, dash, side, shift) in zip(
        variance.items(), looks, strict=True
    ):
        axes.semilogx(spread, values, color=color, ls=dash)
        half = np.interp(0.5, values, spread)
        axes.plot(half, 0.5, "o", color=color, ms=6)
        axes.plot(np.interp(0.99, values, spread), 0.99, "|", color=color, ms=12, mew=2)
        label = f"eps = 1e−{-round(np.log10(eps))}"
        axes.annotate(
            label, (half, 0.5), shift, textcoords="offset points", color=color, ha=side
        )
    axes.axhline(1, color=INK, lw=0.6, ls=":")
    axes.set(
        xlabel="spread of the token before", ylabel="variance after", ylim=(-0.03, 1.08)
    )
    return drawing
