"""What the figures on compute and memory draw is what they were given."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from transformer_block.figures import compute_and_memory as figures
from transformer_block.figures.style import ATTENTION, FEED_FORWARD, NORM, PAPER, STREAM


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def curve(axes: Axes, number: int) -> tuple[list[float], list[float]]:
    x, y = axes.lines[number].get_data()
    return list(x), list(y)


def test_per_token_draws_each_part_in_millions_and_each_crossing() -> None:
    lengths = np.array([2, 8, 32, 128])
    parts = {"feed-forward": np.full(4, 5e6), "pairs of tokens": 1e6 * lengths}

    (axes,) = figures.per_token(lengths, parts, {"T = 2D": 16, "T = 6D": 48}).axes

    assert curve(axes, 0) == ([2, 8, 32, 128], [5, 5, 5, 5])
    assert curve(axes, 1) == ([2, 8, 32, 128], [2, 8, 32, 128])
    assert [line.get_xdata()[0] for line in axes.lines[2:]] == [16, 48]
    assert texts(axes) == ["feed-forward", "pairs of tokens", "T = 2D", "T = 6D"]
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_per_token_names_lines_above_or_below_and_only_the_pairs_further_along() -> None:
    lengths, level = np.array([2, 8, 32, 128]), np.ones(4)
    parts = {"all matrices": 6e6 * level, "feed-forward": 4e6 * level, "pairs of tokens": 1e6 * lengths}

    (axes,) = figures.per_token(lengths, parts, {}).axes

    assert [text.xy for text in axes.texts] == [(2, 6), (2, 4), (8, 8)]
    assert [text.xyann[1] > 0 for text in axes.texts] == [True, False, False]
    assert [text.get_verticalalignment() for text in axes.texts] == ["bottom", "top", "top"]


def test_doubled_has_a_panel_for_each_letter_with_the_count_hollow() -> None:
    sizes = np.array([128, 256, 512])
    first = figures.Doubled(sizes, np.array([1, 4, 16]), np.array([1, 3, 10]))
    second = figures.Doubled(2 * sizes, np.array([1, 2, 5]), np.array([1, 2, 4]))

    above, below = figures.doubled({"D": first, "T": second}).axes

    assert curve(above, 0) == ([128, 256, 512], [1, 4, 16])
    assert curve(above, 1) == ([128, 256, 512], [1, 3, 10])
    assert [line.get_markerfacecolor() == PAPER for line in above.lines] == [True, False]
    assert texts(above) == ["operations × 16", "time × 10"]
    assert texts(below) == ["operations × 5", "time × 4"]
    assert (above.get_xlabel(), below.get_xlabel()) == ("D", "T")
    assert [label.get_text() for label in below.get_xticklabels()] == ["256", "512", "1,024"]


def test_branches_names_the_higher_curve_above_and_the_lower_below() -> None:
    lengths, high, low = np.array([128, 256, 512]), np.array([1.0, 2.0, 4.0]), np.array([0.5, 1.0, 3.0])

    for counted, measured in ((high, low), (low, high)):
        (axes,) = figures.branches(lengths, counted, measured).axes

        assert curve(axes, 1) == ([128, 256, 512], list(counted))
        assert curve(axes, 2) == ([128, 256, 512], list(measured))
        places = {text.get_text(): text for text in axes.texts}
        operations, time = places["operations"], places["time"]
        assert (operations.xyann[1] > 0) == (counted is high)
        assert (time.xyann[1] > 0) == (measured is high)


def test_kept_stacks_the_parts_and_writes_the_sum_behind() -> None:
    rows = {"float32": {"norms": 4.0, "attention": 16.0, "feed-forward": 32.0}, "checkpoint": {"input": 2.0}}

    (axes,) = figures.kept(rows).axes

    bars = [(patch.get_x(), patch.get_width(), patch.get_facecolor()) for patch in axes.patches]
    colors = map(to_rgba, (NORM, ATTENTION, FEED_FORWARD, STREAM))
    assert bars == list(zip([0, 4, 20, 0], [4, 16, 32, 2], colors, strict=True))
    assert texts(axes) == ["52", "2", "input", "norms", "attention", "feed-forward"]


def test_kept_names_the_parts_that_it_draws() -> None:
    (axes,) = figures.kept({"one": {"attention": 16.0}}).axes

    assert texts(axes) == ["16", "attention"]


def test_cache_ends_each_line_at_the_models_context() -> None:
    short, long = np.array([0, 2048]), np.array([0, 4096, 8192])
    curves = {"short": (short, 2.0 * short), "long": (long, 0.5 * long)}

    (axes,) = figures.cache(curves).axes

    assert curve(axes, 0) == ([0, 2048], [0, 4096])
    assert curve(axes, 1) == ([2048], [4096]) or curve(axes, 1) == ([2048.0], [4096.0])
    assert texts(axes) == ["short, 2,048", "long, 8,192"]
    assert [text.get_horizontalalignment() for text in axes.texts] == ["center", "right"]
    assert list(axes.get_xticks()) == [2048, 8192]
