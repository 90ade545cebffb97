"""The result of a submission: plain data that goes to the store and to the results as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, cast

PASS = "pass"
UNREADABLE = "unreadable"
GRADER_ERROR = "grader error"
VERDICTS = (
    PASS,
    "wrong",
    "error",
    "timeout",
    "memory",
    "forbidden",
    "not attempted",
    UNREADABLE,
    GRADER_ERROR,
)


class Property(TypedDict):
    """Whether a property holds; by how much it fails is not said, because the inputs are hidden."""

    property: str
    outcome: str
    points: float
    of: float


class Mark(TypedDict):
    """What an exercise earned. A grader error has no points, and they are not zero.

    Where a person has set the points, `automatic` holds those that the grader found.
    """

    id: str
    title: str
    verdict: str
    points: float | None
    of: float
    feedback: list[Property]
    diagnosis: str | None
    why: str
    automatic: NotRequired[float | None]
    comment: NotRequired[str]


class Result(TypedDict):
    """What a submission earned: `points` is null if the grader failed on any of its exercises.

    `attempt` counts what the learner handed in for the assignment; the store adds it, and a person's comment.
    `submitted` is when they did, in the words of whoever knows.
    """

    learner: str
    assignment: str
    file: str
    content: str
    points: float | None
    of: float
    exercises: list[Mark]
    notes: list[str]
    printed: str
    walls: list[str]
    seconds: float
    attempt: NotRequired[int]
    submitted: NotRequired[str]
    comment: NotRequired[str]


def of_learner(result: Mapping[str, Any], learner: str, file: str, submitted: str = "") -> Result:
    """The result as that of one who handed in the same bytes."""
    own = {"learner": learner, "file": file} | ({"submitted": submitted} if submitted else {})
    return cast(Result, {**{name: value for name, value in result.items() if name != "submitted"}, **own})


def total(marks: list[Mark]) -> float | None:
    """The sum of the points, or None if one of them is not known."""
    points = [each["points"] for each in marks]
    return None if None in points else float(sum(each for each in points if each is not None))


def has_grader_error(result: Result) -> bool:
    """Whether any exercise could not be graded for a reason that isn't the learner's."""
    return any(mark["verdict"] == GRADER_ERROR for mark in result["exercises"])
