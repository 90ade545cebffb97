from dataclasses import replace

import numpy as np
import pytest

from block_course.exercise import Case, Misconception
from block_course.expected import claimed, expected
from block_course.plain import words
from tests.block_course.doubling import EXERCISE, drawn
from tests.block_course.judging import BLIND, cases, looks_at_the_first_row
from tests.block_course.judging import EXERCISE as JUDGING

X = np.random.default_rng(0).normal(size=(4, 3))


def test_a_function_is_compared_with_the_reference_on_the_arguments() -> None:
    [regular, *_] = drawn()

    [right] = expected(EXERCISE, regular)

    np.testing.assert_array_equal(right, 2.0 * regular.arguments["x"])


def test_a_module_reference_gets_what_it_is_built_from_and_its_parameters() -> None:
    module = replace(
        EXERCISE, calls="module", reference=lambda init, state, x: x @ state["w"].T * init["scale"]
    )
    weight = np.ones((5, 3))

    [right] = expected(module, Case(name="c", arguments={"x": X}, init={"scale": 2.0}, state={"w": weight}))

    np.testing.assert_array_equal(right, 2.0 * X @ weight.T)


def test_gradients_are_the_references_too() -> None:
    of_gradients = replace(EXERCISE, reference=lambda x, dy: (2.0 * x, 2.0 * dy))

    _, dx = expected(of_gradients, Case(name="c", arguments={"x": X}, cotangent=X + 1.0))

    np.testing.assert_array_equal(dx, 2.0 * X + 2.0)


def test_a_table_is_read_in_the_order_of_its_names() -> None:
    table = replace(EXERCISE, returns=("b", "a"), reference=lambda: {"a": 1, "b": "word"})

    b, a = expected(table, Case(name="the table"))

    assert (words(b), a) == (("word",), 1)


def test_a_test_should_let_right_blocks_through_and_a_misconception_says_what_it_would() -> None:
    one_row = Misconception(name="one row", answer=looks_at_the_first_row, message=lambda case, given: "")
    met = {case.name.partition(",")[0]: case for case in cases(np.random.default_rng(0))}

    verdicts = {
        name: (bool(expected(JUDGING, case)[0]), bool(claimed(JUDGING, one_row, case)[0]))
        for name, case in met.items()
    }

    assert verdicts == {
        "a running mean": (True, True),
        BLIND: (False, False),
        "a mask that comes too late": (False, True),
    }


def test_each_function_is_asked_once_for_a_case_and_again_for_a_copy() -> None:
    asked = []

    def counted(x: np.ndarray) -> np.ndarray:
        asked.append(x)
        return 2.0 * x

    counting = replace(EXERCISE, reference=counted)
    case = Case(name="c", arguments={"x": X})
    other = replace(case, arguments={"x": X + 1.0})

    first, second = expected(counting, case), expected(counting, case)
    [of_the_copy] = expected(counting, other)

    assert len(asked) == 2
    assert first is second
    np.testing.assert_array_equal(of_the_copy, 2.0 * X + 2.0)


def test_what_is_known_of_a_case_cannot_be_written_to() -> None:
    [right] = expected(EXERCISE, Case(name="c", arguments={"x": X}))

    with pytest.raises(ValueError, match="read-only"):
        right += 1.0
