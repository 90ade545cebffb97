"""What goes to a worker of the cluster and what comes back: bytes, bounded and looked at, and no secret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from block_course.checks import assignment
from block_course.grading.attempt import Limits
from block_course.grading.judge import Task, grader_error
from block_course.grading.result import Result, total
from block_course.grading.worker import Terms


@dataclass(frozen=True)
class Parcel:
    """A batch of submissions: what is said about them in JSON, with the key of each, and their bytes."""

    about: bytes
    notebooks: tuple[bytes, ...]

    @classmethod
    def of(cls, batch: list[Task], terms: Terms) -> Parcel:
        """Pack a batch."""
        about = [
            {
                "learner": task.learner,
                "assignment": task.assignment.stem,
                "file": task.file,
                "problem": task.problem,
                "limits": None if task.limits is None else asdict(task.limits),
                "secret": terms.secret.fingerprint,
                "key": terms.key(task),
            }
            for task in batch
        ]
        return cls(json.dumps(about).encode(), tuple(task.data for task in batch))

    def tasks(self) -> list[tuple[Task, dict[str, Any]]]:
        """Each submission, with what is said about it."""
        return [
            (
                Task(
                    said["learner"],
                    assignment(said["assignment"]),
                    said["file"],
                    data,
                    said["problem"],
                    None if said["limits"] is None else Limits(**said["limits"]),
                ),
                said,
            )
            for said, data in zip(json.loads(self.about), self.notebooks, strict=True)
        ]


def results_in(answer: object, batch: list[Task]) -> list[Result]:
    """The results of a batch; what is none for its submission is an error of the grader's."""
    try:
        found = json.loads(answer) if isinstance(answer, bytes) else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or len(found) != len(batch):
        found = [None] * len(batch)
    return [_theirs(result, task) for result, task in zip(found, batch, strict=True)]


def _theirs(result: Any, task: Task) -> Result:
    blank = grader_error(task, "a worker of the cluster sent something else than a result")
    return result if _is_result(result, blank) else blank


def _is_result(result: Any, blank: Result) -> bool:
    """Whether it has the parts of a result, of the same submission, with points that add up."""
    if not _is_like(result, blank):
        return False
    if any(result[name] != blank[name] for name in ("learner", "assignment")):
        return False
    marks = result["exercises"]
    if not marks or not all(_is_like(mark, blank["exercises"][0]) for mark in marks):
        return False
    points = [mark["points"] for mark in marks]
    if not all(each is None or 0.0 <= each <= mark["of"] for each, mark in zip(points, marks, strict=True)):
        return False
    return bool(result["points"] == total(marks))


def _is_like(given: Any, known: Mapping[str, Any]) -> bool:
    """Whether an object has the parts of another, of the same kinds, where that has a value."""
    if not isinstance(given, dict) or not given.keys() >= known.keys():
        return False
    return all(_is_of_kind(given[name], value) for name, value in known.items())


def _is_of_kind(given: Any, known: Any) -> bool:
    if known is None:
        return given is None or isinstance(given, str | int | float)
    return isinstance(given, int | float if isinstance(known, int | float) else type(known))
