"""What the figures on parameters draw is what they were given."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from transformer_block.figures import parameters as figures
from transformer_block.figures.style import ATTENTION, FEED_FORWARD, STREAM


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def boxes(axes: Axes) -> list[tuple[float, float, float]]:
    """Left edge, width and height of each rectangle."""
    return [(each.get_x(), each.get_width(), each.get_height()) for each in axes.patches]


def test_matrices_are_as_wide_as_their_columns_and_as_tall_as_their_rows() -> None:
    branches = {
        "attention": {"Q": (1, 1), "K": (0.25, 1)},
        "feed-forward": {"up": (3.5, 1), "down": (1, 3.5)},
    }

    (axes,) = figures.matrices({"Llama": branches}).axes

    drawn = boxes(axes)
    assert [(height, width) for _, width, height in drawn] == [(1, 1), (0.25, 1), (3.5, 1), (1, 3.5)]
    assert texts(axes) == ["Q", "D²", "K", "0.25 D²", "up", "3.5 D²", "down", "3.5 D²"]
    assert axes.get_title(loc="left") == "Llama"
    colors = [patch.get_facecolor()[:3] for patch in axes.patches]
    assert colors == [to_rgba(ATTENTION)[:3]] * 2 + [to_rgba(FEED_FORWARD)[:3]] * 2


def test_matrices_stand_apart_and_inside_the_frame() -> None:
    wide = {"feed-forward": {"up": (4, 1), "down": (1, 7)}}
    small = {"attention": {"Q": (1, 1)}}

    for axes in figures.matrices({"wide": wide, "small": small}).axes:
        drawn = boxes(axes)
        for (left, width, _), (following, _, _) in pairwise(drawn):
            assert left + width < following
        left, width, _ = drawn[-1]
        assert left + width < axes.get_xlim()[1]
        assert max(each[2] for each in drawn) < axes.get_ylim()[1]


def test_by_width_draws_a_pair_of_bars_for_each_width_in_millions() -> None:
    counts = {"attention": np.array([1_000_000, 4_000_000]), "feed-forward": np.array([2_000_000, 9_000_000])}

    (axes,) = figures.by_width(np.array([512, 1024]), counts).axes

    assert [patch.get_width() for patch in axes.patches] == [1, 4, 2, 9]
    assert texts(axes) == ["1.00", "4.00  attention", "2.00", "9.00  feed-forward"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["D = 512", "D = 1,024"]


def test_ratios_puts_each_block_at_its_ratio_and_the_rule_across() -> None:
    (axes,) = figures.ratios({"one": 1.5, "other": 4.2}, rule=3.0).axes

    rule, *lines = axes.lines
    assert list(rule.get_xdata()) == [3.0, 3.0]
    dots = [(*line.get_xdata(), *line.get_ydata()) for line in lines if line.get_marker() == "o"]
    assert dots == [(1.5, 0), (4.2, 1)]
    assert texts(axes) == ["1.50", "4.20"]
    assert axes.get_xlim()[1] > 4.2


def test_shares_fill_each_bar_and_label_what_is_large_enough() -> None:
    model = {"embeddings": 2_000_000, "attention": 500_000, "feed-forward": 7_400_000, "the rest": 100_000}

    (axes,) = figures.shares({"a model": model, "small": dict.fromkeys(model, 100)}).axes

    first = [(patch.get_x(), patch.get_width()) for patch in axes.patches[:4]]
    np.testing.assert_allclose(first, [(0, 0.2), (0.2, 0.05), (0.25, 0.74), (0.99, 0.01)])
    assert texts(axes)[:2] == ["20", "74"]
    assert axes.patches[0].get_facecolor() == to_rgba(STREAM)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a model\n10.0 M", "small\n400"]


@pytest.mark.parametrize(
    ("count", "label"), [(999_999, "999,999"), (10**6, "1.0 M"), (174_604_259_328, "174.6 B")]
)
def test_shares_says_how_many_parameters_there_are(count: int, label: str) -> None:
    (axes,) = figures.shares({"one": {"embeddings": count}}).axes

    assert axes.get_yticklabels()[0].get_text() == f"one\n{label}"
    assert texts(axes)[-3:] == ["embeddings", "attention", "feed-forward"]
