"""Each chapter lists the exercises of its notebook as the checks have them, with a link to the notebook."""

import nbformat
import pytest

from block_course.checks import assignments
from block_course.exercise import Assignment

from .conftest import COURSE

HEAD = "| Exercise | Level | Minutes | Points |\n| --- | --- | --- | --- |\n"


def listing(assignment: Assignment) -> str:
    """What stands at the end of a chapter's section on exercises."""
    lines = [
        f"| {each.title} | {each.level} | {each.minutes} | {each.points:g} |" for each in assignment.exercises
    ]
    link = f"[Download the notebook](../exercises/{assignment.stem}.ipynb), or open it with `make lab`."
    return HEAD + "\n".join(lines) + f"\n\n{link}"


@pytest.mark.parametrize("assignment", assignments(), ids=lambda assignment: assignment.stem)
def test_a_chapter_lists_the_exercises_of_its_notebook(assignment: Assignment) -> None:
    notebook = nbformat.read(COURSE / "chapters" / f"{assignment.stem}.ipynb", as_version=4)

    (section,) = (cell.source for cell in notebook.cells if "## Exercises\n" in cell.source)
    assert listing(assignment) in section.partition("## Exercises\n")[2]
