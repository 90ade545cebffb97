import numpy as np
import pytest

from block_course.exercise import Failure, Observation
from block_course.verdict import Ending, JudgingError, judge
from tests.block_course.doubling import EXERCISE, drawn, returned, run_of, run_with, with_property


def test_an_answer_with_every_property_passes_with_all_points():
    verdict = judge(EXERCISE, run_of(lambda x: 2 * x))

    assert (verdict.status, verdict.points, verdict.of) == ("pass", 2.5, 2.5)
    assert [finding.outcome for finding in verdict.findings] == ["holds", "holds"]
    assert verdict.first_failure is None
    assert verdict.diagnosis is None


def test_a_property_counts_only_when_those_it_requires_hold():
    verdict = judge(EXERCISE, run_of(lambda x: x + 1))

    assert (verdict.status, verdict.points) == ("wrong", 0.0)
    assert [finding.outcome for finding in verdict.findings] == ["fails", "not counted"]
    assert verdict.first_failure == Failure(case="regular", message="not doubled")


def test_what_holds_is_paid_when_the_rest_fails():
    verdict = judge(EXERCISE, run_of(lambda x: 2 * np.sqrt(np.square(x))))

    assert (verdict.status, verdict.points) == ("wrong", 2.0)
    assert [(finding.points, finding.of) for finding in verdict.findings] == [(2.0, 2.0), (0.0, 0.5)]


@pytest.mark.parametrize("status", ["not attempted", "missing"])
def test_an_answer_that_attempts_nothing_is_not_attempted(status):
    nothing = Observation(status=status, message="the notebook defines no double")

    verdict = judge(EXERCISE, run_with(nothing, nothing, nothing))

    assert (verdict.status, verdict.points) == ("not attempted", 0.0)
    assert [finding.outcome for finding in verdict.findings] == ["not counted", "not counted"]
    assert verdict.message == "the notebook defines no double"


@pytest.mark.parametrize(
    ("ended", "status"),
    [
        ("raised", "error"),
        ("died", "error"),
        ("timeout", "timeout"),
        ("memory", "memory"),
        ("not attempted", "wrong"),
        ("missing", "wrong"),
    ],
)
def test_the_status_is_that_of_the_first_call_that_did_not_return(ended, status):
    regular, lone, _ = drawn()
    run = run_with(returned(regular), returned(lone), Observation(status=ended, message="why"))

    verdict = judge(EXERCISE, run)

    assert (verdict.status, verdict.points, verdict.message) == (status, 2.0, "why")


def test_a_forgotten_return_is_wrong_and_not_unattempted():
    verdict = judge(EXERCISE, run_of(lambda x: x.sort()))

    assert (verdict.status, verdict.points, verdict.diagnosis.name) == ("wrong", 0.0, "no return")


def test_an_answer_that_uses_what_is_withheld_earns_nothing():
    regular, lone, _ = drawn()
    run = run_with(returned(regular), returned(lone), Observation(status="forbidden", message="np.double"))

    verdict = judge(EXERCISE, run)

    assert (verdict.status, verdict.points, verdict.message) == ("forbidden", 0.0, "np.double")
    assert {finding.outcome for finding in verdict.findings} == {"not counted"}


def test_the_public_verdict_says_which_property_failed_and_nothing_of_the_inputs():
    def telling(x):
        if x.ndim == 1:
            raise ValueError(f"the hidden input is {x[0]}")
        return np.square(x)

    verdict = judge(EXERCISE, run_of(telling))
    public = verdict.public()

    assert "hidden input" in verdict.message
    assert verdict.ending.called_with == "x of shape (5,)"
    assert public.message == ""
    assert public.ending == Ending()
    assert [finding.failure for finding in public.findings] == [None, None]
    assert [finding.outcome for finding in public.findings] == ["fails", "not counted"]
    assert (public.points, public.status) == (verdict.points, verdict.status)


def test_the_public_verdict_names_the_misconception_without_its_numbers():
    verdict = judge(EXERCISE, run_of(np.square))

    assert verdict.diagnosis.message is not None
    assert verdict.public().diagnosis.name == "squared"
    assert verdict.public().diagnosis.message is None


def test_a_property_that_raises_is_a_fault_of_the_course():
    exercise = with_property(lambda exercise, run: 1 / 0)

    with pytest.raises(JudgingError, match=r"tiny\.double, property 'odd': ZeroDivisionError"):
        judge(exercise, run_of(np.negative))


def test_a_run_without_cases_is_a_fault_of_the_course():
    with pytest.raises(JudgingError, match=r"tiny\.double: there is no case to judge"):
        judge(EXERCISE, [])


def test_judging_is_not_disturbed_by_a_notebooks_error_handling():
    with np.errstate(all="raise"):
        assert judge(EXERCISE, run_of(lambda x: x / 0)).status == "wrong"
