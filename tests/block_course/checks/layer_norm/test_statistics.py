import re

import numpy as np
import pytest

from block_course.check import attempt, open_cases
from block_course.checks.layer_norm.statistics import EXERCISE, reference
from block_course.verdict import judge
from transformer_block.in_numpy.layer_norm import statistics


def judged(answer):
    return judge(EXERCISE, attempt(EXERCISE, answer, open_cases(EXERCISE)))


def misconception(name):
    found = next(each for each in EXERCISE.misconceptions if each.name == name)
    return lambda x: found.answer(x)


def test_the_reference_is_the_packages_statistics():
    x = np.random.default_rng(5).standard_normal((2, 3, 7))

    for mine, theirs in zip(reference(x), statistics(x), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_the_example_of_the_statement_is_what_the_check_says():
    example = open_cases(EXERCISE)[0].arguments
    mean, variance = reference(**example)

    assert example["x"][0, 0].tolist() == [2.0, 4.0, 5.0, 9.0]
    assert (mean[0, 0].tolist(), variance[0, 0].tolist()) == ([5.0], [6.5])


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("sample variance", 1.25),
        ("standard deviation for variance", 1.25),
        ("mean not subtracted", 1.25),
        ("last axis dropped", 2.75),
        ("last axis of the variance dropped", 2.75),
        ("statistics copied along the features", 2.75),
        ("mean without its last axis", 0.0),
        ("one-pass variance", 2.75),
        ("statistics over the whole array", 0.0),
        ("variance before mean", 0.0),
    ],
)
def test_a_misconception_costs_what_it_breaks_and_keeps_the_rest(name, points):
    verdict = judged(misconception(name))

    assert (verdict.diagnosis.name, verdict.points) == (name, points)


def test_the_sample_variance_is_told_in_the_learners_numbers():
    message = judged(misconception("sample variance")).diagnosis.message

    assert message.startswith(
        "For the token [2 4 5 9] you give the variance 8.667: the squared deviations divided by"
    )
    assert "D − 1 = 3" in message
    assert "D = 4, which gives 6.500" in message


@pytest.mark.parametrize("name", [each.name for each in EXERCISE.misconceptions])
def test_each_message_is_a_sentence_for_the_learner(name):
    message = judged(misconception(name)).diagnosis.message

    assert message.endswith(".")
    assert re.search(r"\b[Yy]ou", message)
    assert not re.search(r"nan|∞|np\.|float64\(|array\(", message)


def test_a_mean_without_its_axis_is_told_by_both_shapes():
    message = judged(misconception("mean without its last axis")).diagnosis.message

    assert message.startswith("Your mean has shape (2, 3), `x` has (2, 3, 4):")


def test_the_whole_array_is_told_by_several_tokens():
    message = judged(lambda x: (x.mean(keepdims=True), x.var(keepdims=True))).diagnosis.message

    assert message.startswith("You give one mean, ")
    assert "the first one, [2 4 5 9], has 5.000" in message


@pytest.mark.parametrize("axes", [2, (2,)])
def test_an_answer_for_batches_alone_loses_one_property_and_is_told_which_shapes(axes):
    verdict = judged(lambda x: (x.mean(axes, keepdims=True), x.var(axes, keepdims=True)))

    assert verdict.points == 2.5
    assert verdict.first_failure.message.startswith("it works on (2, 3, 8), not on (3, 8) (use axis −1): ")


def test_one_array_is_asked_for_two_by_name():
    message = judged(lambda x: x.mean(-1, keepdims=True)).first_failure.message

    assert message == "your function returned one array; return two: `return mean, variance`"


def test_a_wrong_variance_is_told_by_token():
    finding = judged(misconception("sample variance")).findings[1]

    assert finding.failure.message == "the token [2 4 5 9] has variance 6.500; you give 8.667"
