"""What follows a run: a person's own marks, reports in other formats, feedback that is handed back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from block_course.grading.files import InUse, alone_in
from block_course.grading.report import FORMATS, write_all, write_feedback
from block_course.grading.show import say
from block_course.grading.store import STORE, Store, Unknown
from block_course.grading.tables import Unusable

DONE, FAILED, BAD_USAGE = 0, 1, 2


def report(out: Path, url: str | None, formats: Sequence[str]) -> int:
    """Write results.json, grades.csv and more formats of what was graded; the exit status."""
    unknown = sorted(set(formats) - set(FORMATS))
    if unknown:
        return _refused(f"no format {', '.join(unknown)}; there are {', '.join(FORMATS)}")
    return _with_store(out, url, lambda store: write_all(out, store, formats))


def feedback(out: Path, url: str | None) -> int:
    """Write a page for each learner and assignment; the exit status."""
    status = _with_store(out, url, lambda store: write_feedback(out, store))
    if status == DONE:
        said = f"Pages: {out}/feedback. Whose is whose: {out}/feedback.csv"
        say(Console(), f"{said}, which isn't for learners.")
    return status


def mark(
    out: Path,
    url: str | None,
    learner: str,
    assignment: str,
    exercise: str,
    points: float | None,
    comment: str | None,
) -> int:
    """Set a person's own points or words, and write results.json and grades.csv anew; the exit status."""

    def change(store: Store) -> None:
        told = store.mark(learner, assignment, exercise, points=points, comment=comment)
        write_all(out, store)
        earned = "no points yet" if told["points"] is None else f"{told['points']:g} of {told['of']:g} points"
        say(Console(), f"{learner}, {assignment}, attempt {told['attempt']}: {earned}")

    return _with_store(out, url, change)


def _with_store(out: Path, url: str | None, act: Callable[[Store], None]) -> int:
    if not out.is_dir() or (url is None and not (out / STORE).is_file()):
        return _refused(f"nothing has been graded into {out}")
    try:
        with alone_in(out), Store(out, url) as store:
            act(store)
    except (InUse, Unusable, Unknown, ValueError) as error:
        return _refused(str(error))
    except OSError as error:  # of the disk or of the database
        say(Console(stderr=True), f"This failed: {error}")
        return FAILED
    return DONE


def _refused(why: str) -> int:
    say(Console(stderr=True), f"This can't be done: {why}")
    return BAD_USAGE
