"""What the figures on variants draw is what they were given."""

import numpy as np
import pytest

from tests.transformer_block.figures.test_training import texts
from transformer_block.figures import variants as figures


def test_switches_draws_each_change_beside_its_name_and_its_part() -> None:
    changes = {"eps": ("norm", 3e-5), "mask": ("attention", 0.6), "bend": ("feed-forward", 0.02)}

    (axes,) = figures.switches(changes).axes

    ends = [line.get_xdata()[-1] for line in axes.lines[::2]]
    dots = [line.get_xdata()[0] for line in axes.lines[1::2]]
    assert ends == dots == [3e-5, 0.6, 0.02]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(changes)
    assert {name: place[1] for name, place in texts(axes).items()} == {
        "norm": 0,
        "attention": 1,
        "feed-forward": 2,
    }
    assert axes.get_xscale() == "log"


def test_largest_scores_draws_both_lines_and_the_bound_between_them() -> None:
    factors, bound = np.array([1, 3, 9]), 2.5
    scores = {"plain": np.array([4.0, 36.0, 324.0]), "bounded": np.array([2.1, 2.2, 2.3])}

    (axes,) = figures.largest_scores(factors, scores, bound).axes

    limit, *lines = axes.lines
    assert set(limit.get_ydata()) == {bound}
    for line, values in zip(lines, scores.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), factors)
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert texts(axes)["plain"] == (9, 324)
    assert lines[0].get_linestyle() != lines[1].get_linestyle()


def test_gradients_by_block_draws_a_curve_for_each_variant_over_blocks_from_one() -> None:
    rng = np.random.default_rng(0)
    gradients = {name: rng.uniform(1, 9, size=7) for name in ("pre-norm", "DeepNorm", "LayerScale")}

    (axes,) = figures.gradients_by_block(gradients).axes

    for line, values in zip(axes.lines, gradients.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 8))
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert len({line.get_marker() for line in axes.lines}) == 3
    assert set(texts(axes)) == set(gradients)


@pytest.mark.parametrize(
    ("heights", "placed"),
    [
        ({"a": 1.0, "b": 8.0}, {"a": 1.0, "b": 8.0}),
        ({"a": 5.0, "b": 4.0}, {"b": 4.0, "a": 8.0}),
        ({"a": 4.0, "b": 5.0, "c": 6.0}, {"a": 4.0, "b": 8.0, "c": 16.0}),
    ],
)
def test_names_that_would_meet_are_set_apart_from_below(
    heights: dict[str, float], placed: dict[str, float]
) -> None:
    assert figures.apart(heights, 2.0) == placed


def test_steps_until_marks_each_seed_and_shows_those_that_never_did_as_hollow() -> None:
    found = {
        "one": {0.1: np.array([8.0, 12.0]), 0.4: np.array([40.0, np.nan])},
        "two": {0.1: np.array([np.nan, np.nan]), 0.4: np.array([16.0, 20.0])},
    }

    (axes,) = figures.steps_until(found, steps=60).axes

    marks = [line for line in axes.lines if line.get_marker() in figures.MARKERS]
    full = [list(line.get_xdata()) for line in marks if line.get_markerfacecolor() != figures.PAPER]
    hollow = [len(line.get_xdata()) for line in marks if line.get_markerfacecolor() == figures.PAPER]
    assert full == [[8, 12], [40], [], [16, 20]]
    assert hollow == [0, 1, 2, 0]
    assert all(x > 60 for line in marks for x in line.get_xdata() if x not in (8, 12, 40, 16, 20))
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["rate 0.1", "rate 0.4"]
