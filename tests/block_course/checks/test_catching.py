import numpy as np
import pytest

from block_course.calling import observe
from block_course.checks.catching import catches
from block_course.verdict import judge
from tests.block_course.judging import (
    BLIND,
    EXERCISE,
    LATE,
    by_gradients,
    cases,
    good,
    looks_at_the_first_row,
)


def verdict(answer, seed=0):
    drawn = cases(np.random.default_rng(seed))
    return judge(EXERCISE, [(case, observe(answer, case, EXERCISE.manner)) for case in drawn])


@pytest.mark.parametrize("answer", [good, by_gradients])
@pytest.mark.parametrize("seed", range(5))
def test_a_test_that_catches_every_fault_earns_all(answer, seed) -> None:
    judged = verdict(answer, seed)

    assert (judged.status, judged.points) == ("pass", 3.0)


@pytest.mark.parametrize("answer", [lambda block, x: True, lambda block, x: False])
def test_a_test_that_says_the_same_of_every_block_earns_nothing(answer) -> None:
    judged = verdict(answer)

    assert (judged.status, judged.points) == ("wrong", 0.0)


def test_a_test_earns_the_share_that_it_catches_and_its_misconception_is_named() -> None:
    judged = verdict(looks_at_the_first_row)

    assert judged.points == 2.0
    assert judged.first_failure.case == LATE
    assert judged.first_failure.message == "your test lets this block through, which is wrong"
    assert judged.diagnosis.name == "one row"
    assert judged.diagnosis.message == f"{LATE} got through: you look at the first row alone"


def test_a_test_that_rejects_a_right_block_is_told_so() -> None:
    judged = verdict(lambda block, x: False)

    assert judged.first_failure.message == "your test rejects this block, which is right"


def test_a_test_that_returns_an_array_is_told_what_a_test_says() -> None:
    judged = verdict(lambda block, x: block(x) == x)

    message = "a test says True or False; yours returned an array of shape (5, 3)"
    assert judged.first_failure.message == message


def test_a_test_that_has_not_been_written_is_not_attempted() -> None:
    def is_causal(block, x):
        raise NotImplementedError()

    assert verdict(is_causal).status == "not attempted"


def test_a_fault_that_no_case_has_is_a_fault_of_the_exercise() -> None:
    drawn = cases(np.random.default_rng(0))
    run = [(case, observe(good, case, EXERCISE.manner)) for case in drawn]

    with pytest.raises(ValueError, match=r"no case of tiny\.causal has the fault 'turned over'"):
        catches("turned over", "", 1.0).holds(EXERCISE, run)
    assert catches(BLIND, "", 1.0).holds(EXERCISE, run) is None
