from dataclasses import replace

import numpy as np
import pytest

from block_course.calling import observe
from block_course.checks.outputs import informative, on_cases, output_name, output_of
from block_course.exercise import Case, Observation
from tests.block_course.doubling import EXERCISE as DOUBLE

CASE = Case(name="c", arguments={"x": np.arange(6.0).reshape(2, 3)})
TWO = replace(DOUBLE, reference=lambda x: (2.0 * x, x.sum(-1)), returns=("double", "total"))
THREE = replace(DOUBLE, reference=lambda x: (x, x, x))


def said(answer, exercise=DOUBLE, index=0):
    return output_of(exercise, CASE, observe(answer, CASE), index)[1]


def test_an_output_comes_with_no_complaint():
    got, complaint = output_of(TWO, CASE, observe(lambda x: (2 * x, x.sum(-1)), CASE), 1)

    assert (got.tolist(), complaint) == ([3.0, 12.0], "")


@pytest.mark.parametrize(
    ("answer", "exercise", "complaint"),
    [
        (lambda x: 1 / 0, DOUBLE, "your function raised ZeroDivisionError: division by zero"),
        (..., DOUBLE, "your function does nothing yet"),
        ((1, 2), DOUBLE, "`double` is no function"),
        (lambda x: x.sort(), DOUBLE, "your function returned None"),
        (lambda x: x.sort(), TWO, "your function returned None"),
        (lambda x: (2 * x, x), DOUBLE, "your function returned two arrays; return one"),
        (lambda x: (x,) * 5, DOUBLE, "your function returned 5 arrays; return one"),
        (lambda x: (), DOUBLE, "your function returned no arrays; return one"),
        (lambda x: x, TWO, "your function returned one array; return two: `return double, total`"),
        (lambda x: x, THREE, "your function returned one array; return three"),
        (lambda x: {"a": x}, TWO, "your function returned a dict; return two: `return double, total`"),
        (lambda x: {"a": x}, DOUBLE, "your output is a dict where an array belongs"),
        (lambda x: x.tolist(), DOUBLE, "your function returned a list where an array belongs"),
        (lambda x: x[0].tolist(), DOUBLE, "your function returned a list where an array belongs"),
        (lambda x: (x.tolist(), x), TWO, "your double is a list where an array belongs"),
        (lambda x: (None, x), TWO, "your double is None where an array belongs"),
        (
            lambda x: x + 1j,
            DOUBLE,
            "your output is an array of dtype complex128 where a real array belongs",
        ),
    ],
)
def test_what_is_no_output_is_told_in_words(answer, exercise, complaint):
    assert said(answer, exercise) == complaint


def test_a_call_that_ended_otherwise_is_named_by_how_it_ended():
    seen = Observation(status="timeout", message="after 5 s")

    assert output_of(DOUBLE, CASE, seen, 0) == (None, "timeout after 5 s")


def test_outputs_have_the_names_that_the_exercise_gives_them():
    assert output_name(TWO, 1, 2) == "your total"
    assert output_name(DOUBLE, 0, 1) == "your output"
    assert output_name(THREE, 2, 3) == "your output 3"


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (lambda x: 1 / 0, "your function raised ZeroDivisionError: division by zero"),
        (lambda x: x[:1], "your output has shape (1, 3) and should have (2, 3)"),
        (lambda x: x * np.inf, "your output is not finite"),
        (lambda x: np.full_like(x, 7.0), "every entry of your output is 7.000"),
    ],
)
def test_an_output_that_can_show_nothing_is_told_why(answer, complaint):
    assert informative(DOUBLE, CASE, observe(answer, CASE)) == (None, complaint)


def test_an_output_is_mended_before_it_is_looked_at():
    seen = observe(lambda x: x.ravel(), CASE)

    got, complaint = informative(DOUBLE, CASE, seen, lambda got, expected: got.reshape(expected.shape))

    assert (got.shape, complaint) == ((2, 3), "")


def test_cases_come_in_the_order_asked_for_and_an_unknown_one_is_a_fault():
    other = replace(CASE, name="d")
    run = [(CASE, Observation(status="returned")), (other, Observation(status="returned"))]

    assert [case.name for case, _ in on_cases(run, ["d", "c"])] == ["d", "c"]
    with pytest.raises(KeyError):
        list(on_cases(run, ["e"]))
