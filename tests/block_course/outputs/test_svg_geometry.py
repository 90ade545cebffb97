import math

import pytest

from block_course.outputs._svg_geometry import scale_of, shift, transform_problem


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("M 1 2 L 3.5 -4", "M 1 2 L 3 -4.25", 0.5),
        ("1e2", "1.01e2", 1.0),
        ("460.8pt", "461.8pt", 1.0),
        (".5,-.5", "-.5,.5", 1.0),
        ("none", "none", 0.0),
        ("1e999", "1e999", 0.0),
    ],
)
def test_the_shift_is_that_of_the_number_that_moved_most(old: str, new: str, expected: float) -> None:
    assert shift(old, new) == pytest.approx(expected)


@pytest.mark.parametrize(("old", "new"), [("M 1 2", "L 1 2"), ("1 2", "1"), ("1pt", "1px"), ("none", "1")])
def test_attributes_of_different_form_have_no_shift(old: str, new: str) -> None:
    assert shift(old, new) is None


def test_numbers_beyond_floats_are_infinitely_far_or_undefined() -> None:
    assert math.isnan(shift("1e999 5", "2e999 0") or 0.0)
    assert shift("1e999", "1") == math.inf


@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        ("", 1.0),
        ("translate(30 40)", 1.0),
        ("rotate(45)", 1.0),
        ("scale(0.12 -0.1)", 0.12),
        ("scale(3) scale(0.5)", 1.5),
        ("matrix(3 4 0 2 7 7)", 5.0),
        ("matrix(1)", 1.0),
        ("scale()", 1.0),
    ],
)
def test_the_scale_is_that_of_the_axis_stretched_most(transform: str, expected: float) -> None:
    assert scale_of(transform) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("translate(1 2)", "translate(1.7 2)"),
        ("rotate(30 1 2)", "rotate(30 1 2.7)"),
        ("scale(0.1) translate(10 0)", "scale(0.1) translate(17 0)"),
        ("matrix(1 0 0 1 5 5)", "matrix(1 0 0 1 5.7 5)"),
        ("scale(0.1)", "scale(0.10005)"),
        ("scale(1e999)", "scale(1e999)"),
    ],
)
def test_transforms_that_move_nothing_visibly_agree(old: str, new: str) -> None:
    assert transform_problem(old, new, scale=1.0, atol=0.75) is None


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("translate(1 2)", "translate(1.8 2)", "translate"),
        ("scale(10) translate(1 2)", "scale(10) translate(1.1 2)", "translate"),
        ("rotate(30)", "rotate(30.5)", "rotate"),
        ("rotate(30 1 2)", "rotate(30 1 2.8)", "rotate"),
        ("scale(0.1)", "scale(0.105)", "scale"),
        ("matrix(1 0 0 1 5 5)", "matrix(1 0.01 0 1 5 5)", "matrix"),
        ("skewX(1)", "skewX(1.1)", "skewX"),
        ("scale(1e999)", "scale(2)", "scale"),
        ("scale(0) translate(1e999)", "scale(0) translate(2)", "translate"),
        ("scale(1)", "rotate(1)", "transform"),
        ("scale(1)", "scale(1 1)", "transform"),
    ],
)
def test_transforms_that_move_something_are_told_apart(old: str, new: str, word: str) -> None:
    problem = transform_problem(old, new, scale=1.0, atol=0.75)

    assert problem is not None
    assert problem.startswith(word)


def test_the_enclosing_scale_counts() -> None:
    assert transform_problem("translate(0)", "translate(0.5)", scale=1.0, atol=0.75) is None
    assert transform_problem("translate(0)", "translate(0.5)", scale=2.0, atol=0.75) is not None
