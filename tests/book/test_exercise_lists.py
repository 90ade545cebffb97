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


def exercises_section(assignment: Assignment) -> str:
    notebook = nbformat.read(COURSE / "chapters" / f"{assignment.stem}.ipynb", as_version=4)
    (section,) = (cell.source for cell in notebook.cells if "## Exercises\n" in cell.source)
    return str(section.partition("## Exercises\n")[2])


@pytest.mark.parametrize("assignment", assignments(), ids=lambda assignment: assignment.stem)
def test_a_chapter_lists_the_exercises_of_its_notebook(assignment: Assignment) -> None:
    assert listing(assignment) in exercises_section(assignment)


@pytest.mark.parametrize("assignment", assignments(), ids=lambda assignment: assignment.stem)
def test_a_chapter_names_the_notebook_with_its_minutes_and_points(assignment: Assignment) -> None:
    first, _, _ = exercises_section(assignment).strip().partition("\n")

    minutes = sum(each.minutes for each in assignment.exercises)
    points = sum(each.points for each in assignment.exercises)
    assert first.startswith(f"The notebook `exercises/{assignment.stem}.ipynb` asks you ")
    assert "Its check cells say which misconception a wrong answer matches." in first
    assert f"It takes about {minutes} minutes and is worth {points:g} points" in first
