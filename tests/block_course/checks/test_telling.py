"""A misconception's message begins with the learner's own number."""

import numpy as np

from block_course.checks.telling import first_departure, misconception
from block_course.exercise import Case


def test_the_first_entry_that_departs_is_told_with_the_right_one():
    said = first_departure((np.array([[1.0, 2.0], [3.0, 5.0]]),), (np.array([[1.0, 2.001], [3.0, 4.0]]),))

    assert said == "Entry [1, 1] of your output is 5.000 and should be 4.000. "


def test_a_number_alone_has_no_entry():
    assert first_departure((np.array(1.5),), (np.array(2.0),)) == "Your output is 1.500 and should be 2.000. "


def test_a_shape_is_told_before_a_number_and_by_the_name_of_its_output():
    outputs, right = (np.zeros(3), np.zeros((2, 3))), (np.zeros(3), np.zeros((3, 2)))

    said = first_departure(outputs, right, ("dx", "dweight"))

    assert said == "Your dweight has shape (2, 3) and should have (3, 2). "


def test_nothing_is_told_of_outputs_that_agree_or_that_are_not_there():
    assert first_departure((np.ones(2),), (np.ones(2),)) == ""
    assert first_departure((), (np.ones(2),)) == ""


def test_what_is_not_a_number_departs():
    assert "is NaN" in first_departure((np.array([np.nan]),), (np.array([2.0]),))


def test_a_table_of_booleans_is_told_in_ones_and_zeros():
    said = first_departure((np.array([True, True]),), (np.array([True, False]),))

    assert said == "Entry [1] of your output is 1.000 and should be 0.000. "


def test_the_sentence_follows_the_number_of_the_case_at_hand():
    told = misconception("halved", lambda x: x / 2, lambda x: x, "It was halved.")

    said = told.message(Case(name="one", arguments={"x": np.array([4.0])}), (np.array([2.0]),))

    assert said == "Entry [0] of your output is 2.000 and should be 4.000. It was halved."
