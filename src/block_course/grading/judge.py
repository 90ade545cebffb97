"""From a submission's bytes to its result. Answers run in the box; all that is decided is decided here."""

from __future__ import annotations

import builtins
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

from block_course.exercise import Assignment, Exercise, Observation, Run
from block_course.grading.attempt import Attempt, Limits
from block_course.grading.box import Box
from block_course.grading.hidden import Hidden
from block_course.grading.naming import is_solved_in
from block_course.grading.neutral import lines, one_line, storable
from block_course.grading.notebook import Notebook, Unreadable, read
from block_course.grading.plan import plan
from block_course.grading.result import GRADER_ERROR, UNREADABLE, Mark, Property, Result, total
from block_course.grading.walls import UNSAFE
from block_course.verdict import judge

MOST_NOTES = 40
UNSAFE_NOTE = "graded with --unsafe: nothing kept this code from the grader, so its points prove nothing"

_OUR_WORDS = ("timeout", "forbidden", "died")
"""The child can't report these of itself, so that their message is the grader's."""
_EXCEPTIONS = frozenset(
    name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, Exception)
)


@dataclass(frozen=True, slots=True)
class Task:
    """A submission to be graded: whose it is, where it came from, and its bytes or why there are none.

    `limits` are its own, where they are tighter than those of the run; `submitted` is when it was handed in.
    """

    learner: str
    assignment: Assignment
    file: str
    data: bytes
    problem: str = ""
    limits: Limits | None = None
    submitted: str = ""


def grade_one(task: Task, released: Notebook, box: Box, hidden: Hidden, limits: Limits) -> Result:
    """The result of one submission. Nothing that a learner hands in makes it raise."""
    began = time.monotonic()
    try:
        if task.problem:
            raise Unreadable(task.problem)
        submitted = read(task.data)
    except Unreadable as error:
        marks = [_without_points(each, UNREADABLE, str(error)) for each in task.assignment.exercises]
        return _result(task, marks, began)
    todo = plan(submitted, released)
    with Attempt(box, todo.steps, limits) as attempt:
        marks = [_mark(each, task.assignment, attempt, hidden) for each in task.assignment.exercises]
    unsafe = [UNSAFE_NOTE] if UNSAFE in attempt.walls else []
    failed = [
        f"{step.name}: {end.message}"
        for step, end in attempt.outcomes
        if end.status != "done" and not step.shown
    ]
    return _result(
        task,
        marks,
        began,
        notes=[*unsafe, *submitted.notes, *todo.notes, *failed],
        printed=attempt.printed.decode("utf-8", "replace"),
        walls=attempt.walls,
    )


def grader_error(task: Task, why: str) -> Result:
    """The result of a submission that the grader has failed on: no points are known, which is not zero."""
    marks = [_without_points(each, GRADER_ERROR, why) for each in task.assignment.exercises]
    return _result(task, marks, time.monotonic())


def _result(
    task: Task,
    marks: list[Mark],
    began: float,
    *,
    notes: Sequence[str] = (),
    printed: str = "",
    walls: Sequence[str] = (),
) -> Result:
    more = [f"and {len(notes) - MOST_NOTES} more"] if len(notes) > MOST_NOTES else []
    return Result(
        learner=storable(task.learner),
        assignment=task.assignment.stem,
        file=storable(task.file),
        content=hashlib.sha256(task.data).hexdigest(),
        points=total(marks),
        of=task.assignment.points,
        exercises=marks,
        notes=[one_line(each) for each in [*notes[:MOST_NOTES], *more]],
        printed=lines(printed),
        walls=list(walls),
        seconds=round(time.monotonic() - began, 3),
    )


def _mark(exercise: Exercise, assignment: Assignment, attempt: Attempt, hidden: Hidden) -> Mark:
    try:
        run = attempt.run(exercise, hidden.cases(assignment, exercise))
        fate = _fate(exercise, attempt) if all(seen.status == "missing" for _, seen in run) else None
        if fate is not None:
            run = [(case, fate) for case, _ in run]
        verdict = judge(exercise, run).public()
    except Exception as error:  # of ours, whichever it is: it must not cost a learner anything
        return _without_points(exercise, GRADER_ERROR, f"{type(error).__name__}: {error}")
    return Mark(
        id=exercise.id,
        title=exercise.title,
        verdict=verdict.status,
        points=float(verdict.points),
        of=exercise.points,
        feedback=[
            Property(property=each.title, outcome=each.outcome, points=each.points, of=each.of)
            for each in verdict.findings
        ],
        diagnosis=verdict.diagnosis.name if verdict.diagnosis is not None else None,
        why=one_line(fate.message if fate is not None else _why(exercise, run)),
    )


def _fate(exercise: Exercise, attempt: Attempt) -> Observation | None:
    """What kept the cell of an exercise from defining its answer, if something did."""
    ends = [
        Observation(status=end.status, message=f"{step.name}: {end.message}")
        for step, end in attempt.outcomes
        if is_solved_in(exercise.id, step.grade_id) and end.status != "done"
    ]
    return ends[-1] if ends else None


def _why(exercise: Exercise, run: Run) -> str:
    """What kept the first call from returning. What the learner's code says itself could carry inputs out."""
    seen = next((seen for _, seen in run if seen.status != "returned"), None)
    if seen is None or seen.status == "not attempted":
        return ""
    if seen.status == "missing":
        return f"the notebook defines no {exercise.answer}"
    if seen.status in _OUR_WORDS:
        return seen.message
    if seen.status == "memory":
        return "a call asked for more memory than there is"
    name = seen.message.partition(":")[0]
    return f"a call raised {name if name in _EXCEPTIONS else 'an exception of its own'}"


def _without_points(exercise: Exercise, verdict: str, why: str) -> Mark:
    return Mark(
        id=exercise.id,
        title=exercise.title,
        verdict=verdict,
        points=None if verdict == GRADER_ERROR else 0.0,
        of=exercise.points,
        feedback=[],
        diagnosis=None,
        why=one_line(why),
    )
