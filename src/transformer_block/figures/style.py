"""One look for every figure: what a color means, how wide a page is, how SVG is made.

A figure shows itself as SVG in a notebook, the same bytes each time: no date, ids from
a fixed salt, glyphs as paths. Text stays legible on a page 390 px wide, so figures are
5 inches wide and stack their panels.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from typing import Any, ParamSpec

import matplotlib as mpl
import numpy as np
from jaxtyping import Num
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, MUTED, PAPER = "#1c1e21", "#5b626b", "#fdfdfb"
STREAM, ATTENTION, FEED_FORWARD = "#0b62a4", "#c24e00", "#00795a"
NORM, MASKED = "#8a3c96", "#8d949c"
"""One color for one thing in the whole book; figures say it in words too."""

WIDTH = 5.0
STYLE: Any = {  # matplotlib types its keys one by one
    "axes.edgecolor": MUTED,
    "axes.facecolor": PAPER,
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "figure.constrained_layout.use": True,
    "figure.dpi": 72,
    "figure.facecolor": PAPER,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "image.cmap": "RdBu_r",
    "lines.linewidth": 1.8,
    "svg.fonttype": "path",
    "svg.hashsalt": "transformer-block",
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 9.5,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 9.5,
}

P = ParamSpec("P")


class BookFigure(Figure):
    """A figure that a notebook shows as SVG, without a line of setup there."""

    def _repr_svg_(self) -> str:
        """Draw the figure; the same figure gives the same bytes."""
        with mpl.rc_context(STYLE):
            sink = io.StringIO()
            self.savefig(sink, format="svg", metadata={"Date": None})
        return sink.getvalue()


def styled(draw: Callable[P, BookFigure]) -> Callable[P, BookFigure]:
    """Give a figure function the book's look, whatever the reader's settings are."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> BookFigure:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(STYLE)
            return draw(*args, **kwargs)

    return drawn


def figure(height: float) -> BookFigure:
    """Start an empty figure of the page's width; heights are inches."""
    return BookFigure(figsize=(WIDTH, height))


def bare(axes: Axes) -> Axes:
    """Take ticks and frame away, for drawings that are not plots."""
    axes.set_axis_off()
    axes.set_aspect("equal")
    return axes


def matrix(axes: Axes, values: Num[np.ndarray, "M N"], limit: float) -> None:
    """Draw a matrix as colored cells with its numbers, for color is no sole bearer."""
    axes.pcolormesh(
        values, vmin=-limit, vmax=limit, cmap="RdBu_r", edgecolors=PAPER, linewidth=1.5
    )
    axes.invert_yaxis()
    axes.set_aspect("equal")
    for (row, column), value in np.ndenumerate(values):
        color = "white" if abs(value) > 0.6 * limit else INK
        label = f"{value:.2f}".replace("-", "−")
        axes.text(
            column + 0.5,
            row + 0.5,
            label,
            ha="center",
            va="center",
            color=color,
            fontsize=9,
        )
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
