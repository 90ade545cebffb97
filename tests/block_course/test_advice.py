from dataclasses import replace

import numpy as np
import pytest

from block_course.advice import Ending, ending
from block_course.calling import observe
from block_course.exercise import Case
from tests.block_course.doubling import EXERCISE

CASE = Case(name="c", arguments={"x": np.ones((2, 3)), "eps": 0.25, "mask": None})


def reference(x, eps, mask=None, ddof=0, tiny=1e-5):
    return x


TWICE = replace(EXERCISE, reference=reference)


def advice_for(answer, case=CASE):
    return ending(TWICE, case, observe(answer, case))


def test_an_ending_says_with_what_the_function_was_called_and_where_it_stopped():
    said = advice_for(lambda x, eps, mask: 1 / 0)

    assert said.called_with == "x of shape (2, 3), eps 0.25, mask None"
    assert said.place.startswith("line ")
    assert (said.advice, said.instead) == ("", False)


def test_a_name_that_holds_no_function_is_told_to_run_its_cell_again():
    assert advice_for((1, 2)) == Ending(
        advice="`double` now names an object of type tuple, not a function; run its cell again.", instead=True
    )


def test_a_parameter_that_the_call_leaves_out_wants_its_default():
    case = replace(CASE, arguments={"x": np.ones(2), "eps": 0.25, "mask": None, "ddof": 1})

    assert advice_for(lambda x, eps, mask, ddof, tiny: x, case).advice == (
        "This call leaves out `tiny`: give it its default, `tiny=1e-5`, where you define `double`."
    )
    assert advice_for(lambda x, eps, mask, ddof, tiny: x).advice == (
        "This call leaves out `ddof` and `tiny`: give them their defaults, `ddof=0`, `tiny=1e-5`, where you "
        "define `double`."
    )


@pytest.mark.parametrize("answer", [lambda x: x, lambda: 1, lambda a, b, c, d, e, f: a])
def test_other_parameters_than_those_of_the_call_are_told_the_call(answer):
    assert advice_for(answer).advice == "This call is `double(x, eps, mask)`."


def test_a_line_of_the_empty_cell_that_was_left_is_told_to_go():
    def answer(x, eps, mask):
        y = 2 * x
        raise NotImplementedError()
        return y

    assert advice_for(answer).advice == "Delete the line `raise NotImplementedError()`."


def test_a_function_that_returned_nothing_to_the_answer_is_asked_for():
    def answer(x, eps, mask):
        mean, _ = mask
        return mean

    assert advice_for(answer).advice.endswith("does each function that it calls have its `return`?")
