"""What goes to a worker of a cluster, and what is taken of what comes back."""

import json
import pickle

import pytest

from block_course.checks import assignment
from block_course.grading.attempt import Limits
from block_course.grading.cluster.parcel import Parcel, results_in
from block_course.grading.judge import Task
from block_course.grading.worker import EXERCISES, Terms
from tests.block_course.grading.examples import SECRET
from tests.block_course.grading.graded import result

TERMS = Terms(SECRET, Limits(), EXERCISES)


def task(learner: str) -> Task:
    return Task(learner, assignment("layer_norm"), f"{learner}.ipynb", f"of {learner}".encode())


def test_a_parcel_holds_notebooks_and_no_secret() -> None:
    parcel = Parcel.of([task("ann"), task("bob")], TERMS)

    sent = pickle.dumps(parcel)
    unpacked = parcel.tasks()

    assert SECRET.handed_over() not in sent
    assert [given.learner for given, _ in unpacked] == ["ann", "bob"]
    assert [given for given, _ in unpacked] == [task("ann"), task("bob")]
    assert {said["key"] for _, said in unpacked} == {TERMS.key(task("ann")), TERMS.key(task("bob"))}


RIGHT_RESULT = result("ann", assignment="03_layer_norm")
GARBAGE = {
    "no JSON": b"\xff{",
    "no bytes": 7,
    "nested too deeply": b"[" * 100_000,
    "no list": b"7",
    "fewer than were asked for": b"[]",
    **{
        what: json.dumps([answer] if what != "more than were asked for" else [answer, answer]).encode()
        for what, answer in {
            "null": None,
            "an empty object": {},
            "of another assignment": result("ann"),
            "of another learner": {**RIGHT_RESULT, "learner": "bob"},
            "points that don't add up": {**RIGHT_RESULT, "points": 99.0},
            "points that are no number": {**RIGHT_RESULT, "points": "2.5"},
            "points that are NaN": {**RIGHT_RESULT, "points": float("nan")},
            "no exercises": {**RIGHT_RESULT, "exercises": [], "points": 0.0},
            "exercises that are none": {**RIGHT_RESULT, "exercises": ["x"]},
            "notes that are no list": {**RIGHT_RESULT, "notes": None},
            "more than were asked for": RIGHT_RESULT,
        }.items()
    },
}


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE.keys())
def test_what_is_no_result_of_the_submission_is_an_error_of_the_graders(answer: object) -> None:
    (found,) = results_in(answer, [task("ann")])

    assert found["points"] is None
    assert (found["learner"], found["assignment"]) == ("ann", "03_layer_norm")


def test_what_is_a_result_of_the_submission_is_taken() -> None:
    assert results_in(json.dumps([RIGHT_RESULT]).encode(), [task("ann")]) == [RIGHT_RESULT]
