import itertools
import math

import numpy as np
import pytest

from block_course.checks.wording import amount, cut_short, entry, number, quantity, shape, two_numbers, vector


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.3416, "1.342"),
        (-0.4472, "−0.447"),
        (-0.0001, "0.000"),
        (0.0, "0.000"),
        (np.float32(2.5), "2.500"),
        (12345678.9, "1.235e+07"),
        (-2e9, "−2.000e+09"),
        (np.nan, "NaN"),
        (np.inf, "∞"),
        (-np.inf, "−∞"),
    ],
)
def test_a_number_has_three_decimals_and_a_proper_minus(value, text):
    assert number(value) == text


def test_a_notebooks_print_options_change_nothing():
    with np.printoptions(precision=1, formatter={"float": lambda value: "?"}):
        assert vector(np.array([0.25, 0.5])) == "[0.250 0.500]"


@pytest.mark.parametrize(
    ("value", "text"), [(9.25e-6, "9.2e−06"), (-2e-4, "−2.0e−04"), (0.0, "0.000"), (0.25, "0.250")]
)
def test_a_quantity_near_zero_keeps_its_leading_digits(value, text):
    assert quantity(value) == text


@pytest.mark.parametrize(
    ("left", "right", "texts"),
    [
        (1.0, 2.0, ("1.000", "2.000")),
        (1.00004, 1.00002, ("1.00004", "1.00002")),
        (1.0, 1.0 + 2**-52, ("1.0", "1.0000000000000002")),
    ],
)
def test_two_numbers_have_the_decimals_that_tell_them_apart(left, right, texts):
    assert two_numbers(left, right) == texts


def test_a_vector_of_whole_numbers_stands_without_decimals():
    assert vector([2.0, -4.0, 9.0]) == "[2 −4 9]"


def test_a_long_vector_is_cut_short():
    assert vector(range(8)) == "[0 1 2 3 4 5 6 7]"
    assert vector(range(20)) == "[0 1 2 3 4 5 6 …]"


def test_a_row_without_end_is_read_as_far_as_it_is_shown():
    assert vector(itertools.count()) == "[0 1 2 3 4 5 6 …]"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (6476271616.0, "6,476,271,616"),
        (202383359.875, "202,383,359.875"),
        (-1500.0, "−1,500"),
        (0.683, "0.683"),
        (2.0, "2.000"),
        (1e20, "1.000e+20"),
        (np.nan, "NaN"),
    ],
)
def test_an_entry_of_a_table_is_said_to_the_last_whole_digit(value, text):
    assert amount(value) == text


def test_entries_and_shapes_read_as_in_python():
    assert entry((0, 2)) == "[0, 2]"
    assert entry(()) == "(the only one)"
    assert shape((np.int64(2), 1)) == "(2, 1)"
    assert shape(()) == "()"


@pytest.mark.parametrize(
    ("given", "exact", "said"),
    [
        (3.64, 3.63636, ", rounded to two decimals"),
        (10_923.0, 10_922.67, ", rounded to a whole number"),
        (10_922.0, 10_922.67, ", cut to a whole number"),
        (6.27613, 6.276, ", not rounded to three decimals"),
        (3.636, 3.636, ""),
        (4.0, 3.2, ""),
        (53.6, 53.0, ""),
        (0.0, 0.3, ""),
        (math.nan, 0.3, ""),
    ],
)
def test_what_was_rounded_or_should_have_been_is_told(given: float, exact: float, said: str) -> None:
    assert cut_short(given, exact) == said
