"""Observations come from a process that a learner may have taken over: any of them gets a verdict."""

import numpy as np
import pytest

from block_course.checks import assignments
from block_course.exercise import Observation
from block_course.expected import expected
from block_course.verdict import judge

# unchecked for the time it takes: references meet thousands of cases here
pytestmark = pytest.mark.usefixtures("unchecked")

EXERCISES = [exercise for assignment in assignments() for exercise in assignment.exercises]
DTYPES = ("f2", "f4", "f8", "i4", "i8", "u1", "b1")
ENDINGS = ("not attempted", "missing", "raised", "timeout", "memory", "died", "forbidden")
STATUSES = ("returned",) * 40 + ENDINGS
KINDS = ("numpy.ndarray", "torch.Tensor", "float", "refused: a dict", "\x00<b>")


class Forger:
    """Makes observations: the right output with something odd about it, now and then plain nonsense."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def pick(self, choices):
        return choices[self.rng.integers(len(choices))]

    def noise(self):
        sides = tuple(self.rng.integers(0, 4, self.rng.integers(0, 4)))
        return self.rng.integers(-9, 9, sides).astype(self.pick(DTYPES))

    def output(self, right):
        odd = self.pick((1.0, 1.0, 0.0, -1.0, np.nan, np.inf, 1e308))
        like_it = np.asarray(self.pick(right) * odd).astype(self.pick(("f8", "f8", *DTYPES)))
        return self.pick((like_it, like_it, like_it.ravel(), like_it.T, self.noise()))

    def observation(self, case, right):
        some = range(self.pick((len(right),) * 6 + (0, 1, 3)))
        arguments = {name: v for name, v in case.arguments.items() if isinstance(v, np.ndarray)}
        after = self.pick((arguments, arguments, {}, dict.fromkeys(arguments, self.noise())))
        return Observation(
            status=self.pick(STATUSES),
            outputs=tuple(self.output(right) for _ in some),
            kinds=self.pick(((KINDS[0],) * len(some), (KINDS[0],), tuple(self.pick(KINDS) for _ in some))),
            arguments_after=after,
            message=self.pick(("", "ValueError: <b>", "\x00")),
        )


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
@pytest.mark.filterwarnings(
    "ignore:invalid value encountered in cast:RuntimeWarning"
)  # the forger's own NaN → int
def test_any_observation_gets_a_verdict_and_never_more_than_the_points(exercise):
    cases = exercise.cases(np.random.default_rng(0))
    rights = [expected(exercise, case) for case in cases]
    statuses = set()

    for seed in range(30 if exercise.calls == "test" else 150):  # known weak tests take their time
        forger = Forger(seed)
        with np.errstate(all="ignore"):
            run = [(case, forger.observation(case, right)) for case, right in zip(cases, rights, strict=True)]

        verdict = judge(exercise, run)

        statuses.add(verdict.status)
        assert 0.0 <= verdict.points <= exercise.points
        assert verdict.public().message == ""
    assert len(statuses) >= 4
