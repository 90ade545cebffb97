"""The figures of the gallery add up what its tests have seen."""

import json
from typing import Any

from block_course.checks import exercise
from tests.gallery import measured
from tests.gallery.answers import gallery

ID = "layer_norm.forward"
SIZES = gallery(exercise(ID))
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
