"""Whatever a child claims that an answer gave, it is judged: never an error of the grader, never a point."""

from collections.abc import Iterator

import numpy as np
import pytest

from block_course.checks import assignments
from block_course.exercise import Array, Exercise, Observation, Outputs
from block_course.plain import NAMES, TEXT
from block_course.verdict import judge

pytestmark = pytest.mark.slow

EXERCISES = [each for assignment in assignments() for each in assignment.exercises]
KINDS = ("numpy.ndarray", "torch.Tensor", TEXT, NAMES, "float", "refused: missing", "refused: None", "", "\n")
ODD: tuple[Array, ...] = (
    np.zeros(()),
    np.zeros(0),
    np.full(7, 10, np.uint8),
    np.full((2, 3), np.nan, np.float16),
    np.full((0, 5), 1, np.int64),
    np.ones((1,) * 8, np.bool_),
    np.full(3, -(2**31), np.int32),
)


def forged() -> Iterator[tuple[Outputs, tuple[str, ...]]]:
    """Outputs of any number, shape and dtype with kinds that have nothing to do with them."""
    yield (), ()
    for number, kind in enumerate(KINDS):
        for count in (1, 2, 3, 5):
            yield tuple(ODD[(number + place) % len(ODD)] for place in range(count)), (kind,) * count


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.id)
def test_forged_outputs_are_judged(exercise: Exercise) -> None:
    cases = exercise.cases(np.random.default_rng(5))

    for outputs, kinds in forged():
        seen = Observation(status="returned", outputs=outputs, kinds=kinds)

        verdict = judge(exercise, [(case, seen) for case in cases])

        assert verdict.status != "pass"
