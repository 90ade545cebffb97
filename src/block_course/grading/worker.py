"""What grades: in the process that the user started, or in several that this one starts."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import math
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import block_course
from block_course.exercise import Assignment
from block_course.grading.attempt import Limits
from block_course.grading.box import Box, Settings
from block_course.grading.hidden import Hidden
from block_course.grading.judge import Task, grade_one, grader_error
from block_course.grading.notebook import Notebook, read
from block_course.grading.one_cpu import one_cpu
from block_course.grading.result import Result
from block_course.grading.secret import Secret

EXERCISES = Path(__file__).resolve().parents[3] / "exercises"
_DECIDING = ("*.py", "checks/**/*.py", "grading/**/*.py")
"""The files of the course that a result may depend on; the book and its figures are not among them."""


@dataclass(frozen=True)
class Terms:
    """What all submissions of a run have in common; `exercises` is the folder of released notebooks.

    `unsafe` grades where nothing keeps the learners' code in.
    """

    secret: Secret
    limits: Limits
    exercises: Path
    unsafe: bool = False

    def released(self, assignment: Assignment) -> bytes:
        """The bytes of a released notebook. Raises OSError."""
        return (self.exercises / f"{assignment.stem}.ipynb").read_bytes()

    def key(self, task: Task) -> str:
        """All that a result depends on, as a digest: where two keys are equal, one result serves.

        Whose the submission is has no part in it.
        """
        parts = [
            task.assignment.stem,
            hashlib.sha256(task.data).hexdigest(),
            task.problem,
            self.secret.fingerprint,
            asdict(self.limits),
            self.unsafe,
            version(task.assignment),
            hashlib.sha256(self.released(task.assignment)).hexdigest(),
        ]
        return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


class Grader:
    """Grades one submission after the other, with a box for the assignment that is under way."""

    def __init__(self, terms: Terms) -> None:
        """Nothing is started before the first submission."""
        self._terms = terms
        self._hidden = Hidden(terms.secret)
        self._box: Box | None = None
        self._stem = ""
        self._released = Notebook(())
        self._until_the_end = ExitStack()

    def __enter__(self) -> Grader:
        self._until_the_end.enter_context(one_cpu())
        return self

    def __exit__(self, *error: object) -> None:
        self._close_box()
        self._until_the_end.close()

    def grade(self, task: Task) -> Result:
        """The result of a submission; a failure of the grader's own is a result too, without points."""
        try:
            box = self._box_for(task.assignment)
            limits = task.limits or self._terms.limits
            return grade_one(task, self._released, box, self._hidden, limits)
        except Exception as error:  # of ours, whichever it is: the next submission must still be graded
            return grader_error(task, f"{type(error).__name__}: {error}")

    def _box_for(self, assignment: Assignment) -> Box:
        if self._box is None or self._stem != assignment.stem:
            self._close_box()
            self._released = read(self._terms.released(assignment))
            needs = settings(assignment, self._terms.limits, unsafe=self._terms.unsafe)
            self._box, self._stem = Box(needs), assignment.stem
            self._hidden = Hidden(self._terms.secret)
        self._box.start()  # now, so that nobody's time is spent on it
        return self._box

    def _close_box(self) -> None:
        if self._box is not None:
            self._box.close()
            self._box = None


def settings(assignment: Assignment, limits: Limits, *, unsafe: bool = False) -> Settings:
    """What the box of an assignment needs."""
    return Settings(
        assignment=assignment.stem,
        permitted=assignment.permitted,
        torch=any(each.framework == "torch" for each in assignment.exercises),
        memory_bytes=int(limits.memory_mb * 2**20),
        cpu_seconds=math.ceil(limits.submission_seconds) + 1,
        unsafe=unsafe,
    )


@cache
def _version_of_sources() -> str:
    sources = Path(block_course.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(each for room in _DECIDING for each in sources.glob(room)):
        digest.update(f"{path.relative_to(sources)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@cache
def _installed(library: str) -> str:
    # it is read from a file that is parsed as a mail: 6 ms, for each submission if it were not kept
    return importlib.metadata.version(library)


def version(assignment: Assignment) -> str:
    """A digest of the code and of the numeric libraries that an assignment is graded with."""
    libraries = ["numpy", *({each.framework for each in assignment.exercises} - {"numpy"})]
    versions = [f"{name} {_installed(name)}" for name in libraries]
    return hashlib.sha256("\0".join([_version_of_sources(), *versions]).encode()).hexdigest()
