"""What the figures of norm placement draw is what they were given."""

import numpy as np
import pytest
from matplotlib.axes import Axes

from transformer_block.figures import norm_placement as figures
from transformer_block.figures.norm_placement import LEAST_GAP
from transformer_block.figures.style import PAPER

DEPTHS = np.array([2, 4, 8, 16, 48])
RNG = np.random.default_rng(5)
CURVES = {name: RNG.uniform(1, 5, len(DEPTHS)) for name in ("pre-norm", "post-norm", "sandwich")}


def curves(axes: Axes) -> list[np.ndarray]:
    """The marked lines of an axes, as (x, y) rows each."""
    return [np.stack(line.get_data(), axis=1) for line in axes.lines if line.get_marker() not in ("", "None")]


def heights(axes: Axes) -> dict[str, float]:
    """Where each label right of the axes stands."""
    outside = [text for text in axes.texts if text.get_transform() == axes.transAxes]
    return {text.get_text(): text.get_position()[1] for text in outside}


def test_stream_spread_draws_each_block_and_names_each_curve() -> None:
    spread = {"pre-norm": np.array([1.0, 2.0, 3.0]), "post-norm": np.array([1.0, 1.5, 0.5])}

    (axes,) = figures.stream_spread(spread).axes

    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(axes.lines[1].get_xdata(), [1, 2, 3])
    assert heights(axes)["pre-norm"] > heights(axes)["post-norm"]


def test_last_gradient_draws_each_depth_on_two_log_axes_beside_a_slope_of_minus_half() -> None:
    (axes,) = figures.last_gradient(DEPTHS, CURVES).axes

    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    for drawn, values in zip(curves(axes), CURVES.values(), strict=True):
        np.testing.assert_array_equal(drawn, np.stack([DEPTHS, values], axis=1))
    x, y = map(np.asarray, axes.lines[0].get_data())
    assert np.log(y[-1] / y[0]) / np.log(x[-1] / x[0]) == pytest.approx(-0.5)
    assert all(tick.get_text() for tick in axes.get_yticklabels())


def test_labels_of_curves_that_end_together_keep_apart() -> None:
    (axes,) = figures.last_gradient(DEPTHS, dict.fromkeys(CURVES, CURVES["pre-norm"])).axes

    places = sorted(heights(axes).values())
    assert len(places) == 3
    assert np.diff(places).min() >= LEAST_GAP - 1e-9


def test_exponents_puts_a_mark_of_its_own_for_each_placement_in_each_row() -> None:
    slopes = {
        "one": {"pre-norm": -0.5, "post-norm": 0.0, "sandwich": -0.4},
        "two": {"pre-norm": 0.6, "post-norm": 0.1, "sandwich": 0.3},
    }

    (axes,) = figures.exponents(slopes).axes

    marks = [line for line in axes.lines if line.get_marker() != "None"]
    assert [np.ravel(line.get_xdata())[0] for line in marks] == [-0.5, 0.0, -0.4, 0.6, 0.1, 0.3]
    assert [round(float(np.ravel(line.get_ydata())[0])) for line in marks] == [0, 0, 0, 1, 1, 1]
    assert len({line.get_marker() for line in marks}) == 3
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two"]


def test_skip_alone_tells_all_paths_from_the_skips_by_filled_and_hollow_marks() -> None:
    arriving = {
        name: {"all paths": CURVES[name], "skips alone": CURVES[name] / 7}
        for name in ("pre-norm", "post-norm")
    }

    (axes,) = figures.skip_alone(DEPTHS, arriving).axes

    hollow = [line.get_markerfacecolor() == PAPER for line in axes.lines]
    assert hollow == [False, True, False, True]
    np.testing.assert_array_equal(curves(axes)[3][:, 1], CURVES["post-norm"] / 7)
    assert set(heights(axes)) == {
        f"{name},\n{path}" for name in arriving for path in ("all paths", "skips alone")
    }


def test_singular_values_are_shares_of_the_largest_down_to_the_least() -> None:
    values = {
        "pre-norm": {"L = 1": np.array([4.0, 2.0, 1.0, 0.001]), "L = 8": np.array([9.0, 3.0, 0.0, 0.0])}
    }
    values["pre-norm"]["L = 48"] = np.array([5.0, 0.0, 0.0, 0.0])

    (axes,) = figures.singular_values(values, least=0.01).axes

    lines = [np.asarray(line.get_ydata()) for line in axes.lines if line.get_marker() == "None"]
    np.testing.assert_allclose(lines[0], [1, 0.5, 0.25])
    np.testing.assert_allclose(lines[1], [1, 1 / 3])
    np.testing.assert_allclose(lines[2], [1])
    assert [text.get_text() for text in axes.texts] == ["L = 1", "L = 8", "L = 48"]
