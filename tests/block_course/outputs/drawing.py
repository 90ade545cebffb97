"""One real matplotlib figure with everything a chapter draws, and a knob for everything that may go wrong."""

import io
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

STYLE = {"svg.hashsalt": "tests", "svg.fonttype": "path", "figure.dpi": 72, "font.family": "DejaVu Sans"}


def _weights() -> np.ndarray:
    return np.random.default_rng(3).uniform(0.1, 0.9, (4, 6))


def _mask() -> np.ndarray:
    return np.tri(5, 7)


def losses(steps: int) -> np.ndarray:
    """The loss of gradient descent on 2.3 x² / 2 from x = 2, one value a step."""
    return 2.3 / 2 * (2 * (1 - 2.3 * 0.15) ** np.arange(steps)) ** 2


@dataclass(frozen=True)
class Picture:
    heights: np.ndarray = field(default_factory=lambda: np.array([1.0, 2.7, 1.9]))
    weights: np.ndarray = field(default_factory=_weights)
    mask: np.ndarray = field(default_factory=_mask)
    curve: np.ndarray = field(default_factory=lambda: losses(12))
    title: str = "Loss of $x^2$"
    x_label: str = "step"
    y_label: str = "loss"
    color: str = "#c24e00"
    dash: str | tuple[int, tuple[int, int]] = "--"
    markers: int = 12
    fontsize: float = 10
    cells: Literal["raster", "mesh"] = "mesh"

    @cached_property
    def svg(self) -> str:
        with mpl.rc_context(STYLE):
            figure = Figure(figsize=(7, 5))
            (bars, curve), (weights, mask) = figure.subplots(2, 2)
            bars.bar(np.arange(len(self.heights)), self.heights)
            bars.set(ylim=(0, 3), xticks=[])
            self._draw_curve(curve)
            self._draw_cells(weights, self.weights)
            self._draw_cells(mask, self.mask)
            sink = io.StringIO()
            figure.savefig(sink, format="svg", metadata={"Date": None})
        return sink.getvalue()

    def _draw_curve(self, axes: Axes) -> None:
        axes.plot(self.curve, color=self.color, linestyle=self.dash)
        axes.scatter(np.arange(self.markers), self.curve[: self.markers], s=9)
        axes.set(xlim=(-1, 14), ylim=(0, 5))
        axes.set_title(self.title, fontsize=self.fontsize)
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)

    def _draw_cells(self, axes: Axes, values: np.ndarray) -> None:
        draw = axes.imshow if self.cells == "raster" else axes.pcolormesh
        draw(values, vmin=0, vmax=1)
        axes.set(xticks=[], yticks=[])

    def with_noise(self, size: float, seed: int) -> "Picture":
        """The same picture from inputs that are each off by a random relative error of about `size`."""
        generator = np.random.default_rng(seed)
        arrays = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(
            self,
            **{
                name: value * (1 + size * generator.standard_normal(value.shape))
                for name, value in arrays.items()
                if isinstance(value, np.ndarray)
            },
        )


def scaled(values: np.ndarray, place: tuple[int, ...], factor: float) -> np.ndarray:
    """A copy in which one value is multiplied."""
    changed = values.copy()
    changed[place] *= factor
    return changed
