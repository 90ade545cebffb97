"""What the figures on training draw is what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from transformer_block.figures import training as figures

FALLS = np.linspace(2.4, 0.1, 9)
LATER = np.array([2.4, 2.3, 2.2, 2.0, 1.9, 1.6, 1.2, 0.6, 0.2])
STAYS = np.linspace(2.5, 2.2, 9)
LEVELS = {"nothing": 2.3, "which": 1.4}


def texts(axes: Axes) -> dict[str, tuple[float, float]]:
    """Where each text stands, by what it says: an annotation, where it points."""
    return {text.get_text(): getattr(text, "xy", text.get_position()) for text in axes.texts}


def boxes(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_schedules_draws_each_rate_at_its_step() -> None:
    flat, rising = np.full(6, 0.2), 0.2 * np.minimum(1, np.arange(1, 7) / 4)

    (axes,) = figures.schedules({"flat": flat, "rising": rising}).axes

    for line, rates in zip(axes.lines, (flat, rising), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 7))
        np.testing.assert_array_equal(line.get_ydata(), rates)
    assert texts(axes) == {"flat": (1, 0.2), "rising": (2, 0.1)}
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--"]


def test_losses_draws_each_curve_at_the_middle_of_its_steps() -> None:
    curves = {"pre-norm": {"a": FALLS, "b": LATER}, "post-norm": {"a": STAYS, "b": FALLS}}

    panels = figures.losses(curves, 4, LEVELS).axes

    assert [axes.get_title(loc="left") for axes in panels] == ["pre-norm", "post-norm"]
    for axes, pair in zip(panels, curves.values(), strict=True):
        for line, values in zip(axes.lines[:2], pair.values(), strict=True):
            np.testing.assert_array_equal(line.get_xdata(), 4 * np.arange(9) + 2)
            np.testing.assert_array_equal(line.get_ydata(), values)
        assert [line.get_ydata()[0] for line in axes.lines[2:]] == list(LEVELS.values())


def test_losses_names_the_sooner_curve_to_its_left_and_one_that_stays_below_its_end() -> None:
    curves = {"pre-norm": {"a": FALLS, "b": LATER}, "post-norm": {"a": STAYS, "b": FALLS}}

    above, below = figures.losses(curves, 4, LEVELS).axes

    sides = {text.get_text(): text.get_ha() for text in above.texts}
    assert (sides["a"], sides["b"]) == ("right", "left")
    assert texts(above)["b"] == (4 * 7.5, 0.7)
    end, height = texts(below)["a"]
    assert end == 36
    assert height < STAYS.min()


def test_losses_holds_all_levels_in_the_frame() -> None:
    drawing = figures.losses({"pre-norm": {"a": FALLS, "b": LATER}}, 2, LEVELS)

    assert drawing.axes[0].get_ylim()[1] > 2.3
    assert texts(drawing.axes[0])["which"][1] == 1.4


def test_solved_share_says_and_shades_each_count() -> None:
    solved = {"pre-norm, a": np.array([4, 1, 0]), "post-norm, a": np.array([2, 3, 4])}

    (axes,) = figures.solved_share([0.01, 0.02, 0.04], solved, seeds=4).axes

    said = [text.get_text() for text in axes.texts]
    assert said == ["4 of 4", "1 of 4", "0 of 4", "2 of 4", "3 of 4", "4 of 4"]
    assert [box.get_alpha() for box in boxes(axes)] == [1, 0.25, 0, 0.5, 0.75, 1]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.01", "0.02", "0.04"]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(solved)


def test_attention_map_frames_the_mirrored_positions() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=5)

    (axes,) = figures.attention_map(weights).axes

    written = [float(text.get_text()) for text in axes.texts]
    np.testing.assert_allclose(np.reshape(written, (5, 5)), weights, atol=0.005001)
    framed = [(int(box.get_y()), int(box.get_x())) for box in boxes(axes)]
    assert framed == [(0, 4), (1, 3), (2, 2), (3, 1), (4, 0)]


def test_first_step_draws_both_placements_on_logarithmic_axes() -> None:
    depths = np.array([1, 2, 4])
    change = {"pre-norm": np.array([0.1, 0.2, 0.3]), "post-norm": np.array([0.1, 0.3, 0.9])}

    (axes,) = figures.first_step(depths, change).axes

    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    for line, values in zip(axes.lines, change.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), depths)
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert len({line.get_marker() for line in axes.lines}) == 2
    assert texts(axes) == {"pre-norm": (4, 0.3), "post-norm": (4, 0.9)}


def test_dropped_hatches_what_is_gone_and_writes_what_is_kept() -> None:
    rows = {"draw": np.array([0.0, 1.333, 0.0]), "mean": np.array([1.0, 0.987, 1.012])}

    (axes,) = figures.dropped(rows).axes

    assert [text.get_text() for text in axes.texts] == ["", "1.33", "", "1.00", "0.99", "1.01"]
    hatched = [box.get_hatch() is not None for box in boxes(axes)]
    assert hatched == [True, False, True, False, False, False]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["draw", "mean"]


@pytest.mark.parametrize("gone", [0, 1])
def test_a_dropped_entry_is_hollow(gone: int) -> None:
    values = np.array([2.0, 3.0])
    values[gone] = 0

    (axes,) = figures.dropped({"draw": values}).axes

    hollow = [box.get_facecolor() == boxes(axes)[gone].get_facecolor() for box in boxes(axes)]
    assert hollow == [gone == 0, gone == 1]
