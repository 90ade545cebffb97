"""Which assignment a file is of: by its name, or by the cells inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from block_course.exercise import Assignment
from block_course.grading.notebook import Notebook

SUFFIX = ".ipynb"

Likeness = Literal["copy", "other"]
"""A file may be called as the assignment, as a copy of such a file, or hold its name among other words."""

_BEFORE = r"(?:(?:copy of|kopie von|copie de|copia de)[ _-])?"
_AFTER = r"(?:[ _.()\d-]|copy|kopie|copie|copia|new)*"


def named(name: str, assignments: Sequence[Assignment]) -> tuple[Assignment, Likeness] | None:
    """The assignment that a file's or folder's name speaks of, in whatever case; the longest name wins."""
    bare = name.casefold().removesuffix(SUFFIX)
    for assignment in sorted(assignments, key=lambda each: -len(each.stem)):
        stem = re.escape(assignment.stem.casefold())
        if re.fullmatch(rf"{_BEFORE}{stem}{_AFTER}", bare):
            return assignment, "copy"
        if re.search(rf"(?<![^\W_]){stem}(?![^\W_])", bare):
            return assignment, "other"
    return None


def is_fresh_release(path: Path) -> bool:
    """Whether a file is a release that `block-course lab` laid beside a learner's own copy."""
    return re.search(r"\.new(-\d+)?$", path.stem) is not None


def is_solved_in(exercise_id: str, grade_id: str | None) -> bool:
    """Whether an exercise is solved in the cell of that id: `layer_norm-forward`, `layer_norm-forward-2`."""
    name = re.escape(exercise_id.replace(".", "-"))
    return grade_id is not None and re.fullmatch(rf"{name}(-\d+)?", grade_id) is not None


def check_of(exercise_id: str) -> str:
    """The id of the cell that an exercise's points stand at: `layer_norm-forward-check`."""
    return f"{exercise_id.replace('.', '-')}-check"


def holding(notebook: Notebook, assignments: Sequence[Assignment]) -> Assignment | None:
    """The assignment whose cells a notebook holds most of, if it holds any."""
    inside = {each.grade_id for each in notebook.cells}

    def count(assignment: Assignment) -> int:
        return sum(any(is_solved_in(each.id, id) for id in inside) for each in assignment.exercises)

    best = max(assignments, key=count, default=None)
    return best if best is not None and count(best) > 0 else None
