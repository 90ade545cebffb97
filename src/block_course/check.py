"""What a check cell calls: `check("layer_norm.forward", layer_norm)` and, at the end, `progress()`."""

from __future__ import annotations

import contextlib
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from block_course.calling import observe
from block_course.checks import UnknownExercise, assignments, exercise
from block_course.exercise import Assignment, Case, Exercise, Run
from block_course.keeping import Kept, in_short, keep, kept
from block_course.panel import Row, render, render_problem, render_progress, text_of
from block_course.quiet import quietly
from block_course.verdict import Verdict, judge

_latest: dict[str, Verdict] = {}


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The result of a check cell: a panel in HTML, and as text nothing but the points.

    nbgrader reads the text as a partial score, and gives full marks for any text that is not a number.
    """

    verdict: Verdict | None
    html: str

    def __repr__(self) -> str:
        if self.verdict is None:
            return "0.0"
        return repr(float(min(max(0.0, self.verdict.points), self.verdict.of)))

    def _repr_html_(self) -> str:
        return self.html


@dataclass(frozen=True, repr=False)
class Progress:
    """Points by exercise for the notebooks of this session, and by notebook for others: a table, and text."""

    rows: tuple[Row, ...]
    others: tuple[Row, ...] = ()

    def __repr__(self) -> str:
        return text_of(self.rows, self.others) if self.rows else _NOTHING_YET

    def _repr_html_(self) -> str:
        return render_progress(self.rows, self.others) if self.rows else render_problem(_NOTHING_YET)


_NOTHING_YET = "No check has run in this session: run the check cells first."


def check(id: str, answer: object) -> CheckResult:
    """Judge an answer on open inputs. The result shows as a panel; its text is the points, a bare number.

    Never raises, whatever the id or the answer (an interrupt by the learner apart), because an exception in
    a check cell would read as a fault of the answer.
    """
    try:
        with quietly():
            found = exercise(id)
            verdict = judge(found, attempt(found, answer, open_cases(found)))
            _latest[found.id] = verdict
            keep(verdict)
            return CheckResult(verdict, render(found, verdict))
    except UnknownExercise as unknown:
        return CheckResult(None, render_problem(f"There is {unknown}"))
    except Exception as exception:
        return CheckResult(None, render_problem(f"The check itself failed. {_described(exception)}"))


def progress() -> Progress:
    """Points by exercise, each from its last check, for every notebook of which one ran in this session.

    In a folder of working copies it also counts the notebooks that other sessions have worked on.
    """
    found = kept() | {id: in_short(verdict) for id, verdict in _latest.items()}
    here = [each for each in assignments() if any(one.id in _latest for one in each.exercises)]
    begun = [each for each in assignments() if any(one.id in found for one in each.exercises)]
    return Progress(
        tuple(row_of(one, found.get(one.id)) for each in here for one in each.exercises),
        tuple(_sum_of(each, found) for each in begun if each not in here),
    )


def open_cases(exercise: Exercise) -> Sequence[Case]:
    """The cases that a learner's check cell uses: the same each time, and different from the grader's."""
    return exercise.cases(np.random.default_rng(zlib.crc32(exercise.id.encode())))


def attempt(exercise: Exercise, answer: object, cases: Sequence[Case]) -> Run:
    """Call an answer on each case, in this process, and drop what it prints and plots."""
    with _no_display():
        return [(case, observe(answer, case, exercise.manner, interruptible=True)) for case in cases]


def row_of(exercise: Exercise, found: Kept | None) -> Row:
    """The line of an exercise in a table of progress."""
    if found is None:
        return Row(exercise.title, "not run", 0.0, exercise.points)
    return Row(exercise.title, found.status, found.points, found.of)


def _sum_of(assignment: Assignment, found: Mapping[str, Kept]) -> Row:
    rows = [row_of(each, found.get(each.id)) for each in assignment.exercises]
    passed = sum(each.state == "pass" for each in rows)
    state = f"{passed} of {len(rows)} pass"
    return Row(assignment.stem, state, sum(each.points for each in rows), assignment.points)


def _described(exception: Exception) -> str:
    try:
        return f"{type(exception).__name__}: {exception}"
    except Exception:  # a learner's object may be inside the message
        return "Its error cannot be printed."


@contextlib.contextmanager
def _no_display() -> Iterator[None]:
    """Keep what an answer displays out of the check cell, and close the figures it opens."""
    with contextlib.ExitStack() as stack:
        if "IPython" in sys.modules:
            from IPython.utils.capture import capture_output

            stack.enter_context(capture_output(stdout=False, stderr=False, display=True))
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None:
            stack.callback(_close_new_figures, pyplot, frozenset(pyplot.get_fignums()))
        yield


def _close_new_figures(pyplot: object, before: frozenset[int]) -> None:
    for number in set(pyplot.get_fignums()) - before:  # type: ignore[attr-defined]
        pyplot.close(number)  # type: ignore[attr-defined]
