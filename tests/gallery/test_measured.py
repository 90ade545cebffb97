"""The figures of the gallery add up what its tests have seen."""

import json
from typing import Any

import pytest

from block_course.checks import assignments, exercise
from block_course.exercise import Exercise
from tests.gallery import measured
from tests.gallery.answers import MOST_FOR_NOTHING, gallery

ID = "layer_norm.forward"
SIZES = gallery(exercise(ID))
EXERCISES = [exercise for assignment in assignments() for exercise in assignment.exercises]
SEEDS = 200
"""Of the run whose figures the book shows."""
NOT_WHOLE = ("right", {"of": "masks.causal", "runs": 6, "rejected": 0})


def seen_of_all(rejected: int = 0) -> list[tuple[str, dict[str, Any]]]:
    """What a run over the whole gallery of one exercise sees."""
    right = [("right", {"of": ID, "runs": 6, "rejected": 0}) for _ in SIZES.right]
    right[0][1]["rejected"] = rejected
    wrong = [
        ("wrong", {"of": ID, "diagnosed": bool(each.diagnosis), "runs": 5, "passed": 0, "misnamed": 0})
        for each in SIZES.wrong.values()
    ]
    wrong[0][1].update(passed=1, misnamed=2)
    trivial = [("trivial", {"of": ID, "share": 0.125}) for _ in SIZES.trivial]
    trivial[-1][1]["share"] = 0.2
    mutants = [("reference", {"of": ID, "mutants": 9, "equal": 1, "survived": 0})]
    return [*right, *wrong, *trivial, *mutants, NOT_WHOLE]


def test_the_figures_of_an_exercise_are_the_sums_of_what_its_tests_saw() -> None:
    found = measured.figures(seen_of_all(rejected=1), seeds=7)

    assert found[ID] == {
        "seeds": 7,
        "right": len(SIZES.right),
        "right_runs": 6 * len(SIZES.right),
        "rejected": 1,
        "wrong": len(SIZES.wrong),
        "diagnosed": sum(bool(each.diagnosis) for each in SIZES.wrong.values()),
        "wrong_runs": 5 * len(SIZES.wrong),
        "passed": 1,
        "misnamed": 2,
        "trivial": len(SIZES.trivial),
        "most_for_nothing": 0.2,
        "mutants": 9,
        "equal": 1,
        "survived": 0,
    }


def test_an_exercise_of_which_not_all_ran_has_no_figures() -> None:
    without_mutants = [each for each in seen_of_all() if each[0] != "reference"]

    assert set(measured.figures(seen_of_all(), seeds=7)) == {ID}
    assert measured.figures(without_mutants, seeds=7) == {}
    assert measured.figures(seen_of_all()[1:], seeds=7) == {}


def test_the_file_has_a_line_for_each_exercise_and_keeps_what_is_stored_of_others() -> None:
    before = {ID: {"seeds": 1}, "masks.causal": {"seeds": 200}, "gone.from_the_course": {"seeds": 200}}

    text = measured.written(seen_of_all(), seeds=7, stored=before)

    stored = json.loads(text)
    assert stored == {**measured.figures(seen_of_all(), seeds=7), "masks.causal": {"seeds": 200}}
    assert len(text.splitlines()) == len(stored) + 2


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_the_figures_that_the_book_shows_are_of_the_gallery_as_it_is_and_no_answer_is_misjudged(
    exercise: Exercise,
) -> None:
    stored = json.loads(measured.STORED.read_text(encoding="utf-8"))
    shown = gallery(exercise)

    found = stored.get(exercise.id)

    assert found is not None, f"run make gallery ONLY={exercise.id}"
    sizes = (len(shown.right), len(shown.wrong), len(shown.trivial))
    assert (found["right"], found["wrong"], found["trivial"]) == sizes, f"run make gallery ONLY={exercise.id}"
    assert found["seeds"] == SEEDS
    assert found["right_runs"] == found["right"] * SEEDS * 3
    assert found["wrong_runs"] == found["wrong"] * SEEDS / 4
    assert [found[fault] for fault in ("rejected", "passed", "misnamed", "survived")] == [0, 0, 0, 0]
    assert found["most_for_nothing"] <= MOST_FOR_NOTHING


def test_the_figures_that_the_book_shows_are_of_exercises_that_there_are() -> None:
    stored = json.loads(measured.STORED.read_text(encoding="utf-8"))

    assert list(stored) == [each.id for each in EXERCISES]
