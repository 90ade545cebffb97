"""What a check cell calls: `check("layer_norm.forward", layer_norm)` and, at the end, `progress()`."""

from __future__ import annotations

import contextlib
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from block_course.calling import observe
from block_course.checks import UnknownExercise, assignments, exercise
from block_course.exercise import Case, Exercise, Run
from block_course.panel import Row, points_of, render, render_problem, render_progress
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
    """Points by exercise of this session, by the last run of each check, as a table in HTML and in text."""

    rows: tuple[Row, ...]

    def __repr__(self) -> str:
        if not self.rows:
            return _NOTHING_YET
        total = Row("Total", "", sum(each.points for each in self.rows), sum(each.of for each in self.rows))
        lines = [*self.rows, total]
        widths = [max(len(getattr(each, name)) for each in lines) for name in ("title", "state")]
        return "\n".join(
            f"{each.title:{widths[0]}}  {each.state:{widths[1]}}  {points_of(each.points, each.of)}"
            for each in lines
        )

    def _repr_html_(self) -> str:
        return render_progress(self.rows) if self.rows else render_problem(_NOTHING_YET)


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
            return CheckResult(verdict, render(found, verdict))
    except UnknownExercise as unknown:
        return CheckResult(None, render_problem(f"There is {unknown}"))
    except Exception as exception:
        return CheckResult(None, render_problem(f"The check itself failed. {_described(exception)}"))


def progress() -> Progress:
    """Points by exercise, each from its last check, for every notebook of which one ran in this session."""
    begun = [each for each in assignments() if any(one.id in _latest for one in each.exercises)]
    return Progress(tuple(_row(one) for each in begun for one in each.exercises))


def open_cases(exercise: Exercise) -> Sequence[Case]:
    """The cases that a learner's check cell uses: the same each time, and different from the grader's."""
    return exercise.cases(np.random.default_rng(zlib.crc32(exercise.id.encode())))


def attempt(exercise: Exercise, answer: object, cases: Sequence[Case]) -> Run:
    """Call an answer on each case, in this process, and drop what it prints and plots."""
    with _no_display():
        return [(case, observe(answer, case, exercise.manner, interruptible=True)) for case in cases]


def _row(exercise: Exercise) -> Row:
    verdict = _latest.get(exercise.id)
    if verdict is None:
        return Row(exercise.title, "not run", 0.0, exercise.points)
    return Row(exercise.title, verdict.status, verdict.points, verdict.of)


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
