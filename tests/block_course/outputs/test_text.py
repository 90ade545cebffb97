import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from block_course.outputs.text import text_problem

AGREE = {
    "one unit of the last digit": ("loss 0.123", "loss 0.124"),
    "one unit across a carry": ("9.99 nats", "10.00 nats"),
    "one unit, exponent form": ("1.25e-07", "1.26e-07"),
    "one unit, no digit before the point": ("p = .50", "p = .51"),
    "one unit before a full stop": ("It is 0.25.", "It is 0.26."),
    "the sign of a rounded zero": ("mean -0.000", "mean 0.000"),
    "a zero on either side of zero": ("mean -0.000", "mean 0.001"),
    "the sign of an integer zero": ("-0 of 3", "0 of 3"),
    "an array whose column lost a sign": ("[[-0.    1.25]\n [ 0.5   2.  ]]", "[[0.   1.25]\n [0.5  2.  ]]"),
    "a whole number and its float32 neighbor": ("[1. 0.]", "[0.99999994 0.        ]"),
    "a trimmed number and its float32 neighbor": ("0.5", "0.50000006"),
    "a whole number in exponent form": ("tensor([1., 0.])", "tensor([1.0000e+00, 5.9605e-08])"),
    "one unit of the finer number": ("0.5", "0.501"),
    "residues by the coarser digit": ("1e-16", "3e-17"),
    "a residue beside zero": ("0.0", "2.8e-17"),
    "a typographic minus": ("−0.52", "-0.51"),
    "many digits": ("0." + "3" * 60, "0." + "3" * 59 + "4"),
}

DIFFER = {
    "two units of the last digit": ("loss 0.123", "loss 0.125"),
    "two units, exponent form": ("1.25e-07", "1.27e-07"),
    "two units of many digits": ("0." + "3" * 60, "0." + "3" * 59 + "5"),
    "an integer": ("12 heads", "13 heads"),
    "an integer with a point at the sentence's end": ("There are 3.", "There are 4."),
    "a whole number of an array": ("[1. 2.]", "[2. 2.]"),
    "a flipped mask": ("[[1. 0.]\n [1. 1.]]", "[[1. 1.]\n [1. 1.]]"),
    "a whole number in exponent form": ("[1.e-05]", "[2.e-05]"),
    "an integer that became a decimal": ("1", "1.0"),
    "a whole number that became a fraction": ("[1.]", "[1.1]"),
    "a trimmed number by more than the finer unit": ("0.5", "0.52"),
    "a sign": ("-0.5", "0.5"),
    "a word": ("the mean is 0.5", "the variance is 0.5"),
    "a word beside equal numbers": ("0.5 nats", "0.5 bits"),
    "a version": ("torch 1.2.3", "torch 1.2.4"),
    "the middle of a version": ("torch 1.2.3", "torch 1.3.3"),
    "a dotted name": ("v1.25", "v1.26"),
    "a number with a unit attached": ("3.25ms", "3.26ms"),
    "an address": ("<Line2D at 0x7f3a01>", "<Line2D at 0x7f3a02>"),
    "a dtype": ("float32", "float64"),
    "not a number": ("nan", "inf"),
    "a number that became nan": ("0.5", "nan"),
    "fewer numbers": ("[0.5 0.5]", "[0.5]"),
    "a line break": ("0.5 0.5", "0.5\n0.5"),
    "an end of line": ("0.5\n", "0.5"),
    "blanks between words": ("a  b 0.5", "a b 0.5"),
    "padding by more than a sign": ("x    0.5", "x  0.5"),
    "residues that the rule tells apart": ("1.1e-16", "2.2e-16"),
    "an exponent too long for a number": ("1e99999", "1e99998"),
}


@pytest.mark.parametrize(("stored", "computed"), AGREE.values(), ids=AGREE.keys())
def test_rounding_passes(stored: str, computed: str) -> None:
    assert text_problem(stored, computed) is None
    assert text_problem(computed, stored) is None


@pytest.mark.parametrize(("stored", "computed"), DIFFER.values(), ids=DIFFER.keys())
def test_a_real_change_is_caught(stored: str, computed: str) -> None:
    assert text_problem(stored, computed) is not None
    assert text_problem(computed, stored) is not None


@given(st.floats(-1e6, 1e6), st.integers(1, 8), st.floats(-0.49, 0.49))
def test_a_value_moved_by_less_than_half_a_unit_agrees(value: float, decimals: int, share: float) -> None:
    moved = value + share * 10.0**-decimals

    assert text_problem(f"x = {value:.{decimals}f}", f"x = {moved:.{decimals}f}") is None


@given(st.integers(-(10**9), 10**9), st.integers(1, 8), st.sampled_from([-2, 2]))
def test_a_value_moved_by_two_units_is_caught(digits: int, decimals: int, units: int) -> None:
    stored, computed = (f"{n / 10**decimals:.{decimals}f}" for n in (digits, digits + units))

    assert text_problem(f"x = {stored}", f"x = {computed}") is not None


@given(st.lists(st.floats(0.1, 0.9), min_size=2, max_size=40), st.integers(0, 39))
def test_an_array_with_noise_agrees_and_with_a_wrong_entry_does_not(entries: list[float], place: int) -> None:
    right = np.array(entries)
    noisy, wrong = right * (1 + 1e-9), right.copy()
    wrong[place % len(wrong)] *= 1.05

    with np.printoptions(precision=4, floatmode="fixed"):
        assert text_problem(str(right), str(noisy)) is None
        assert text_problem(str(right), str(wrong)) is not None


def test_a_cell_may_allow_more_units_or_none() -> None:
    assert text_problem("0.123", "0.126", ulps=3) is None
    assert text_problem("0.123", "0.127", ulps=3) is not None
    assert text_problem("0.5", "0.50", ulps=0) is None
    assert text_problem("0.123", "0.124", ulps=0) is not None


def test_the_problem_names_line_and_numbers() -> None:
    problem = text_problem("mean 0.1\nvariance 0.5", "mean 0.1\nvariance 0.9")

    assert problem == "line 2: 0.5 became 0.9 in 'variance 0.5'"


def test_the_problem_names_the_first_line_with_other_words() -> None:
    stored, computed = "mean 0.1\nvariance 0.5\nend", f"mean 0.2\nstandard deviation 0.5{'!' * 99}\nend"

    problem = text_problem(stored, computed)

    assert problem == f"line 2: 'variance 0.5' became 'standard deviation 0.5{'!' * 58}…'"


def test_the_problem_shows_blanks_and_line_ends() -> None:
    assert text_problem("  a", "a") == "line 1: '  a' became 'a'"
    assert text_problem("a 1\n", "a 1") == r"the end: 'a 1\n' became 'a 1'"


def test_long_rows_of_digits_cost_linear_time() -> None:
    row = "1" * 200_000

    assert text_problem(f"{row}x", f"{row}y") is not None
    assert text_problem(f"0.{row}e", f"0.{row}f") is not None
