from dataclasses import replace

import numpy as np
import pytest

from block_course.calling import observe
from block_course.checks.properties import paired, shapes, values
from block_course.exercise import Case
from tests.block_course.doubling import EXERCISE as DOUBLE

X = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 8.0]])
CASES = [
    Case(name="plain", arguments={"x": X}),
    Case(name="plus one", arguments={"x": X + 1}),
    Case(name="other", arguments={"x": X[::-1].copy()}),
    Case(name="float32", arguments={"x": X.astype(np.float32)}),
]
TWO = replace(DOUBLE, reference=lambda x: (2.0 * x, x.sum(-1, keepdims=True)))


def failure(each, answer, exercise=DOUBLE):
    return each.holds(exercise, [(case, observe(answer, case)) for case in CASES])


def said(each, answer, exercise=DOUBLE):
    found = failure(each, answer, exercise)
    return found and (found.case, found.message)


DOUBLED = values("doubled", "doubled", 1.0, on=("plain", "plus one"))


def test_values_hold_for_the_reference_and_name_the_first_entry_that_differs():
    def one_off(x):
        y = 2 * x
        y[1, 2] += 0.5
        return y

    assert said(DOUBLED, lambda x: x + x) is None
    assert said(DOUBLED, one_off) == ("plain", "entry [1, 2] is 16.500 and should be 16.000")


def test_a_float64_result_that_float32_has_passed_through_is_told_so():
    _, message = said(DOUBLED, lambda x: (2.2 * x).astype(np.float32).astype(np.float64) / 1.1)

    assert message.endswith(", to more than the seven digits of float32: is a step computed in that?")
    assert "seven digits" not in said(DOUBLED, lambda x: 2 * x * (1 + 1e-6))[1]
    assert "seven digits" not in said(DOUBLED, lambda x: x.astype(np.float32))[1]


def test_values_look_at_their_own_cases_in_order():
    each = values("v", "v", 1.0, on=("other", "plain"))

    assert said(each, lambda x: x)[0] == "other"
    assert said(each, lambda x: 2 * x if x[0, 0] in (1.0, 3.0) else x) is None
    with pytest.raises(KeyError):
        failure(values("v", "v", 1.0, on=("unheard of",)), lambda x: x)


def test_slack_and_a_condition_widen_the_tolerance():
    almost = lambda x: 2 * x * (1 + 1e-9)  # noqa: E731

    assert failure(DOUBLED, almost) is not None
    assert failure(values("v", "v", 1.0, on=("plain",), slack=1e-8), almost) is None
    assert failure(values("v", "v", 1.0, on=("plain",), condition=1e8), almost) is None


def test_an_adjustment_mends_what_another_property_judges():
    each = values("v", "v", 1.0, on=("plain",), adjust=lambda got, expected: got.reshape(expected.shape))

    assert failure(each, lambda x: (2 * x).ravel()) is None


def test_an_explanation_replaces_the_general_sentence_unless_it_has_none():
    def explain(case, index, got, expected):
        return f"{case.name} at {index}" if index == (0, 0) else None

    each = values("v", "v", 1.0, on=("plain",), explain=explain)

    assert said(each, lambda x: x) == ("plain", "plain at (0, 0)")
    assert said(each, lambda x: np.where(x == 8, x, 2 * x))[1] == "entry [1, 2] is 8.000 and should be 16.000"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda x: 1 / 0, "your function raised ZeroDivisionError: division by zero"),
        (lambda x: x.sort(), "your function returned None"),
        (lambda x: (2 * x)[:1], "your output has shape (1, 3) and should have (2, 3)"),
    ],
)
def test_an_answer_without_a_fitting_array_is_told_what_it_gave(answer, message):
    assert said(DOUBLED, answer) == ("plain", message)


def test_a_call_that_ended_otherwise_is_named_by_how_it_ended():
    [(case, seen)] = [
        (CASES[0], replace(observe(np.negative, CASES[0]), status="timeout", message="after 5 s"))
    ]

    assert values("v", "v", 1.0, on=("plain",)).holds(DOUBLE, [(case, seen)]).message == "timeout after 5 s"


def test_values_judge_one_output_of_several():
    each = values("sum", "sum", 1.0, on=("plain",), output=1)

    assert failure(each, lambda x: (x, x.sum(-1, keepdims=True)), TWO) is None
    assert failure(each, lambda x: (2 * x, x), TWO) is not None


STEADY = paired(
    "steady",
    "differences stay",
    1.0,
    pairs=(("plain", "plus one"),),
    alive=("plain", "other"),
    expect=lambda before, after, y, y_after: y + 1,
)


@pytest.mark.parametrize(("dtype", "holds"), [(np.float32, True), (np.float16, False)])
def test_numbers_in_float32_are_judged_as_such_and_coarser_ones_are_not(dtype, holds):
    third = lambda x: (x / 3).astype(dtype)  # noqa: E731
    exercise = replace(DOUBLE, reference=lambda x: x / 3)
    steady = a_third_apart(lambda before, after, y, y_after: y + 1 / 3)

    assert (failure(values("v", "v", 1.0, on=("plain",)), third, exercise) is None) is holds
    assert (failure(steady, third, exercise) is None) is holds


def a_third_apart(expect):
    return paired("s", "s", 1.0, pairs=(("plain", "plus one"),), alive=("plain", "other"), expect=expect)


@pytest.mark.parametrize("make", [values, shapes])
def test_a_property_may_have_hints_of_its_own(make):
    hints = ("where", "what", "how")

    assert make("p", "p", 1.0, on=("plain",), requires=(), hints=hints).hints == hints


def test_a_pair_is_judged_on_the_answers_own_outputs():
    assert said(STEADY, lambda x: x - 7) is None
    assert said(STEADY, lambda x: 2 * x) == ("plus one", "entry [0, 0] is 4.000 and should be 3.000")


@pytest.mark.parametrize(
    ("answer", "said_of"),
    [
        (lambda x: np.ones_like(x), ("plain", "every entry of your output is 1.000")),
        (lambda x: x * np.nan, ("plain", "your output is not finite")),
        (lambda x: x[:1], ("plain", "your output has shape (1, 3) and should have (2, 3)")),
        (
            lambda x: np.arange(6.0).reshape(2, 3),
            ("other", "your output stays the same when the input changes"),
        ),
        (lambda x: 1 / 0, ("plain", "your function raised ZeroDivisionError: division by zero")),
    ],
)
def test_output_that_shows_nothing_fails_a_pair(answer, said_of):
    assert said(STEADY, answer) == said_of


def test_shapes_are_those_of_the_reference():
    each = shapes("shape", "shape", 1.0, on=("plain",), requires=())

    assert failure(each, lambda x: (x, x[:, :1]), TWO) is None
    assert said(each, lambda x: (x, x.sum(-1)), TWO) == (
        "plain",
        "your output 2 has shape (2,) and should have (2, 1)",
    )
    assert said(each, lambda x: (x, "sum"), TWO) == (
        "plain",
        "your output 2 is a str where an array belongs",
    )
