"""Figures of the chapter on layer normalization."""

from __future__ import annotations

from collections.abc import Mapping

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
    pairs: Float[np.ndarray, "N 2"], triples: Float[np.ndarray, "M 3"]
) -> BookFigure:
    """Tokens of two and three features, before layer norm (hollow) and after it."""
    drawing = figure(2.75)
    left, right = drawing.subplots(1, 2)
    # an orthonormal basis of the directions in which three features differ
    basis = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2.0], [6.0]])
    _move(left, pairs, _normalized(pairs))
    left.axline((0, 0), slope=-1, color=MUTED, lw=1, ls=":")
    left.set(
        title="2 features: 2 points are left", xlabel="feature 1", ylabel="feature 2"
    )
    _move(right, triples @ basis.T, _normalized(triples) @ basis.T)
    right.add_patch(Circle((0, 0), np.sqrt(3), fill=False, color=MUTED, lw=1, ls=":"))
    right.set(
        title="3 features: a circle is left",
        xlabel="feature 1 − feature 2",
        ylabel="both − feature 3",
    )
    for axes, limit in ((left, 3.2), (right, 3.2)):
        axes.set(
            xlim=(-limit, limit),
            ylim=(-limit, limit),
            aspect="equal",
            xticks=[-2, 0, 2],
            yticks=[-2, 0, 2],
        )
    return drawing


def _normalized(x: Float[np.ndarray, "N D"]) -> Float[np.ndarray, "N D"]:
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)


def _move(
    axes: Axes, before: Float[np.ndarray, "N 2"], after: Float[np.ndarray, "N 2"]
) -> None:
    for start, end in zip(before, after, strict=True):
        axes.plot(*np.stack([start, end], axis=1), color=MUTED, lw=0.5, alpha=0.6)
    axes.plot(*before.T, "o", mfc=PAPER, mec=STREAM, ms=4, mew=0.9)
    axes.plot(*after.T, "o", color=NORM, ms=6)


@styled
def shared_statistics(batch: int, positions: int, features: int) -> BookFigure:
    """Which entries of a (B, T, D) tensor share one mean: layer and batch norm."""
    drawing = figure(3.9)
    rows = {
        "layer norm: one mean for each token": lambda b, t, d: b == 0 and t == 1,
        "batch norm: one mean for each feature": lambda b, t, d: d == 1,
    }
    for axes, (title, shares) in zip(drawing.subplots(2, 1), rows.items(), strict=True):
        bare(axes)
        axes.set_title(title)
        for b, t, d in np.ndindex(batch, positions, features):
            x, y = b * (features + 1.6) + d, -t
            face = NORM if shares(b, t, d) else PAPER
            axes.add_patch(
                Rectangle((x, y), 0.92, 0.92, facecolor=face, edgecolor=MUTED, lw=0.8)
            )
            if shares(b, t, d):
                axes.text(
                    x + 0.46, y + 0.44, "μ", color="white", ha="center", va="center"
                )
        for b in range(batch):
            start = b * (features + 1.6)
            axes.text(
                start + features / 2,
                1.15,
                f"item {b}: {features} features",
                ha="center",
                fontsize=9.5,
            )
            for t in range(positions):
                axes.text(
                    start - 0.15,
                    0.44 - t,
                    f"t={t}",
                    ha="right",
                    va="center",
                    color=MUTED,
                    fontsize=9,
                )
        axes.set(
            xlim=(-0.9, batch * (features + 1.6) - 1.2), ylim=(1 - positions - 0.1, 1.8)
        )
    return drawing


@styled
def jacobian(
    derivative: Float[np.ndarray, "D D"], singular: Mapping[int, Float[np.ndarray, "_"]]
) -> BookFigure:
    """The derivative of each output by each input, and singular values for each D."""
    drawing = figure(5.6)
    above, below = drawing.subplots(2, 1, height_ratios=[3, 2])
    matrix(above, derivative, limit=np.abs(derivative).max())
    ticks = np.arange(len(derivative))
    above.set_title("∂(output feature) / ∂(input feature), 4 features")
    above.set_xticks(ticks + 0.5, ticks + 1)
    above.set_yticks(ticks + 0.5, ticks + 1)
    above.set(xlabel="input feature", ylabel="output feature")
    for row, values in enumerate(singular.values()):
        for rank, value in enumerate(values, start=1):
            passes = value > 0.5
            face, ink = (NORM, "white") if passes else (PAPER, INK)
            below.plot(rank, row, "o", ms=21, mfc=face, mec=NORM, mew=1)
            below.text(
                rank,
                row,
                f"{value:.1f}",
                ha="center",
                va="center",
                color=ink,
                fontsize=9,
            )
    below.set_title("singular values × spread: 1 passes, 0 is lost")
    below.set_yticks(range(len(singular)), [f"D = {width}" for width in singular])
    below.set(
        xlabel="rank of the singular value",
        xlim=(0.4, max(singular) + 0.6),
        ylim=(len(singular) - 0.4, -0.6),
    )
    below.tick_params(length=0)
    below.spines[:].set_visible(False)
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
        label = f"eps = 1e−{-round(np.log10(eps))}"
        axes.annotate(
            label, (half, 0.5), shift, textcoords="offset points", color=color, ha=side
        )
    axes.axhline(1, color=INK, lw=0.6, ls=":")
    axes.set(
        xlabel="spread of the token before", ylabel="variance after", ylim=(-0.03, 1.08)
    )
    return drawing
