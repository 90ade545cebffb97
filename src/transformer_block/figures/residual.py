"""Figures of the chapter on the residual stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from transformer_block.figures.style import (
    ATTENTION,
    FEED_FORWARD,
    INK,
    MUTED,
    NORM,
    STREAM,
    BookFigure,
    figure,
    styled,
)

_LOOKS = ((STREAM, "-", "o"), (FEED_FORWARD, "--", "s"), (NORM, "-.", "^"))


@styled
def update(token: Float[np.ndarray, "2"], added: Float[np.ndarray, "2"]) -> BookFigure:
    """A token of two features, what is added to it, and their sum, as arrows."""
    drawing = figure(3.4)
    axes = drawing.subplots()
    total = token + added
    zero = np.zeros(2)
    arrows = (
        (zero, token, STREAM, "-", "token", (-72, -20)),
        (token, total, FEED_FORWARD, "--", "update", (8, -4)),
        (zero, total, INK, "-", "sum", (-46, 9)),
    )
    for start, end, color, dash, name, shift in arrows:
        axes.annotate(
            "",
            tuple(end),
            tuple(start),
            arrowprops={"arrowstyle": "-|>", "color": color, "ls": dash, "lw": 2},
        )
        vector = ", ".join(f"{value:.1f}" for value in end - start).replace("-", "−")
        axes.annotate(
            f"{name} [{vector}]",
            tuple((start + end) / 2),
            shift,
            textcoords="offset points",
            color=color,
        )
    axes.axhline(0, color=MUTED, lw=0.6, ls=":")
    axes.axvline(0, color=MUTED, lw=0.6, ls=":")
    furthest = np.max([token, total, zero], axis=0) + np.array([0.55, 0.3])
    lowest = np.min([token, total, zero], axis=0) - np.array([0.15, 0.25])
    axes.set(xlim=(lowest[0], furthest[0]), ylim=(lowest[1], furthest[1]))
    axes.set(xlabel="feature 1", ylabel="feature 2", aspect="equal")
    axes.xaxis.set_major_locator(MultipleLocator(0.5))
    axes.yaxis.set_major_locator(MultipleLocator(0.5))
    return drawing


@styled
def by_depth(
    depths: Sequence[int], curves: Mapping[str, Float[np.ndarray, "N"]], what: str
) -> BookFigure:
    """What is left after some layers, one curve a kind, on two logarithmic axes."""
    drawing = figure(3.3)
    axes = drawing.subplots()
    for (name, values), (color, dash, mark) in zip(
        curves.items(), _LOOKS, strict=False
    ):
        axes.loglog(depths, values, color=color, ls=dash, marker=mark, ms=5)
        axes.annotate(
            name,
            (depths[-1], values[-1]),
            (9, 0),
            textcoords="offset points",
            color=color,
            va="center",
        )
    axes.plot([depths[0], depths[-1]], [1, 1], color=INK, lw=0.6, ls=":")
    axes.set_xticks(depths, [str(depth) for depth in depths])
    axes.minorticks_off()
    axes.margins(y=0.09)
    axes.set(xlabel="layers", title=what, xlim=(depths[0] * 0.9, depths[-1] * 6))
    return drawing


@styled
def one_layer(
    branch: Float[np.ndarray, "D"], layer: Float[np.ndarray, "D"]
) -> BookFigure:
    """Singular values of a branch's derivative, and of the layer with the skip."""
    drawing = figure(2.8)
    axes = drawing.subplots()
    _values(axes, {"branch alone: J": branch, "with the skip: I + J": layer})
    axes.set(title="singular values, largest first", ylim=(-0.1, None))
    return drawing


@styled
def many_layers(
    plain: Float[np.ndarray, "D"], residual: Float[np.ndarray, "D"]
) -> BookFigure:
    """Singular values of the derivative of a whole stack, plain and with skips."""
    drawing = figure(2.8)
    axes = drawing.subplots()
    _values(axes, {"without skips": plain, "with skips": residual})
    axes.set(title="singular values of the stack, largest first", ylim=(-0.2, None))
    return drawing


def _values(axes: Axes, values: Mapping[str, Float[np.ndarray, "D"]]) -> None:
    looks = ((FEED_FORWARD, "s", "white"), (STREAM, "o", None))
    for (name, each), (color, mark, face) in zip(values.items(), looks, strict=True):
        place = np.arange(1, len(each) + 1)
        axes.plot(place, each, mark, ms=4.5, mec=color, mfc=face or color, label=name)
    axes.axhline(1, color=INK, lw=0.6, ls=":")
    axes.axhline(0, color=MUTED, lw=0.6)
    axes.legend(frameon=False, handletextpad=0.3)
    axes.set(xlabel="direction")


@styled
def paths(
    of_paths: Float[np.ndarray, "N"], of_gradient: Float[np.ndarray, "N"]
) -> BookFigure:
    """Share of all paths, and of the gradient, that passes so many branches."""
    drawing = figure(3.0)
    axes = drawing.subplots()
    lengths = np.arange(len(of_paths))
    axes.bar(lengths, of_gradient, 0.75, color=STREAM, label="of the gradient")
    axes.plot(
        lengths,
        of_paths,
        "o--",
        color=ATTENTION,
        ms=5,
        lw=1.2,
        mec="white",
        label="of the paths",
    )
    axes.legend(frameon=False, title="share", alignment="left")
    axes.set(xlabel="branches on the path", xticks=lengths[::2], ylim=(0, None))
    axes.yaxis.set_major_locator(MultipleLocator(0.1))
    return drawing
