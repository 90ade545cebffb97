"""What the figures of the one-token walk draw is what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from transformer_block.figures import one_token as figures
from transformer_block.figures.style import PAPER

RNG = np.random.default_rng(17)


def marked(axes: Axes, mark: str) -> list[np.ndarray]:
    """The lines with one kind of mark, as (x, y) rows."""
    return [np.stack(line.get_data(), axis=1) for line in axes.lines if line.get_marker() == mark]


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_sides_draws_each_token_and_the_two_points_left() -> None:
    sums, variants = RNG.normal(size=(6, 2)), RNG.normal(size=(3, 2))

    (axes,) = figures.sides(sums, variants, "word").axes

    tokens, right, left = marked(axes, "o")
    np.testing.assert_array_equal(tokens, sums)
    np.testing.assert_array_equal(marked(axes, "D")[0], variants)
    np.testing.assert_array_equal([right[0], left[0]], [[1, -1], [-1, 1]])
    assert texts(axes)[:3] == ["“word”", "(1, −1)", "(−1, 1)"]


def test_sides_keeps_every_token_in_the_frame() -> None:
    sums, variants = 5 * RNG.normal(size=(6, 2)), 7 * RNG.normal(size=(3, 2))

    (axes,) = figures.sides(sums, variants, "word").axes

    assert max(np.abs(sums).max(), np.abs(variants).max()) < axes.get_xlim()[1]
    assert axes.get_xlim() == axes.get_ylim()


def test_shares_gives_each_token_two_bars_with_their_numbers() -> None:
    free, causal = RNG.uniform(size=(2, 4))

    (axes,) = figures.shares(["a", "b", "c", "d"], free, causal).axes

    assert [bar.get_width() for bar in axes.patches] == [*free, *causal]
    assert texts(axes) == [f"{value:.3f}" for value in (*free, *causal)]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "b", "c", "d"]
    faces = [bar.get_facecolor() == to_rgba(PAPER) for bar in axes.patches]
    assert faces == [False] * 4 + [True] * 4


def test_change_by_stage_names_both_blocks() -> None:
    changes = {"two features": RNG.uniform(size=3), "eight": RNG.uniform(size=3)}

    (axes,) = figures.change_by_stage(["attention", "add_1", "norm_1"], changes).axes

    assert [bar.get_width() for bar in axes.patches] == [*changes["two features"], *changes["eight"]]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(changes)


def test_passes_draws_what_was_measured_beside_what_was_expected() -> None:
    widths, measured, expected = [2, 5, 11], RNG.uniform(size=3), RNG.uniform(size=3)

    (axes,) = figures.passes(widths, measured, expected).axes

    np.testing.assert_array_equal(marked(axes, "o")[0], np.stack([widths, measured], axis=1))
    assert list(axes.lines[0].get_ydata()) == pytest.approx(expected)
    assert texts(axes) == [f"{value:.2f}" for value in measured]
