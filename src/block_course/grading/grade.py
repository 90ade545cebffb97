"""`block-course grade`: from folders of notebooks to results.json and grades.csv."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from block_course.grading import show
from block_course.grading.attempt import Limits
from block_course.grading.batch import (
    BAD_USAGE,
    GRADED,
    GRADER_ERROR,
    INTERRUPTED,
    Report,
    UsageError,
    grade,
    look,
)
from block_course.grading.result import has_grader_error
from block_course.grading.secret import Secret, SecretError, create_secret, read_secret
from block_course.grading.store import RESULTS, InUse
from block_course.grading.submission import NotFound
from block_course.grading.worker import Terms

__all__ = [
    "BAD_USAGE",
    "EXERCISES",
    "GRADED",
    "GRADER_ERROR",
    "INTERRUPTED",
    "Report",
    "grade",
    "look",
    "run",
]

EXERCISES = Path(__file__).resolve().parents[3] / "exercises"
SECRET = "secret"


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
    unsafe: bool = False,
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
        terms = Terms(_secret(secret, out, aside), limits, exercises, unsafe)
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
