"""nbgrader's gradebook: its tables, filled through its own interface."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SAWarning, SQLAlchemyError

from block_course.grading.gradebook.notebooks import Release
from block_course.grading.naming import check_of, is_solved_in
from block_course.grading.result import Mark, Result
from block_course.grading.tables import reason


class GradebookError(Exception):
    """A gradebook that can't be written; the message says why, and no password."""


class Book:
    """An open gradebook; one commit for each submission."""

    def __init__(self, address: str) -> None:
        """Open the gradebook at a SQLAlchemy URL, or make it. Raises GradebookError."""
        from nbgrader.api import Gradebook

        with _refusals_told(), _programs_found():
            self._book = Gradebook(address)
        self._stem = ""

    def __enter__(self) -> Book:
        return self

    def __exit__(self, *error: object) -> None:
        self._book.close()

    def add(self, stem: str, release: Release) -> None:
        """Have an assignment with the notebook of the same name, and its cells as released.

        Raises GradebookError if the gradebook knows cells that are no longer there.
        """
        from nbgrader.api import MissingEntry

        self._stem = stem
        with _refusals_told():
            try:
                known = self._book.find_notebook(stem, stem)
            except MissingEntry:
                self._book.update_or_create_assignment(stem)
                kernel = json.dumps(release.metadata.get("kernelspec", {}))
                self._book.add_notebook(stem, stem, kernelspec=kernel)
            else:
                _refuse_vanished(stem, {each.name for each in known.source_cells} - set(release.cells))
            self._add_cells(stem, release)

    def record(self, student: str, release: Release, result: Result) -> None:
        """Record what a learner earned. Raises GradebookError."""
        stem = result["assignment"]
        with _refusals_told():
            self._book.update_or_create_student(student)
            submission = self._book.update_or_create_submission(stem, student, **_timestamp(result))
            (notebook,) = (each for each in submission.notebooks if each.name == stem)
            self._complete(notebook, release)
            grades = {each.name: each for each in notebook.grades}
            comments = {each.name: each for each in notebook.comments}
            for mark in result["exercises"]:
                if (grade := grades.get(check_of(mark["id"]))) is not None:
                    _set_points(grade, mark)
            for name, text in _comments(result, list(release.of_kind("solution"))).items():
                comments[name].auto_comment = text
            self._book.db.commit()

    def _add_cells(self, stem: str, release: Release) -> None:
        for name, cell in release.of_kind("grade").items():
            points = float(cell["metadata"]["nbgrader"]["points"])
            self._book.update_or_create_grade_cell(
                name, stem, stem, max_score=points, cell_type=cell["cell_type"]
            )
        for name in release.of_kind("solution"):
            self._book.update_or_create_solution_cell(name, stem, stem)
        for name, cell in release.cells.items():
            about = cell["metadata"]["nbgrader"]
            self._book.update_or_create_source_cell(
                name,
                stem,
                stem,
                cell_type=cell["cell_type"],
                locked=bool(about.get("locked")),
                source=cell["source"],
                checksum=about.get("checksum"),
            )

    def _complete(self, notebook: Any, release: Release) -> None:
        """Add what a submission lacks that was recorded before a cell was released."""
        from nbgrader.api import Comment, Grade

        graded = {each.name for each in notebook.grades}
        commented = {each.name for each in notebook.comments}
        for cell in notebook.notebook.grade_cells:
            if cell.name not in graded:
                self._book.db.add(Grade(cell=cell, notebook=notebook))
        for cell in notebook.notebook.solution_cells:
            if cell.name not in commented:
                self._book.db.add(Comment(cell=cell, notebook=notebook))


def _set_points(grade: Any, mark: Mark) -> None:
    """The grader's points; a person's own stand beside them, and those of formgrader stay."""
    found = mark["automatic"] if "automatic" in mark else mark["points"]
    changed = grade.auto_score != found
    grade.auto_score = found
    if "automatic" in mark:
        grade.manual_score, grade.needs_manual_grade = mark["points"], False
    elif found is None or changed or grade.manual_score is None:
        # as nbgrader does it: someone must look where no points are known, or where a person's are older
        grade.needs_manual_grade = found is None or grade.manual_score is not None


def _comments(result: Result, solutions: list[str]) -> dict[str, str | None]:
    """By answer cell, what a person said of its exercise; what they said of all stands at the first."""
    said: dict[str, list[str]] = {name: [] for name in solutions}
    if result.get("comment") and solutions:
        said[solutions[0]].append(result["comment"])
    for mark in result["exercises"]:
        theirs = [name for name in solutions if is_solved_in(mark["id"], name)]
        if mark.get("comment") and theirs:
            said[theirs[0]].append(mark["comment"])
    return {name: "\n\n".join(texts) or None for name, texts in said.items()}


def _timestamp(result: Result) -> dict[str, datetime]:
    """When it was handed in, where what is known of it is a moment."""
    from nbgrader.utils import parse_utc

    try:
        return {"timestamp": parse_utc(result["submitted"])}
    except (KeyError, ValueError, OverflowError):
        return {}


def _refuse_vanished(stem: str, cells: set[str]) -> None:
    if cells:
        named = ", ".join(sorted(cells))
        raise GradebookError(
            f"the gradebook holds another release of {stem}, with the cells {named}; write another one, or "
            f"take that assignment out of it: nbgrader db assignment remove {stem} --force"
        )


@contextmanager
def _refusals_told() -> Iterator[None]:
    from nbgrader.api import InvalidEntry

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # nbgrader flushes what it has half built
            yield
    except (SQLAlchemyError, InvalidEntry, ImportError) as error:
        said = reason(error) if isinstance(error, SQLAlchemyError) else str(error)
        raise GradebookError(f"the gradebook refused: {said}") from None


@contextmanager
def _programs_found() -> Iterator[None]:
    """Nbgrader starts alembic by its bare name, which is found in an activated environment alone."""
    before = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before
