"""The book's look: the same bytes each time, whatever the reader's settings, and legible."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from transformer_block.figures import style

COLORS = {name: getattr(style, name) for name in ("STREAM", "ATTENTION", "FEED_FORWARD", "NORM")}
DRAW = """
import numpy as np
from transformer_block.figures.layer_norm import eps_curve
spread = np.logspace(-7, 0, 41)
print(eps_curve(spread, {eps: spread**2 / (spread**2 + eps) for eps in (1e-12, 1e-6, 1e-5)})._repr_svg_())
"""


@style.styled
def diagonal() -> style.BookFigure:
    drawing = style.figure(2.0)
    drawing.subplots().plot([0, 1], [0, 1])
    return drawing


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return float(np.dot(channels, (0.2126, 0.7152, 0.0722)))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.slow
def test_two_processes_draw_the_same_bytes() -> None:
    runs = [subprocess.run([sys.executable, "-c", DRAW], capture_output=True, check=True) for _ in range(2)]

    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.startswith(b"<?xml")


def test_a_figure_carries_no_date_and_draws_its_letters() -> None:
    svg = diagonal()._repr_svg_()

    assert "dc:date" not in svg
    assert "<text" not in svg


def test_the_readers_own_settings_change_nothing() -> None:
    before = diagonal()._repr_svg_()

    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "svg.fonttype": "none"}):
        after = diagonal()._repr_svg_()

    assert before == after


def test_drawing_leaves_the_readers_settings_alone() -> None:
    with mpl.rc_context({"font.size": 17}):
        diagonal()._repr_svg_()

        assert mpl.rcParams["font.size"] == 17


@pytest.mark.parametrize("name", COLORS)
def test_colors_carry_text_on_paper(name: str) -> None:
    assert contrast(COLORS[name], style.PAPER) >= 4.5


def test_text_is_legible_on_a_phone() -> None:
    """A figure 5 inches wide fills 350 of 390 px; its smallest text must not fall below 9 px there."""
    smallest = min(style.STYLE[key] for key in ("font.size", "xtick.labelsize", "axes.labelsize"))
    pixels_per_point = 350 / (style.WIDTH * 72)

    assert smallest * pixels_per_point >= 9


def test_a_matrix_writes_its_numbers_in_readable_ink() -> None:
    drawing = style.figure(2.0)
    values = np.array([[0.9, -0.2, 0.1], [0.0, -0.9, 0.4]])

    style.matrix(drawing.subplots(), values, limit=0.9)

    written = {text.get_text(): text.get_color() for text in drawing.axes[0].texts}
    assert written == {
        "0.90": "white",
        "−0.20": style.INK,
        "0.10": style.INK,
        "0.00": style.INK,
        "−0.90": "white",
        "0.40": style.INK,
    }
