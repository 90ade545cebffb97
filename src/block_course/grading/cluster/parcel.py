"""What goes to a worker of the cluster and what comes back: bytes, bounded and looked at, and no secret."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from block_course.checks import assignment
from block_course.grading.attempt import Limits
from block_course.grading.judge import Task, grader_error
from block_course.grading.result import Result
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


def results_in(answer: bytes, batch: list[Task]) -> list[Result]:
    """The results of a batch; what is none for its submission is an error of the grader's."""
    found = json.loads(answer)
    return [_theirs(result, task) for result, task in zip(found, batch, strict=True)]


def _theirs(result: Any, task: Task) -> Result:
    if not isinstance(result, dict) or result.get("assignment") != task.assignment.stem:
        return grader_error(task, "a worker of the cluster sent something else than a result")
    answer: Result = result  # type: ignore[assignment]
    return answer
