"""What the figures on trained weights draw is what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from transformer_block.figures import real_weights as figures

RNG = np.random.default_rng(19)


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def points(axes: Axes, marker: str) -> np.ndarray:
    return np.concatenate(
        [np.stack(line.get_data(), axis=1) for line in axes.lines if line.get_marker() == marker]
    )


def bars(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_similarities_writes_every_cosine_and_every_sentence() -> None:
    cosines = RNG.uniform(-1, 1, size=(3, 3))
    sentences = ["It rained all night until the morning came.", "Dinner tastes bland.", "Rain"]

    (axes,) = figures.similarities(cosines, sentences).axes

    assert texts(axes) == [f"{value:.2f}".replace("-", "−") for value in cosines.ravel()]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [
        "1  It rained all night\nuntil the morning came.",
        "2  Dinner\ntastes bland.",
        "3  Rain",
    ]


def test_by_depth_draws_both_curves() -> None:
    related, others = RNG.random((2, 7))

    (axes,) = figures.by_depth(related, others).axes

    np.testing.assert_array_equal(points(axes, "o")[:, 1], related)
    np.testing.assert_array_equal(points(axes, "s")[:, 1], others)
    assert texts(axes) == ["related", "all others"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["e", *"012345"]


def test_errors_leaves_out_what_is_below_the_floor() -> None:
    curves = {"a": np.array([0.0, 1e-3, 1.0]), "b": np.array([1e-14, 2.0, 4.0])}
    curves |= {"c": np.array([0.1, 0.2, 1e-5]), "d": np.array([0.1, 0.2, 1e-8])}

    (axes,) = figures.errors(curves, floor=1e-11).axes

    np.testing.assert_array_equal(points(axes, "o"), [[0, np.nan], [1, 1e-3], [2, 1.0]])
    np.testing.assert_array_equal(points(axes, "^"), [[0, np.nan], [1, 2.0], [2, 4.0]])
    assert texts(axes) == ["a", "b", "c", "d", "right: agrees with transformers"]
    shifts = [text.xyann[1] for text in axes.texts[:4]]
    assert shifts == [-5, 5, 0, 0]  # a and b end close to each other


def test_gains_marks_the_smallest_and_the_largest_of_each_norm() -> None:
    values = RNG.uniform(0.1, 1.5, size=(4, 30))

    (axes,) = figures.gains(values, ["one", "two", "three", "four"]).axes

    ends = np.stack([values.min(axis=1), values.max(axis=1)], axis=1)
    np.testing.assert_array_equal(points(axes, "o")[:, 0], ends.ravel())
    named = np.stack([values.argmin(axis=1), values.argmax(axis=1)], axis=1)
    assert texts(axes) == [f"{feature}" for feature in named.ravel()]
    np.testing.assert_allclose(points(axes, "|")[:, 0], np.median(values, axis=1))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two", "three", "four"]


def test_loud_features_writes_every_number() -> None:
    values = RNG.normal(0, 5, size=(4, 3))

    (axes,) = figures.loud_features(values, ["[CLS]", "a", "cat", "."], [99, 223, 5]).axes

    assert texts(axes) == [f"{value:.2f}".replace("-", "−") for value in values.ravel()]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["99", "223", "5"]


def test_updates_draws_shares_as_percent_side_by_side() -> None:
    attention, feed_forward = RNG.uniform(0.1, 0.9, size=(2, 6))

    (axes,) = figures.updates(attention, feed_forward).axes

    heights = [bar.get_height() for bar in bars(axes)]
    assert heights == pytest.approx([*(100 * attention), *(100 * feed_forward)])
    lefts = [bar.get_x() for bar in bars(axes)]
    assert all(lefts[i] < lefts[i + 6] < i + 0.5 for i in range(6))
    assert texts(axes)[:6] == [f"{100 * value:.0f}" for value in attention]
    assert [text.get_position()[1] for text in axes.texts[-2:]] == [102, 102]
