"""`block-course grade`: from folders of notebooks to results.json and grades.csv."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from rich.console import Console

from block_course.checks import assignments
from block_course.grading import show, walls
from block_course.grading.attempt import Limits
from block_course.grading.judge import Task
from block_course.grading.neutral import storable
from block_course.grading.notebook import Unreadable
from block_course.grading.pool import graded
from block_course.grading.result import Result, has_grader_error
from block_course.grading.secret import Secret, SecretError, create_secret, read_secret
from block_course.grading.store import RESULTS, InUse, Journal, write_results
from block_course.grading.submission import Found, NotFound, SetAside, Submission, contents, find
from block_course.grading.worker import Terms

GRADED, GRADER_ERROR, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130
EXERCISES = Path(__file__).resolve().parents[3] / "exercises"
SECRET = "secret"
SCHEMA = 1


class UsageError(Exception):
    """What was asked for can't be done; the message says why, and the cure."""


@dataclass
class Report:
    """What a run has done: its results, how many were there before, what it set aside, what to know."""

    results: list[Result] = field(default_factory=list)
    reused: int = 0
    set_aside: tuple[SetAside, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def status(self) -> int:
        """The exit status for it."""
        if self.interrupted:
            return INTERRUPTED
        return GRADER_ERROR if any(map(has_grader_error, self.results)) else GRADED


def run(
    paths: Sequence[Path],
    out: Path,
    *,
    secret: Path | None = None,
    cell_seconds: float = 10.0,
    submission_seconds: float = 60.0,
    memory_mb: int = 1024,
    workers: int = 1,
    regrade: bool = False,
    quiet: bool = False,
    as_json: bool = False,
    exercises: Path = EXERCISES,
) -> int:
    """Grade notebooks, show a table, and give the exit status.

    0: all graded. 1: the grader itself failed on a submission, which is listed and has no points. 2: it was
    asked for something that can't be done. 130: interrupted; the same command goes on where it stopped.
    """
    console, aside = Console(), Console(stderr=True)
    try:
        limits = _limits(cell_seconds, submission_seconds, memory_mb)
        found = look(paths, out, exercises, workers)
        terms = Terms(_secret(secret, out, aside), limits, exercises)
        with show.progress(aside, len(found.submissions), hidden=quiet or as_json) as advance:
            report = grade(found, out, terms, workers=workers, regrade=regrade, each=advance)
    except (UsageError, NotFound, SecretError, InUse) as error:
        show.say(aside, f"Can't grade: {error}")
        return BAD_USAGE
    except OSError as error:
        show.say(aside, f"The grader failed: {error}. What was graded before is kept in {out}.")
        return GRADER_ERROR
    if as_json:
        sys.stdout.write((out / RESULTS).read_text(encoding="utf-8"))
    elif not quiet:
        _show(console, report, out)
    _complain(aside, report)
    return report.status


def look(paths: Sequence[Path], out: Path, exercises: Path, workers: int = 1) -> Found:
    """Find what is to be graded and make the folder for the results.

    Raises UsageError if that can't be done here, NotFound for a path that isn't there.
    """
    if sys.platform != "linux":
        raise UsageError(f"grading needs Linux, this is {sys.platform}; a container with Linux will do")
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

    Raises InUse if another grader writes to `out`.
    """
    report = Report(set_aside=found.set_aside)

    def done(result: Result) -> None:
        report.results.append(result)
        each()

    def to_do() -> Iterator[Task]:
        for submission in sorted(found.submissions, key=lambda each: (each.assignment.stem, each.learner)):
            task = _task(submission)
            key = terms.key(task)
            known = None if regrade else journal.find(key)
            if known is None:
                yield task
            else:
                known = known.copy()
                known["file"] = task.file
                journal.keep(key, known)
                report.reused += 1
                done(known)

    with Journal(out) as journal:
        try:
            with _termination_interrupts(), closing(graded(to_do(), terms, workers)) as results:
                for task, result in results:
                    journal.keep(terms.key(task), result)
                    done(result)
        except KeyboardInterrupt:
            report.interrupted = True
        finally:
            report.results.sort(key=lambda result: (result["learner"], result["assignment"]))
            report.about = _about(terms, found, journal)
            write_results(out, journal.latest(), report.about)
    return report


def _task(submission: Submission) -> Task:
    try:
        data, problem = contents(submission.path), ""
    except Unreadable as error:
        data, problem = b"", str(error)
    return Task(
        storable(submission.learner), submission.assignment, storable(str(submission.path)), data, problem
    )


def _limits(cell_seconds: float, submission_seconds: float, memory_mb: int) -> Limits:
    try:
        return Limits(cell_seconds, submission_seconds, memory_mb)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _secret(given: Path | None, out: Path, aside: Console) -> Secret:
    if given is not None:
        return read_secret(given)
    path = out / SECRET
    if path.exists():
        return read_secret(path)
    secret = create_secret(path)
    show.say(
        aside, f"A new secret was made: {path}. Hidden inputs come from it; keep it, and keep it to yourself."
    )
    return secret


def _about(terms: Terms, found: Found, journal: Journal) -> dict[str, Any]:
    stood = [result["walls"] for result in journal.latest() if result["walls"]]
    return {
        "schema": SCHEMA,
        "secret": terms.secret.fingerprint,
        "limits": asdict(terms.limits),
        "walls": {
            "standing": [wall for wall in (stood[0] if stood else []) if all(wall in each for each in stood)],
            "not_confined": list(walls.not_confined()),
            "warning": walls.WARNING,
        },
        "not_graded": [{"file": storable(str(each.path)), "reason": each.reason} for each in found.set_aside],
        "unknown_lines": journal.damaged,
    }


def _show(console: Console, report: Report, out: Path) -> None:
    if report.results:
        show.table(console, report.results)
    show.set_aside(console, report.set_aside)
    show.walls(console, report.about["walls"])
    new = len(report.results) - report.reused
    show.say(
        console, f"Graded now: {new}, before: {report.reused}. Results: {out}/results.json, {out}/grades.csv"
    )


def _complain(aside: Console, report: Report) -> None:
    for result in report.results:
        if has_grader_error(result):
            why = next(mark["why"] for mark in result["exercises"] if mark["verdict"] == "grader error")
            show.say(aside, f"The grader failed on {result['file']}, which has no points yet: {why}")
    if report.interrupted:
        show.say(aside, "Interrupted. The same command goes on where it stopped.")


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
