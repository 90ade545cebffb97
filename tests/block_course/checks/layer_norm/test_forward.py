import re

import numpy as np
import pytest
import torch

from block_course.check import attempt, open_cases
from block_course.checks.layer_norm import forward
from block_course.checks.layer_norm.forward import EXERCISE, reference
from block_course.verdict import judge
from transformer_block.in_numpy.layer_norm import layer_norm


def judged(answer):
    return judge(EXERCISE, attempt(EXERCISE, answer, open_cases(EXERCISE)))


def misconception(name):
    found = next(each for each in EXERCISE.misconceptions if each.name == name)
    return lambda x, gamma, beta, eps=1e-5: found.answer(x, gamma, beta, eps)


def failing(verdict):
    return [finding.name for finding in verdict.findings if finding.outcome == "fails"]


def message_of(verdict, name):
    return next(finding.failure.message for finding in verdict.findings if finding.name == name)


def test_the_reference_is_the_packages_layer_norm():
    rng = np.random.default_rng(5)
    x, gamma, beta = rng.standard_normal((2, 3, 7)), rng.standard_normal(7), rng.standard_normal(7)

    np.testing.assert_allclose(
        reference(x, gamma, beta, 0.3), layer_norm(x, gamma, beta, 0.3), rtol=1e-12, atol=1e-14
    )


def test_the_example_of_the_statement_is_what_the_check_says():
    example = open_cases(EXERCISE)[0]

    assert example.arguments["x"][0, 0].tolist() == [2.0, 4.0, 5.0, 9.0]
    np.testing.assert_allclose(reference(**example.arguments)[0, 0], [-1.177, -0.392, 0.0, 1.569], atol=5e-4)


def test_normalized_tokens_have_a_spread_that_eps_does_not_move_by_more_than_the_slack():
    for seed in range(50):
        for case in EXERCISE.cases(np.random.default_rng(seed)):
            if case.name in (forward.EXAMPLE, forward.BATCH, forward.BATCH_32):
                spread = case.arguments["x"].astype(np.float64).std(axis=-1)

                assert np.all(spread > 1.0 - 1e-6)


def test_a_mean_of_ten_thousand_takes_no_digit_from_the_token():
    for seed in range(50):
        by_name = {case.name: case.arguments["x"] for case in EXERCISE.cases(np.random.default_rng(seed))}
        small, huge = by_name[forward.CENTERED], by_name[forward.HUGE]

        np.testing.assert_array_equal(small.astype(np.float64) + 1e4, huge.astype(np.float64))


@pytest.mark.parametrize(
    ("name", "points", "fails"),
    [
        ("sample variance", 3.0, ["normalized"]),
        ("eps outside the root", 5.0, ["eps"]),
        ("eps left out", 4.75, ["eps", "constant"]),
        ("eps fixed at 1e-5", 5.0, ["eps"]),
        ("eps twice", 5.0, ["eps"]),
        ("gamma never applied", 4.75, ["affine"]),
        ("sum divided by len(x)", 1.25, ["normalized", "shift"]),
        ("mean or variance without its last axis", 0.0, ["normalized", "affine", "shift"]),
        ("root mean square instead of the spread", 1.25, ["normalized", "shift"]),
        ("statistics over the whole array", 2.0, ["normalized", "tokens", "ranks", "constant"]),
        ("one-pass variance", 5.75, ["huge mean"]),
    ],
)
def test_a_misconception_costs_what_it_breaks_and_keeps_the_rest(name, points, fails):
    verdict = judged(misconception(name))

    assert (verdict.diagnosis.name, verdict.points) == (name, points)
    assert failing(verdict) == fails


def test_the_sample_variance_is_told_in_the_learners_numbers():
    message = judged(misconception("sample variance")).diagnosis.message

    assert message == (
        "Your token has variance 0.750 after normalizing; the population variance of its 4 features should "
        "be 1.000. Your sum of squares is divided by D − 1 = 3, as in `var(ddof=1)`; layer norm divides by "
        "D = 4."
    )


