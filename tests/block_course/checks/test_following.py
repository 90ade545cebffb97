from dataclasses import replace

import numpy as np
import pytest

from block_course.calling import observe
from block_course.checks.entries import entries
from block_course.checks.following import follows
from block_course.exercise import Case
from block_course.verdict import judge
from tests.block_course.doubling import EXERCISE

RIGHT = {"token": 12, "cache": 60, "share": 0.2}
TABLE = replace(
    EXERCISE,
    reference=lambda T: RIGHT,
    cases=lambda rng: [Case(name="the table", arguments={"T": 5})],
    properties=(
        entries("token", "token", 1.0, of=("token",)),
        follows("cache", "cache", 1.0, entry="cache", of=("token",), rule=lambda s, own: s.T * own.token),
        follows(
            "share", "share", 1.0, entry="share", of=("token", "cache"), rule=lambda s, o: o.token / o.cache
        ),
    ),
    misconceptions=(),
    returns=tuple(RIGHT),
)


def verdict(**changes):
    answer = RIGHT | changes
    return judge(TABLE, [(case, observe(lambda T: answer, case, TABLE.manner)) for case in TABLE.cases(None)])


@pytest.mark.parametrize("kind", [int, float, np.int32, np.float64])
def test_what_follows_from_right_entries_earns_all_in_any_kind_of_number(kind) -> None:
    assert verdict(token=kind(12), cache=kind(60)).points == 3.0


def test_a_wrong_entry_costs_its_own_points_and_not_those_of_what_follows_from_it() -> None:
    assert verdict(token=7, cache=35, share=7 / 35).points == 2.0


def test_an_entry_that_does_not_follow_is_told_beside_those_that_it_should_follow_from() -> None:
    judged = verdict(cache=59, share=12 / 59)

    assert judged.points == 2.0
    assert judged.first_failure.message == "your `cache` is 59, which does not follow from your `token` of 12"


def test_a_decimal_may_differ_by_its_rounding_and_no_further() -> None:
    assert verdict(share=0.2 * (1 + 2**-52)).points == 3.0
    assert verdict(share=0.2 * (1 + 1e-12)).points == 2.0


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (0, "your `token` is 0"),
        (-12, "your `token` is -12"),
        (float("nan"), "your `token` is NaN"),
        (np.array([12, 13]), "your `token` is no number"),
        ("12", "your `token` is no number"),
        (True, "your `token` is no number"),
        (None, "your `token` is None where a number belongs"),
    ],
)
def test_nothing_follows_from_what_is_no_positive_number(token, message) -> None:
    (_, cache, _) = TABLE.properties
    answer = RIGHT | {"token": token, "cache": 0}
    (case,) = TABLE.cases(None)

    failure = cache.holds(TABLE, [(case, observe(lambda T: answer, case, TABLE.manner))])

    assert failure is not None
    assert failure.message == message


def test_numbers_too_large_to_follow_anything_are_wrong_and_no_error_of_the_check() -> None:
    judged = verdict(token=1e308, cache=1.0, share=1.0)

    assert (judged.status, judged.points) == ("wrong", 0.0)
