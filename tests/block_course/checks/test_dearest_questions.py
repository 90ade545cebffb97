"""What a learner's test asks its block is computed by the grader: no question takes more than it may."""

import itertools
import resource

import numpy as np
import pytest

from block_course.checks import assignments
from block_course.exercise import Case, Exercise
from block_course.under_test import GRADIENTS, MOST_NUMBERS, MOST_TOKENS, Interview

MOST_KILOBYTES = 192 << 10
TESTS = [each for assignment in assignments() for each in assignment.exercises if each.calls == "test"]


def asked(case: Case, question: str, shape: tuple[int, ...]) -> str:
    """What comes of a question, and whether it took more memory than it may."""
    x = np.random.default_rng(0).normal(size=shape)
    interview = Interview(case.subject)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        interview.ask(question, (x, x) if question == GRADIENTS else (x,))
        said = "answered"
    except ValueError as error:
        said = str(error)
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return said if taken < MOST_KILOBYTES else f"{taken >> 10} MB"


@pytest.mark.parametrize("exercise", TESTS, ids=[each.id for each in TESTS])
def test_the_dearest_questions_are_answered_or_refused_within_bounds(exercise: Exercise) -> None:
    case = exercise.cases(np.random.default_rng(3))[0]
    D = case.arguments["x"].shape[-1]
    most = MOST_NUMBERS // D
    shapes = [(1, most, D), (1, MOST_TOKENS, D), (most // MOST_TOKENS, MOST_TOKENS, D), (1, most // 2, D)]

    said = {
        asked(case, question, shape) for question, shape in itertools.product(case.subject.answers, shapes)
    }

    refused = {each for each in said if each.startswith("a call may ")}
    assert said <= {"answered"} | refused
    assert "answered" in said
    assert refused


def test_gradients_by_differences_are_for_few_numbers() -> None:
    (exercise,) = (each for each in TESTS if each.id == "masks.is_causal")
    case = exercise.cases(np.random.default_rng(3))[0]
    D = case.arguments["x"].shape[-1]

    assert asked(case, GRADIENTS, (2, 5, D)) == "answered"
    assert asked(case, GRADIENTS, (1, 256, D)) == (
        f"a call may ask for the gradients by 512 numbers; got {256 * D:,}"
    )
