"""What the store knows, in the formats of those who read it: one file here for each format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from block_course.grading.report import classroom, feedback, grades, gradescope, junit, summary, whole
from block_course.grading.report.whole import RESULTS
from block_course.grading.result import Result
from block_course.grading.store import Store

__all__ = ["ALWAYS", "FORMATS", "RESULTS", "Write", "write_all", "write_feedback"]

Write = Callable[[Path, Iterable[Result], Mapping[str, Any]], None]
"""Writes its file, or a folder of files, below a folder, in one step each."""

FORMATS: Mapping[str, Write] = {
    "json": whole.write,
    "csv": grades.write,
    "gradescope": gradescope.write,
    "junit": junit.write,
    "markdown": summary.write,
    "classroom": classroom.write,
}
"""What a run may write. Feedback isn't among it: it is released by a step of its own."""
ALWAYS = ("json", "csv")


def write_feedback(folder: Path, store: Store) -> None:
    """Write a page for each learner and assignment that the store knows."""
    feedback.write(folder, store.latest(), store.noted())


def write_all(folder: Path, store: Store, formats: Iterable[str] = ()) -> None:
    """Write results.json, grades.csv and what else is asked for, of all that the store knows."""
    about = store.noted()
    for name in dict.fromkeys([*ALWAYS, *formats]):
        FORMATS[name](folder, store.latest(), about)
