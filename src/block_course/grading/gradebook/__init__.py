"""Results for nbgrader: its own gradebook and autograded notebooks, for formgrader and generate_feedback.

An assignment there holds one notebook, of its own name; learners are called as their folders are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from block_course.exercise import Assignment
from block_course.grading.files import written
from block_course.grading.files_below import contents
from block_course.grading.gradebook.book import Book, GradebookError
from block_course.grading.gradebook.notebooks import Release, autograded, release_of
from block_course.grading.neutral import student_id
from block_course.grading.notebook import Notebook, Unreadable, read
from block_course.grading.result import Result

__all__ = ["GradebookError", "Place", "place_of", "write"]

AUTOGRADED = "autograded"
GRADEBOOK = "gradebook.db"


@dataclass(frozen=True)
class Place:
    """The folder of nbgrader's course, and the address of its gradebook if that is not a file in it."""

    course: Path
    url: str | None = None

    @property
    def address(self) -> str:
        """The SQLAlchemy URL of the gradebook."""
        return self.url or f"sqlite:///{(self.course / GRADEBOOK).absolute()}"


def place_of(course: Path | None, url: str | None, out: Path) -> Place | None:
    """Where the gradebook is wished for, if it is; with an address alone the notebooks go to `out`."""
    return None if course is None and url is None else Place(course or out, url)


def write(
    place: Place,
    results: Iterable[Result],
    assignments: Iterable[Assignment],
    released: Callable[[Assignment], bytes],
) -> tuple[str, ...]:
    """Record the results; the files that are gone or are others by now, for which the grades alone are.

    Points, comments and extra credit that were given in formgrader stay. Raises GradebookError, OSError.
    """
    known = {each.stem: each for each in assignments}
    releases: dict[str, Release] = {}
    gone: list[str] = []
    place.course.mkdir(parents=True, exist_ok=True)
    with Book(place.address) as book:
        for result in results:
            stem = result["assignment"]
            if stem not in known:
                continue  # of a course that is no longer taught
            if stem not in releases:
                releases[stem] = release_of(released(known[stem]))
                book.add(stem, releases[stem])
            student = student_id(result["learner"])
            book.record(student, releases[stem], result)
            gone += _notebook(place.course / AUTOGRADED / student / stem, releases[stem], result)
    return tuple(gone)


def _notebook(folder: Path, release: Release, result: Result) -> Iterator[str]:
    """Write the notebook to be looked at; the name of the submitted file if it isn't what was graded."""
    try:
        data = contents(Path(result["file"]))
        submitted = read(data) if hashlib.sha256(data).hexdigest() == result["content"] else None
    except Unreadable:
        submitted = None
    if submitted is None and any(mark["verdict"] != "unreadable" for mark in result["exercises"]):
        yield result["file"]
    folder.mkdir(parents=True, exist_ok=True)
    with written(folder / f"{result['assignment']}.ipynb") as file:
        file.write(autograded(submitted or Notebook(()), release, result))
