"""What nbgrader needs of each notebook's cells, for all exercises; `test_nbgrader` runs it on one of them."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from block_course.checks import assignments
from block_course.exercise import Assignment

COURSE = Path(__file__).parents[2]
ALL = pytest.mark.parametrize("assignment", assignments(), ids=lambda assignment: assignment.stem)
FOLDERS = pytest.mark.parametrize("folder", ["solutions", "exercises"])


def notebook(folder: str, assignment: Assignment) -> Any:
    return nbformat.read(COURSE / folder / f"{assignment.stem}.ipynb", as_version=4)


def marked(folder: str, assignment: Assignment) -> dict[str, Any]:
    """The cells that nbgrader knows of, by grade id."""
    cells = [cell for cell in notebook(folder, assignment).cells if "nbgrader" in cell.metadata]
    found = {cell.metadata.nbgrader.grade_id: cell for cell in cells}
    assert len(found) == len(cells)
    return found


@ALL
@FOLDERS
def test_nbgraders_own_validator_takes_the_notebook(folder: str, assignment: Assignment) -> None:
    nbgraderformat = pytest.importorskip("nbgrader.nbgraderformat")

    nbgraderformat.MetadataValidator().validate_nb(notebook(folder, assignment))


@ALL
@FOLDERS
def test_each_exercise_has_an_answer_and_a_locked_check_with_its_points(
    folder: str, assignment: Assignment
) -> None:
    cells = marked(folder, assignment)

    for exercise in assignment.exercises:
        name = exercise.id.replace(".", "-")
        answer, check = (cells[grade_id].metadata.nbgrader for grade_id in (name, f"{name}-check"))
        assert (answer.solution, answer.grade, answer.locked) == (True, False, False)
        assert (check.solution, check.grade, check.locked) == (False, True, True)
        assert check.points == exercise.points
        assert f'check("{exercise.id}", {exercise.answer})' in cells[f"{name}-check"].source


@ALL
@FOLDERS
def test_a_notebook_is_worth_what_its_assignment_is(folder: str, assignment: Assignment) -> None:
    graded = [cell.metadata.nbgrader for cell in marked(folder, assignment).values()]

    assert sum(each.points for each in graded if each.grade) == assignment.points


@ALL
def test_answers_stand_in_the_solution_alone(assignment: Assignment) -> None:
    answers = {
        folder: [
            cell.source for cell in marked(folder, assignment).values() if cell.metadata.nbgrader.solution
        ]
        for folder in ("solutions", "exercises")
    }

    assert all("### BEGIN SOLUTION" in source for source in answers["solutions"])
    assert not any("SOLUTION" in source for source in answers["exercises"])
    assert all("raise NotImplementedError()" in source for source in answers["exercises"])
