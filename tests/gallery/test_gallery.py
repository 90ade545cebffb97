"""Every exercise against its gallery: no wrong answer passes, none right is rejected.

Each right answer meets SEEDS hidden runs in each dtype, each wrong one a quarter of that; GALLERY_SEEDS in
the environment asks for more.
"""

import os
from collections.abc import Callable

import pytest

from block_course.checks import assignments
from block_course.diagnosis import NO_RETURN
from block_course.exercise import Exercise
from tests.gallery.answers import MOST_FOR_NOTHING, gallery, hidden_cases, in_both_dtypes, verdict

# the package's shape checks have tests of their own, and here they would take most of the time
pytestmark = pytest.mark.usefixtures("unchecked")

Record = Callable[[str, object], None]
SEEDS = int(os.environ.get("GALLERY_SEEDS", "3"))
SEEDS_OF_WRONG = -(-SEEDS // 4)
EXERCISES = [exercise for assignment in assignments() for exercise in assignment.exercises]


def entries(kind: str) -> list[object]:
    return [
        pytest.param(exercise, name, id=f"{exercise.id}-{name.replace(' ', '-')}")
        for exercise in EXERCISES
        for name in getattr(gallery(exercise), kind)
    ]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_a_gallery_is_large_enough_to_mean_something(exercise: Exercise) -> None:
    shown = gallery(exercise)

    assert len(shown.right) >= 5
    assert len([wrong for wrong in shown.wrong.values() if wrong.diagnosis]) >= 6
    assert len(shown.trivial) >= 4
    # a test that returns None lets its block through, as one that asserts does
    no_return = {NO_RETURN} if exercise.calls != "test" else set()
    promised = no_return | {*(misconception.name for misconception in exercise.misconceptions)}
    assert promised <= {wrong.diagnosis for wrong in shown.wrong.values()}


@pytest.mark.parametrize(("exercise", "name"), entries("right"))
def test_a_right_answer_earns_all_points_whatever_the_seed_and_the_dtype(
    exercise: Exercise, name: str, record_property: Record
) -> None:
    answer = gallery(exercise).right[name]

    judged = {
        (seed, dtype): verdict(exercise, answer, cases)
        for seed in range(SEEDS)
        for dtype, cases in in_both_dtypes(hidden_cases(exercise, seed)).items()
    }

    rejected = {run: each.first_failure for run, each in judged.items() if each.status != "pass"}
    record_property("right", {"of": exercise.id, "runs": len(judged), "rejected": len(rejected)})
    assert not rejected
    assert {each.points for each in judged.values()} == {exercise.points}


@pytest.mark.parametrize(("exercise", "name"), entries("wrong"))
def test_a_wrong_answer_fails_and_is_told_its_misconception(
    exercise: Exercise, name: str, record_property: Record
) -> None:
    wrong = gallery(exercise).wrong[name]

    judged = [verdict(exercise, wrong.answer, hidden_cases(exercise, seed)) for seed in range(SEEDS_OF_WRONG)]

    passed = [seed for seed, each in enumerate(judged) if each.status not in ("wrong", "error")]
    named = [each.diagnosis and each.diagnosis.name for each in judged]
    misnamed = [seed for seed, each in enumerate(named) if each != wrong.diagnosis]
    counts = {"runs": len(judged), "passed": len(passed), "misnamed": len(misnamed)}
    record_property("wrong", {"of": exercise.id, "diagnosed": wrong.diagnosis is not None, **counts})
    assert not passed
    assert set(named) == {wrong.diagnosis}
    assert max(each.points for each in judged) < exercise.points


@pytest.mark.parametrize(("exercise", "name"), entries("trivial"))
def test_an_answer_that_does_no_work_earns_next_to_nothing(
    exercise: Exercise, name: str, record_property: Record
) -> None:
    answer = gallery(exercise).trivial[name]

    judged = [verdict(exercise, answer, hidden_cases(exercise, seed)) for seed in range(SEEDS_OF_WRONG)]

    most = max(each.points for each in judged) / exercise.points
    record_property("trivial", {"of": exercise.id, "share": most})
    assert most <= MOST_FOR_NOTHING
