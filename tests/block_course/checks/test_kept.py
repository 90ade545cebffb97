from dataclasses import replace

import numpy as np
import pytest
import torch

from block_course.calling import observe
from block_course.checks.kept import dtype_kept, inputs_unchanged, precision_kept
from block_course.exercise import Case
from tests.block_course.doubling import EXERCISE as DOUBLE

X = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 8.0]])
CASES = [
    Case(name="plain", arguments={"x": X}),
    Case(name="float32", arguments={"x": X.astype(np.float32)}),
]
DTYPE = dtype_kept(1.0, of="x", requires=())
PRECISION = precision_kept(1.0, of="x", requires=())
INPUTS = inputs_unchanged(1.0, requires=())


def said(each, answer, exercise=DOUBLE):
    found = each.holds(exercise, [(case, observe(answer, case, exercise.manner)) for case in CASES])
    return found and (found.case, found.message)


def always(dtype):
    return lambda x: (2 * x).astype(dtype)


def test_the_dtype_of_an_argument_is_kept():
    assert said(DTYPE, lambda x: 2 * x) is None
    assert said(DTYPE, always(np.float64)) == ("float32", "x is float32; you return float64")
    assert said(DTYPE, always(np.float32)) == ("plain", "x is float64; you return float32")


def test_the_precision_of_an_argument_is_kept_by_a_wider_dtype():
    assert said(PRECISION, lambda x: 2 * x) is None
    assert said(PRECISION, always(np.float64)) is None
    assert said(PRECISION, always(np.float32)) == ("plain", "x is float64; you return float32")
    assert said(PRECISION, always(np.int64)) == ("plain", "x is float64; you return int64")


@pytest.mark.parametrize("each", [DTYPE, PRECISION])
@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (lambda x: float(x[0, 0]), "a float"),
        (lambda x: torch.from_numpy(x), "a torch tensor"),
        (lambda x: np.ma.masked_array(x), "a MaskedArray"),
        (lambda x: {"y": x}, "a dict"),
    ],
)
def test_what_is_no_plain_array_is_named(each, answer, what):
    assert said(each, answer) == ("plain", f"you return {what}, not a NumPy array")


def test_a_numpy_number_has_a_dtype_and_its_shape_is_judged_elsewhere():
    assert said(DTYPE, lambda x: x[0, 0]) is None


def test_an_exercise_in_torch_wants_a_tensor():
    of_torch = replace(DOUBLE, framework="torch")

    assert said(DTYPE, lambda x: 2 * x, of_torch) is None
    assert said(DTYPE, lambda x: x.numpy(), of_torch) == (
        "plain",
        "you return a NumPy array, not a torch tensor",
    )


@pytest.mark.parametrize("change", [lambda x: x.__iadd__(1.0), lambda x: np.negative(x, out=x)])
def test_an_input_that_was_written_to_is_named(change):
    assert said(INPUTS, lambda x: 2 * x) is None
    assert said(INPUTS, change) == ("plain", "the call changed x; work on a new array")


def test_an_input_that_did_not_come_back_counts_as_changed():
    case = Case(name="plain", arguments={"x": X, "eps": 0.5})
    seen = observe(lambda x, eps: x, case)

    assert INPUTS.holds(DOUBLE, [(case, seen)]) is None
    for after in ({}, {"x": X.astype(np.float32)}, {"x": X.ravel()}):
        assert INPUTS.holds(DOUBLE, [(case, replace(seen, arguments_after=after))]) is not None
