import re

import pytest

from block_course.checks import UnknownExercise, assignment, assignments, exercise
from block_course.checks.layer_norm import ASSIGNMENT


@pytest.mark.parametrize("stem", ["03_layer_norm", "layer_norm"])
def test_an_assignment_is_found_with_and_without_its_number(stem):
    assert assignment(stem) is ASSIGNMENT


def test_an_exercise_is_found_by_its_id():
    assert exercise("layer_norm.forward") is ASSIGNMENT.exercises[1]


def test_assignments_stand_in_the_order_of_their_notebooks():
    stems = [each.stem for each in assignments()]

    assert "03_layer_norm" in stems
    assert stems == sorted(stems)


@pytest.mark.parametrize(
    ("look_up", "message"),
    [
        (
            lambda: exercise("layer_norm.foward"),
            "no exercise 'layer_norm.foward'; did you mean 'layer_norm.forward'?",
        ),
        (lambda: assignment("3_layer_nrom"), "no assignment '3_layer_nrom'; did you mean '03_layer_norm'?"),
    ],
)
def test_an_unknown_name_is_told_the_nearest_one(look_up, message):
    with pytest.raises(UnknownExercise, match=f"^{re.escape(message)}$"):
        look_up()


def test_a_name_that_is_near_to_none_is_told_all_of_them():
    with pytest.raises(
        UnknownExercise, match=r"no exercise 'q'; there are .*layer_norm\.statistics, layer_norm\.forward"
    ):
        exercise("q")
