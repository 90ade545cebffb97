import copy

import pytest

from block_course.exercise import Assignment
from block_course.roles import grade_id, mark, roles
from tests.block_course.doubling import EXERCISE
from tests.block_course.solutions import ANSWER, ASSIGNMENT, CHECK, SETUP, STATEMENT, notebook, text, whole


def faults(*cells):
    return list(roles(notebook(*cells), ASSIGNMENT).faults)


def test_roles_are_read_from_the_cells_themselves():
    found = roles(whole(), ASSIGNMENT)

    assert (found.setup, found.answers, found.checks) == (1, {"tiny.double": [2]}, {"tiny.double": 4})
    assert found.faults == ()


def test_cells_are_marked_with_nbgraders_metadata_and_named_by_their_role():
    made = whole()
    made.cells[0].metadata["nbgrader"] = {"grade_id": "left over"}

    mark(made, ASSIGNMENT, roles(made, ASSIGNMENT))

    flags = {
        cell.id: {key: cell.metadata.nbgrader[key] for key in ("grade", "solution", "locked")}
        for cell in made.cells
        if "nbgrader" in cell.metadata
    }
    assert flags == {
        "tiny-setup": {"grade": False, "solution": False, "locked": True},
        "tiny-double": {"grade": False, "solution": True, "locked": False},
        "tiny-double-check": {"grade": True, "solution": False, "locked": True},
    }
    check = made.cells[4].metadata.nbgrader
    assert (check.points, check.schema_version, check.grade_id) == (2.5, 3, "tiny-double-check")
    assert "points" not in made.cells[2].metadata.nbgrader


def test_marking_twice_changes_nothing():
    made = whole()
    mark(made, ASSIGNMENT, roles(made, ASSIGNMENT))
    once = copy.deepcopy(made)

    mark(made, ASSIGNMENT, roles(made, ASSIGNMENT))

    assert made == once


def test_an_answer_may_take_several_cells():
    made = notebook(text(STATEMENT), SETUP, ANSWER, ANSWER, CHECK)

    mark(made, ASSIGNMENT, roles(made, ASSIGNMENT))

    assert [cell.id for cell in made.cells[2:]] == ["tiny-double", "tiny-double-2", "tiny-double-check"]


def test_a_grade_id_has_no_dots():
    assert grade_id(EXERCISE) == "tiny-double"


def test_an_assignment_without_setup_is_marked_for_the_rest():
    made = whole()
    found = roles(made, ASSIGNMENT)

    mark(made, ASSIGNMENT, type(found)(None, found.answers, found.checks, ()))

    assert "nbgrader" not in made.cells[1].metadata


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        (
            [SETUP, CHECK],
            "cell 3: no answer cell with BEGIN SOLUTION stands before the check of tiny.double",
        ),
        ([SETUP, ANSWER], "cell 3: no check follows this answer"),
        ([SETUP, ANSWER], "no cell checks tiny.double"),
        (
            [SETUP, ANSWER, 'check("tiny.triple", double)'],
            "cell 4: unknown exercise 'tiny.triple'; this notebook has tiny.double",
        ),
        (
            [SETUP, ANSWER, 'check("tiny.double", triple)'],
            "cell 4: tiny.double judges 'double'; the cell passes 'triple'",
        ),
        (
            [SETUP, ANSWER, CHECK, ANSWER, CHECK],
            "cell 6: tiny.double is checked twice, which would give two cells one grade_id",
        ),
        ([ANSWER, CHECK], "no cell imports check from block_course.check"),
        ([ANSWER, CHECK, SETUP], "cell 4: the setup stands after an answer or a check"),
        ([SETUP, "### BEGIN SOLUTION\n2", CHECK], "cell 3: BEGIN SOLUTION without END SOLUTION"),
        ([SETUP, "### END SOLUTION", ANSWER, CHECK], "cell 3: END SOLUTION without BEGIN SOLUTION"),
        (
            [SETUP, "# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION", CHECK],
            "cell 3: BEGIN SOLUTION inside a solution",
        ),
        (
            [SETUP, text("BEGIN SOLUTION\nEND SOLUTION"), ANSWER, CHECK],
            "cell 3: BEGIN SOLUTION in a cell that is not code",
        ),
    ],
)
def test_each_fault_is_named_with_its_cell(cells, fault):
    assert fault in faults(text(STATEMENT), *cells)


def test_the_first_of_two_setups_counts_and_a_cell_that_does_not_parse_has_no_role():
    assert faults(text(STATEMENT), SETUP, SETUP, "check(", "%matplotlib inline", ANSWER, CHECK) == []


@pytest.mark.parametrize("call", ['check("tiny.double", 2)', "check(name, double)", "double(3)", "check()"])
def test_what_only_resembles_a_check_is_none(call):
    assert "no cell checks tiny.double" in faults(text(STATEMENT), SETUP, ANSWER, call)


def test_a_statement_must_promise_the_minutes_and_points_of_the_check():
    promised = faults(text("*Core, 3 minutes, 5 points.*"), SETUP, ANSWER, CHECK)

    assert promised == [
        "no text says “Warm-up, 2 minutes, 2.5 points”",
        "no text says “2 minutes, 2.5 points”",
    ]


def test_a_notebook_without_exercises_needs_a_setup_only():
    empty = Assignment(stem="08_none", exercises=())

    assert roles(notebook(text("0 minutes, 0 points"), SETUP), empty).faults == ()
