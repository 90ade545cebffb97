import numpy as np
import pytest

from block_course.exercise import Case
from block_course.tolerance import agrees, case_tolerance, first_difference, tolerance


def test_the_tolerance_is_roundings_times_unit_roundoff_times_condition_times_scale():
    expected = 3 * (7 + 8) * 2.0**-53 * 5.0 * 4.0

    assert tolerance(np.float64, terms=7, condition=5.0, scale=4.0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_sum_in_any_order_and_dtype_stays_inside(dtype):
    rng = np.random.default_rng(1)
    bound = tolerance(dtype, terms=300, scale=300.0)

    for _ in range(20):
        terms = rng.uniform(0.0, 1.0, 300).astype(dtype)
        exact = terms.astype(np.float64).sum()
        one_by_one = np.add.accumulate(rng.permutation(terms), dtype=dtype)[-1]

        assert abs(float(one_by_one) - exact) <= bound


def test_a_subtracted_mean_costs_what_the_condition_says():
    rng = np.random.default_rng(2)
    x = (rng.standard_normal(7) + 1e4).astype(np.float32)
    exact = x.astype(np.float64) - x.astype(np.float64).mean()

    error = np.max(np.abs((x - x.mean(dtype=np.float32)) - exact))

    assert error > tolerance(np.float32, terms=7, scale=float(np.max(np.abs(exact))))
    assert error <= tolerance(np.float32, terms=7, condition=1e4, scale=float(np.max(np.abs(exact))))


def test_a_condition_below_one_does_not_tighten_the_tolerance():
    assert tolerance(np.float32, terms=3, condition=0.1) == tolerance(np.float32, terms=3)


@pytest.mark.parametrize("dtype", [np.int64, np.bool_])
def test_exact_dtypes_have_no_tolerance(dtype):
    assert tolerance(dtype, terms=5, scale=9.0) == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"terms": 0}, "terms must be positive; got 0"),
        ({"terms": 1, "condition": -1.0}, "condition must be finite and not negative; got -1.0"),
        ({"terms": 1, "scale": np.inf}, "scale must be finite and not negative; got inf"),
        ({"terms": 1, "scale": np.nan}, "scale must be finite and not negative; got nan"),
    ],
)
def test_a_tolerance_that_means_nothing_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        tolerance(np.float64, **arguments)


def test_a_case_takes_its_narrowest_dtype_its_longest_axis_and_its_condition():
    x, gamma = np.ones((2, 3, 5), np.float32), np.ones(11)
    case = Case(name="mixed", arguments={"x": x, "gamma": gamma, "eps": 0.1}, condition=6.0)

    bound = case_tolerance(case, np.array([-4.0, np.nan, np.inf]))

    assert bound == tolerance(np.float32, terms=11, condition=6.0, scale=4.0)


def test_a_condition_of_its_own_replaces_the_cases():
    case = Case(name="one", arguments={"x": np.ones(3)}, condition=6.0)

    assert case_tolerance(case, np.ones(1), condition=2.0) == tolerance(np.float64, terms=3, condition=2.0)


def test_a_case_without_arrays_is_judged_in_float64():
    case = Case(name="scalar", arguments={"eps": 0.5})

    assert case_tolerance(case, np.array(2.0)) == tolerance(np.float64, terms=1, scale=2.0)


def test_counts_are_compared_exactly():
    case = Case(name="count", arguments={"x": np.ones(3)})

    assert case_tolerance(case, np.array([7])) == 0.0
    assert agrees(np.array([2**53 + 1]), np.array([2**53 + 1]), 0.0)
    assert not agrees(np.array([2**53 + 1]), np.array([2**53]), 0.0)


def test_agreement_needs_the_same_shape():
    assert not agrees(np.ones((1, 3)), np.ones(3), 1.0)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_agrees_with_its_like_alone(odd):
    assert agrees(np.array([odd, 1.0]), np.array([odd, 1.0]), 0.1)
    assert not agrees(np.array([odd]), np.array([1.0]), 1e300)
    assert not agrees(np.array([1.0]), np.array([odd]), 1e300)


def test_the_first_difference_is_the_first_in_reading_order():
    got = np.array([[1.0, 2.0], [3.5, 9.0]])

    assert first_difference(got, np.array([[1.0, 2.0], [3.0, 4.0]]), 0.1) == (1, 0)
    assert first_difference(got, got, 0.0) is None


def test_an_output_in_float32_is_judged_as_one_and_one_in_float16_is_not():
    case = Case(name="c", arguments={"x": np.ones((2, 3))})
    expected = np.ones((2, 3))
    plain = case_tolerance(case, expected)

    assert case_tolerance(case, expected, given=expected.astype(np.float32)) == pytest.approx(plain * 2**29)
    for dtype in (np.float16, np.float64, np.int64):
        assert case_tolerance(case, expected, given=expected.astype(dtype)) == plain


def test_an_output_in_float64_is_judged_by_an_input_in_float32():
    case = Case(name="c", arguments={"x": np.ones((2, 3), np.float32)})

    assert case_tolerance(case, np.ones(3), given=np.ones(3)) == case_tolerance(case, np.ones(3))
