"""`block-course grade`: from folders of notebooks to results, in the formats of those who read them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from block_course.grading import show
from block_course.grading.attempt import Limits
from block_course.grading.batch import (
    BAD_USAGE,
    BELOW_PASS_MARK,
    GRADED,
    GRADER_ERROR,
    INTERRUPTED,
    OUT_OF_TIME,
    Report,
    grade,
)
from block_course.grading.cluster import ClusterError
from block_course.grading.files import InUse
from block_course.grading.gradebook import GradebookError
from block_course.grading.report import RESULTS
from block_course.grading.roster import RosterError
from block_course.grading.secret import Secret, SecretError, create_secret, read_secret
from block_course.grading.submission import NotFound
from block_course.grading.tables import Unusable
from block_course.grading.wishes import UsageError, Wishes, look
from block_course.grading.worker import EXERCISES, Terms

__all__ = [
    "BAD_USAGE",
    "BELOW_PASS_MARK",
    "EXERCISES",
    "GRADED",
    "GRADER_ERROR",
    "INTERRUPTED",
    "OUT_OF_TIME",
    "Report",
    "grade",
    "look",
    "run",
]

SECRET = "secret"
_NO_WISHES = Wishes()


def run(
    paths: Sequence[Path],
    out: Path,
    *,
    secret: Path | None = None,
    limits: tuple[float, float, int] = (10.0, 60.0, 1024),
    wishes: Wishes = _NO_WISHES,
    quiet: bool = False,
    as_json: bool = False,
    unsafe: bool = False,
    exercises: Path = EXERCISES,
) -> int:
    """Grade notebooks, show a table, and give the exit status.

    `limits` are the seconds of a cell, those of a submission, and its memory in MB.

    0: all graded. 1: the grader itself failed on a submission, which is listed and has no points. 2: it was
    asked for something that can't be done. 3: a submission of this run is below the pass mark. 4: the time
    budget was used up before all were graded. 130: interrupted; after 4 and 130 the same command goes on
    where it stopped. Of several, 130 counts before 1, 1 before 4, and 4 before 3.
    """
    aside = Console(stderr=True)
    try:
        kept_to, found = _limits(*limits), look(paths, out, exercises, wishes)
        terms = Terms(_secret(secret, out, aside), kept_to, exercises, unsafe)
        with show.progress(aside, len(found.submissions), hidden=quiet or as_json) as advance:
            report = grade(found, out, terms, wishes.at(secret or out / SECRET), each=advance)
    except (UsageError, NotFound, SecretError, RosterError, InUse, Unusable, ClusterError) as error:
        show.say(aside, f"Can't grade: {error}")
        return BAD_USAGE
    except (OSError, GradebookError) as error:
        show.say(aside, f"The grader failed: {error}. What was graded before is kept in {out}.")
        return GRADER_ERROR
    if as_json:
        with open(out / RESULTS, encoding="utf-8") as file:
            shutil.copyfileobj(file, sys.stdout)
    elif not quiet:
        _show(Console(), report, out)
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
    if report.tally.shown:
        show.table(console, report.tally.shown, report.tally.of_this_run)
    show.set_aside(console, report.set_aside)
    show.roster(console, report.about["roster"])
    show.walls(console, report.about["walls"])
    if report.tally.pass_mark is not None:
        show.say(console, f"Below the pass mark of {report.tally.pass_mark:g} %: {report.tally.below}")
    counts = f"Graded now: {report.graded}, before: {report.reused}."
    show.say(console, f"{counts} Results: {out}/results.json, {out}/grades.csv")


def _complain(aside: Console, report: Report) -> None:
    for file, why in report.tally.failed:
        show.say(aside, f"The grader failed on {file}, which has no points yet: {why}")
    show.put_off(aside, report.put_off)
    show.gone(aside, report.gone)
    if report.interrupted:
        show.say(aside, "Interrupted. The same command goes on where it stopped.")