@pytest.mark.parametrize("name", [each.name for each in EXERCISE.misconceptions])
def test_each_message_holds_a_number_and_says_what_layer_norm_does(name):
    message = judged(misconception(name)).diagnosis.message

    assert re.search(r"\d\.\d|\(2, 3, 4\)", message)
    assert message.endswith(".")
    assert not re.search(r"nan|∞|np\.|float64\(|array\(", message)


@pytest.mark.parametrize(
    ("answer", "name", "pattern"),
    [
        (
            "sample variance",
            "normalized",
            r"^for the token \[2 4 5 9\] your output has mean 0\.000 and variance 0\.750",
        ),
        (
            "eps outside the root",
            "eps",
            r"^a token with variance .*e−0\d, and eps left at 1e-5: entry \[0, 0, 0\] is",
        ),
        (
            "gamma never applied",
            "affine",
            r"^entry \[0, 0, 0\] is .*; gamma · \(your output without them\) \+ beta is",
        ),
        ("mean not subtracted", "shift", r"^entry \[0, 0, 0\] was .* before the shift and is .* after it$"),
        (
            "batch statistics",
            "tokens",
            r"^another token was replaced, and entry \[0, 0, 0\] went from .* to ",
        ),
        ("one-pass variance", "huge mean", r"^your output is not finite$"),
        ("eps left out", "constant", r"^entry \[0, 1, 0\] is NaN and should be "),
        ("eps fixed at 1e-5", "eps", r"^a token with variance .*, and eps 0\.\d\d\d: entry"),
    ],
)
def test_each_property_says_what_it_saw(answer, name, pattern):
    assert re.search(pattern, message_of(judged(misconception(answer)), name))


def test_a_mean_of_ten_thousand_that_does_harm_is_told_by_entry():
    def never_below_zero(x, gamma, beta, eps=1e-5):
        mean = x.mean(-1, keepdims=True)
        variance = np.maximum(np.square(x).mean(-1, keepdims=True) - np.square(mean), 0)
        return gamma * (x - mean) / np.sqrt(variance + eps) + beta

    message = message_of(judged(never_below_zero), "huge mean")

    assert re.search(r"^entry \[0, 0, 0\] was .* without the 10,000 and is .* with it$", message)


def test_features_in_another_order_have_the_right_statistics_and_are_told_by_entry():
    verdict = judged(
        lambda x, gamma, beta, eps=1e-5: reference(x, gamma, beta, eps).astype(x.dtype)[..., ::-1]
    )

    assert message_of(verdict, "normalized") == "entry [0, 0, 0] is 1.569 and should be −1.177"


def test_an_output_of_another_shape_is_told_its_shape():
    def flat_for_two_axes(x, gamma, beta, eps=1e-5):
        y = layer_norm(x, gamma, beta, eps)
        return y.ravel() if x.ndim == 2 else y

    verdict = judged(flat_for_two_axes)

    assert failing(verdict) == ["ranks"]
    assert message_of(verdict, "ranks") == (
        "it works on (2, 4, 6), not on (4, 6) (use axis −1): your output has shape (24,) and should have "
        "(4, 6)"
    )


def test_a_constant_token_of_another_shape_is_told_its_shape():
    def flat_for_constants(x, gamma, beta, eps=1e-5):
        y = layer_norm(x, gamma, beta, eps)
        return y.ravel() if np.any(np.ptp(x, axis=-1) == 0) else y

    verdict = judged(flat_for_constants)

    assert failing(verdict) == ["constant"]
    assert message_of(verdict, "constant") == "your output has shape (48,) and should have (2, 4, 6)"


def test_some_calls_give_eps_and_most_leave_it_out():
    given = ["eps" in case.arguments for case in open_cases(EXERCISE)]

    assert 0 < sum(given) < len(given)


def test_a_tensor_or_a_masked_array_loses_the_dtype_alone():
    for made in (torch.from_numpy, np.ma.masked_array):
        verdict = judged(lambda x, gamma, beta, eps=1e-5, made=made: made(layer_norm(x, gamma, beta, eps)))

        assert (failing(verdict), verdict.points) == (["dtype"], 5.75)
