"""The figures of the whole block draw the gaps, terms and probabilities they were given."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from transformer_block.figures import block as figures
from transformer_block.figures.style import STREAM

RNG = np.random.default_rng(3)


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def meshed(axes: Axes) -> np.ndarray:
    mesh = next(each for each in axes.collections if isinstance(each, QuadMesh))
    return np.asarray(mesh.get_array())


def labels(ticks: list[Text]) -> list[str]:
    return [tick.get_text() for tick in ticks]


GAPS = {
    "late": {"norm_1": 0.0, "attention": 1e-15, "feed_forward": 0.31, "add_2": 0.26},
    "early": {"norm_1": 0.002, "attention": 0.04, "feed_forward": 1.2, "add_2": 3.3},
    "none": {"norm_1": 0.0, "attention": 0.0, "feed_forward": 1e-14, "add_2": 1e-15},
}


def test_gaps_are_written_where_two_blocks_differ() -> None:
    (axes,) = figures.first_gap(GAPS).axes

    assert texts(axes)[:4] == ["=", "=", "0.3", "0.3"]
    assert texts(axes)[4:8] == ["0.002", "0.04", "1", "3"]
    assert texts(axes)[8:] == ["="] * 4
    assert labels(axes.get_yticklabels()) == ["late", "early", "none"]
    assert labels(axes.get_xticklabels()) == ["norm_1", "attention", "feed_\nforward", "add_2"]


def test_the_first_stage_that_differs_is_filled_and_no_other() -> None:
    (axes,) = figures.first_gap(GAPS).axes

    filled = [
        patch.get_xy()
        for patch in axes.patches
        if isinstance(patch, Rectangle) and to_hex(patch.get_facecolor()) == STREAM
    ]
    assert filled == [(2, 0), (0, 1)]


def test_what_counts_as_agreement_can_be_chosen() -> None:
    (axes,) = figures.first_gap({"late": GAPS["late"]}, agree=0.3).axes

    assert texts(axes) == ["=", "=", "0.3", "="]


def test_terms_are_rows_of_numbers_with_rules_between_them() -> None:
    rows = {name: RNG.normal(size=5) for name in ("x", "+ attention", "block")}

    (axes,) = figures.terms(rows, rules=(2,)).axes

    np.testing.assert_array_equal(meshed(axes), np.stack(list(rows.values())))
    assert labels(axes.get_yticklabels()) == list(rows)
    assert [line.get_ydata() for line in axes.lines] == [[2, 2]]
    assert len(texts(axes)) == 15


def test_sureness_is_drawn_by_block_under_its_own_name() -> None:
    sure = {"bare": np.array([0.1, 0.15, 0.3, 0.45]), "normed": np.array([0.1, 0.08, 0.12, 0.09])}

    (axes,) = figures.sureness(sure).axes

    for line, label, (name, values) in zip(axes.lines, axes.texts, sure.items(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [0, 1, 2, 3])
        np.testing.assert_array_equal(line.get_ydata(), values)
        assert (label.get_text(), label.get_color()) == (name, line.get_color())
    assert len({line.get_color() for line in axes.lines}) == 2
