"""The figures of the gallery add up what its tests have seen."""

import json

from tests.gallery import measured

SEEN = [
    ("right", {"of": "layer_norm.forward", "runs": 6, "rejected": 0}),
    ("right", {"of": "layer_norm.forward", "runs": 6, "rejected": 1}),
    ("right", {"of": "masks.causal", "runs": 6, "rejected": 0}),
    ("wrong", {"of": "layer_norm.forward", "diagnosed": True, "runs": 5, "passed": 0, "misnamed": 2}),
    ("wrong", {"of": "layer_norm.forward", "diagnosed": False, "runs": 5, "passed": 1, "misnamed": 0}),
    ("trivial", {"of": "layer_norm.forward", "share": 0.2}),
    ("trivial", {"of": "layer_norm.forward", "share": 0.125}),
    ("reference", {"of": "layer_norm.forward", "mutants": 9, "equal": 1, "survived": 0}),
]


def test_the_figures_of_an_exercise_are_the_sums_of_what_its_tests_saw() -> None:
    found = measured.figures(SEEN)

    assert found["layer_norm.forward"] == {
        "right": 2,
        "right_runs": 12,
        "rejected": 1,
        "wrong": 2,
        "diagnosed": 1,
        "wrong_runs": 10,
        "passed": 1,
        "misnamed": 2,
        "trivial": 2,
        "most_for_nothing": 0.2,
        "mutants": 9,
        "equal": 1,
        "survived": 0,
    }
    assert (found["masks.causal"]["right"], found["masks.causal"]["wrong"]) == (1, 0)


def test_the_file_has_a_line_for_each_exercise_and_says_how_many_seeds() -> None:
    text = measured.written(SEEN, seeds=7)

    stored = json.loads(text)
    assert stored == {"seeds": 7, "exercises": measured.figures(SEEN)}
    assert len(text.splitlines()) == len(stored["exercises"]) + 2
