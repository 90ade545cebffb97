"""The figures of the audit mark what was measured, where it was, and nothing else."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from transformer_block.figures.audit import findings, moves, two_placements, violations
from transformer_block.figures.style import ATTENTION, STREAM

STATES = {
    "a_right_one": {"shape": "held", "causal": "held", "norms": "not applicable"},
    "a_leaky_one": {"shape": "held", "causal": "broken", "norms": "broken"},
}
THRESHOLDS = (1e-5, 9e-5)


def places(axes, state):
    line = next(line for line in axes.lines if line.get_label() == state)
    return {(int(x), int(y)) for x, y in zip(*line.get_data(), strict=True)}


def labels(ticks):
    return [label.get_text() for label in ticks]


def test_a_cell_says_how_far_an_output_moved():
    moved = np.array([[0.0, 0.25, 0.5], [0.125, 0.0, 0.75]])

    (axes,) = moves(moved, ["in training", "in evaluation"]).axes

    assert [text.get_text() for text in axes.texts] == ["0.00", "0.25", "0.50", "0.12", "0.00", "0.75"]
    assert labels(axes.get_yticklabels()) == ["in training", "in evaluation"]
    assert labels(axes.get_xticklabels()) == ["0", "1", "2"]


def test_each_state_of_a_contract_has_a_sign_of_its_own_in_its_place():
    (axes,) = findings(STATES).axes

    assert places(axes, "broken") == {(1, 1), (2, 1)}
    assert places(axes, "held") == {(0, 0), (1, 0), (0, 1)}
    assert places(axes, "not applicable") == {(2, 0)}
    assert len({line.get_marker() for line in axes.lines}) == 3


def test_rows_are_blocks_and_columns_contracts_by_name_from_the_top():
    (axes,) = findings(STATES).axes

    assert labels(axes.get_yticklabels()) == ["a right one", "a leaky one"]
    assert labels(axes.get_xticklabels()) == ["shape", "causal", "norms"]
    bottom, top = axes.get_ylim()
    assert top < 0 < 1 < bottom


def test_the_key_names_the_signs_that_are_drawn():
    drawing = findings({"a_right_one": {"shape": "held", "causal": "held"}})

    (key,) = drawing.legends
    assert labels(key.get_texts()) == ["held"]


def test_a_violation_stands_at_its_size_in_the_row_of_its_block():
    sizes = {"one": {"causal": 0.5, "padding": 0.01}, "two_of_them": {"norms": 2.0}, "none": {}}

    (axes,) = violations(sizes, THRESHOLDS).axes

    drawn = {(x, y) for line in axes.lines for x, y in zip(*line.get_data(), strict=True)}
    assert drawn == {(0.5, 0), (0.01, 0), (2.0, 1)}
    assert labels(axes.get_yticklabels()) == ["one", "two of them", "none"]
    assert axes.get_xscale() == "log"


def test_what_lies_beyond_the_axis_is_an_arrow_at_its_edge():
    (axes,) = violations({"one": {"norms": 300.0}}, THRESHOLDS).axes

    (arrow,) = (line for line in axes.lines if line.get_marker() == ">")
    assert arrow.get_xdata()[0] < axes.get_xlim()[1]
    assert not [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata())]


def test_a_band_holds_the_thresholds():
    (axes,) = violations({"one": {"norms": 0.1}}, THRESHOLDS).axes

    (band,) = axes.patches
    assert band.get_x() == pytest.approx(THRESHOLDS[0])
    assert band.get_x() + band.get_width() == pytest.approx(THRESHOLDS[1])


def test_a_point_is_one_feature_from_both_blocks():
    own, other = np.array([1.0, -2.0]), np.array([1.5, -3.0])

    above, _ = two_placements(own, other, {"post": np.ones(4), "pre": np.arange(4.0)}).axes

    diagonal, points = above.lines
    assert [tuple(point) for point in points.get_xydata()] == [(1.0, 1.5), (-2.0, -3.0)]
    assert diagonal.get_slope() == 1.0
    assert above.get_xlim() == above.get_ylim()


def test_each_curve_of_sizes_is_named_in_its_own_color():
    sizes = {"post": np.array([1.0, 1.1, 0.9]), "pre": np.array([1.5, 2.0, 2.5])}

    _, below = two_placements(np.ones(2), np.ones(2), sizes).axes

    assert [line.get_ydata().tolist() for line in below.lines] == [[1.0, 1.1, 0.9], [1.5, 2.0, 2.5]]
    assert [(text.get_text(), to_hex(text.get_color())) for text in below.texts] == [
        ("post", STREAM),
        ("pre", ATTENTION),
    ]
    assert len({line.get_marker() for line in below.lines}) == 2
