"""What the figures of the backward pass draw is what they were given."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyBboxPatch, Rectangle

from transformer_block.figures import backward as figures
from transformer_block.figures.style import ATTENTION, FEED_FORWARD, NORM, STREAM
from transformer_block.in_numpy.scaled_dot_product import softmax, softmax_backward

VALUES = {"x": 2.0, "u": 6.0, "r": 6.5, "b": -3.0, "y": -1.0}
GRADIENTS = {"x": -0.5, "u": -0.25, "r": -0.75, "b": 1.0, "y": 1.5}


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_circuit_writes_each_value_and_each_gradient_in_its_box() -> None:
    (axes,) = figures.circuit(VALUES, GRADIENTS).axes

    boxes = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    assert len(boxes) == 5
    assert {"x = 2", "u = 6", "r = 6.5", "b = −3", "y = −1"} < set(texts(axes))
    assert {"dx = −0.5", "du = −0.25", "dr = −0.75", "db = 1", "dy = 1.5"} < set(texts(axes))


def test_circuit_joins_what_is_made_to_what_it_is_made_from() -> None:
    (axes,) = figures.circuit(VALUES, GRADIENTS).axes

    arrows = [text for text in axes.texts if text.get_text() == ""]
    assert len(arrows) == len(figures.WIRES)
    assert {end for _, end in figures.WIRES} == {"u", "r", "b", "y"}
    assert sorted(start for start, end in figures.WIRES if end == "y") == ["b", "x"]


def test_softmax_derivative_writes_every_entry() -> None:
    weights = softmax(np.array([0.5, -1.0, 2.0]))
    derivative = softmax_backward(np.eye(3), np.tile(weights, (3, 1)))

    (axes,) = figures.softmax_derivative(derivative).axes

    assert texts(axes) == [f"{value:.2f}".replace("-", "−") for value in derivative.ravel()]


def test_stage_gradients_draws_a_bar_for_each_stage_in_the_color_of_its_kind() -> None:
    lengths = {"add_2": 4.0, "feed_forward": 3.0, "norm_2": 2.5, "attention": 1.5, "x": 5.0}

    (axes,) = figures.stage_gradients(lengths).axes

    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [bar.get_width() for bar in bars] == list(lengths.values())
    colors = [bar.get_facecolor() for bar in bars]
    assert colors == [to_rgba(color) for color in (STREAM, FEED_FORWARD, NORM, ATTENTION, STREAM)]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(lengths)


def test_step_size_draws_both_errors_on_log_axes_and_names_them() -> None:
    steps = np.array([0.1, 0.01, 0.001, 0.0001])
    errors = {"one-sided": steps * 3, "central": steps**2}

    (axes,) = figures.step_size(steps, errors).axes

    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    for line, values in zip(axes.lines, errors.values(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert texts(axes) == ["one-sided", "central", "rounding", "truncation"]


def test_through_the_stack_draws_each_block_and_sets_each_name_beside_its_curve() -> None:
    flow = {"in all": np.array([3.0, 2.0, 1.0]), "attention": np.array([0.9, 0.4, 0.1])}
    flow["feed-forward"] = np.array([0.8, 0.5, 0.2])

    (axes,) = figures.through_the_stack(flow).axes

    for line, values in zip(axes.lines, flow.values(), strict=True):
        np.testing.assert_array_equal(np.stack(line.get_data()), [[1, 2, 3], values])
    assert texts(axes) == list(flow)
    assert axes.get_xlim()[0] < 0
