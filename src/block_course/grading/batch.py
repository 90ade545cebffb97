"""A run of the grader over many submissions: what is known already, what is new, what is written."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from block_course.checks import assignments
from block_course.grading import walls
from block_course.grading.fork_server import BoxError, ForkServer, Settings
from block_course.grading.judge import Task
from block_course.grading.neutral import storable
from block_course.grading.notebook import Unreadable
from block_course.grading.pool import graded
from block_course.grading.result import Result, has_grader_error
from block_course.grading.store import Journal, write_results
from block_course.grading.submission import Found, SetAside, Submission, contents, find
from block_course.grading.worker import Terms

GRADED, GRADER_ERROR, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130
SCHEMA = 2
_CONTAINER = """\
Its kernel keeps learners' code in, with --unsafe too. In the course's folder, a container will do:
docker run --rm -v "$PWD:/course" -w /course python:3.11 sh -c "pip install -r requirements.txt && \
pip install --no-deps -e . && block-course grade submitted --out grades\""""


class UsageError(Exception):
    """What was asked for can't be done; the message says why, and the cure."""


@dataclass
class Report:
    """What a run has done: its results, how many were there before, what it set aside, what to know."""

    results: list[Result] = field(default_factory=list)
    reused: int = 0
    set_aside: tuple[SetAside, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def status(self) -> int:
        """The exit status for it."""
        if self.interrupted:
            return INTERRUPTED
        return GRADER_ERROR if any(map(has_grader_error, self.results)) else GRADED


def look(paths: Sequence[Path], out: Path, exercises: Path, workers: int = 1) -> Found:
    """Find what is to be graded and make the folder for the results.

    Raises UsageError if that can't be done here, NotFound for a path that isn't there.
    """
    if sys.platform != "linux":
        raise UsageError(f"grading needs Linux, this is {sys.platform}. {_CONTAINER}")
    if workers < 1:
        raise UsageError(f"workers must be at least 1; got {workers}")
    if not paths:
        raise UsageError("no notebook and no folder was named")
    found = find(paths, assignments())
    for stem in sorted({each.assignment.stem for each in found.submissions}):
        if not (exercises / f"{stem}.ipynb").is_file():
            raise UsageError(f"there is no released notebook {exercises / stem}.ipynb; make it: make release")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {out} can't be made: {error.strerror}") from None
    return found


def grade(
    found: Found,
    out: Path,
    terms: Terms,
    *,
    workers: int = 1,
    regrade: bool = False,
    each: Callable[[], None] = lambda: None,
) -> Report:
    """Grade what was found, and write the results, at an interrupt too; `each` is called after each.

    What is in the journal of `out` already, with the same content, secret, limits and version of the checks,
    is not graded again, unless `regrade`. The results hold earlier runs into the same folder as well.

    Raises UsageError if nothing keeps learners' code in, InUse if another grader writes to `out`.
    """
    report = Report(set_aside=found.set_aside)
    if found.submissions:
        report.missing = missing_walls(unsafe=terms.unsafe)
    with Journal(out) as journal, walls.hidden_memory():
        run = _Run(terms, journal, report, each, regrade)
        try:
            with _termination_interrupts(), closing(graded(run.to_do(found), terms, workers)) as results:
                for task, result in results:
                    run.done(task, result)
        except KeyboardInterrupt:
            report.interrupted = True
        finally:
            report.results.sort(key=lambda result: (result["learner"], result["assignment"]))
            report.about = _about(terms, found, journal, report.missing)
            write_results(out, journal.latest(), report.about)
    return report


@dataclass
class _Run:
    """The submissions of a run, those that are known already told from those to be graded."""

    terms: Terms
    journal: Journal
    report: Report
    each: Callable[[], None]
    regrade: bool

    def to_do(self, found: Found) -> Iterator[Task]:
        """What is new or changed, assignment by assignment; what is known is done on the way."""
        for submission in sorted(found.submissions, key=lambda each: (each.assignment.stem, each.learner)):
            task = _task(submission)
            known = None if self.regrade else self.journal.find(self.terms.key(task))
            if known is None:
                yield task
            else:
                known = known.copy()
                known["file"] = task.file
                self.report.reused += 1
                self.done(task, known)

    def done(self, task: Task, result: Result) -> None:
        """Keep a result."""
        self.journal.keep(self.terms.key(task), result)
        self.report.results.append(result)
        self.each()


def _task(submission: Submission) -> Task:
    try:
        data, problem = contents(submission.path), ""
    except Unreadable as error:
        data, problem = b"", str(error)
    return Task(
        storable(submission.learner), submission.assignment, storable(str(submission.path)), data, problem
    )


def missing_walls(*, unsafe: bool) -> dict[str, str]:
    """The walls that can't stand on this machine, with reasons: a box is closed on trial, and each is tried.

    Raises UsageError if that does not keep learners' code in, unless `unsafe`.
    """
    try:
        server = ForkServer(Settings("", warm=False, unsafe=unsafe))
    except BoxError as error:
        raise UsageError(str(error)) from None
    server.stop()
    return server.missing


def _about(terms: Terms, found: Found, journal: Journal, missing: dict[str, str]) -> dict[str, Any]:
    stood = [result["walls"] for result in journal.latest() if result["walls"]]
    return {
        "schema": SCHEMA,
        "secret": terms.secret.fingerprint,
        "limits": asdict(terms.limits),
        "walls": {
            "standing": [wall for wall in (stood[0] if stood else []) if all(wall in each for each in stood)],
            "missing": missing,
            "unsafe": any(walls.UNSAFE in each for each in stood),
        },
        "not_graded": [{"file": storable(str(each.path)), "reason": each.reason} for each in found.set_aside],
        "unknown_lines": journal.damaged,
    }


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Let SIGTERM end a run as Ctrl-C does, so that the results are written."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
