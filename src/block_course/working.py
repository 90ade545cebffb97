"""A learner's notebook checked without JupyterLab: its cells are run, its checks say what they found.

The code runs as the one who asks, as in JupyterLab: this is for one's own work. Others' work is graded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table
from rich.text import Text

from block_course.checks import assignments
from block_course.exercise import Exercise
from block_course.keeping import VARIABLE, Kept, held_in
from block_course.outputs.execute import CellFailed, execute
from block_course.outputs.form import UnreadableNotebook, parse_notebook
from block_course.panel import points_of

Found = list[tuple[Exercise, Kept | None]]
ALL_HOLDS, SOMETHING_FAILS, NOTHING_CHECKED = 0, 1, 2


class NotChecked(ValueError):
    """No check of the notebook has run; the message says why."""


def check_notebook(path: Path, cell_seconds: int) -> Found:
    """Run a notebook; return what its checks found, for each exercise of the assignments that it checks.

    A cell that raises is passed over, as a learner would. The file is not changed.

    Raises NotChecked for a file that can't be read, a cell that does not end, or a notebook without checks.
    """
    try:
        notebook = parse_notebook(path.read_bytes())
    except (OSError, UnreadableNotebook) as error:
        raise NotChecked(f"{path}: {error}") from error
    with TemporaryDirectory(prefix="block-course-") as kept:
        try:
            execute(
                notebook, path.parent, timeout=cell_seconds, keep_going=True, environment={VARIABLE: kept}
            )
        except CellFailed as failure:
            raise NotChecked(f"{path}: {failure}") from failure
        found = held_in(Path(kept))
    begun = [each for each in assignments() if any(one.id in found for one in each.exercises)]
    if not begun:
        raise NotChecked(f"{path}: no check cell of this course ran in it")
    return [(one, found.get(one.id)) for each in begun for one in each.exercises]


def main(paths: Sequence[Path], cell_seconds: int) -> int:
    """Check notebooks, print a table of each; 0 if all holds, 1 if one does not, 2 if one was not checked."""
    console, status = Console(soft_wrap=True), ALL_HOLDS
    for path in paths:
        try:
            found = check_notebook(path, cell_seconds)
        except NotChecked as reason:
            console.print(Text(str(reason)), style="bold")
            status = NOTHING_CHECKED
            continue
        console.print(_table(path.name, found))
        if any(kept is None or kept.status != "pass" for _, kept in found):
            status = max(status, SOMETHING_FAILS)
    return status


def _table(name: str, found: Found) -> Table:
    table = Table("Exercise", "State", "Points", "First thing that doesn't hold", title=Text(name))
    for exercise, kept in found:
        state = kept.status if kept else "not run"
        points = points_of(kept.points if kept else 0.0, exercise.points)
        table.add_row(exercise.title, state, points, Text(kept.fault if kept else ""))
    total = sum(kept.points for _, kept in found if kept)
    table.add_section()
    table.add_row("Total", "", points_of(total, sum(each.points for each, _ in found)), "")
    return table
