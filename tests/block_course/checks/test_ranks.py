from dataclasses import replace

import numpy as np
import pytest

from block_course.calling import observe
from block_course.checks.ranks import any_rank
from block_course.exercise import Case
from tests.block_course.doubling import EXERCISE as DOUBLE

X = np.random.default_rng(0).uniform(1.0, 2.0, (2, 3, 5))
CASES = [
    Case(name="batch", arguments={"scale": np.ones(5), "x": X}),
    Case(name="sequence", arguments={"scale": np.ones(5), "x": X[0].copy()}),
    Case(name="token", arguments={"scale": np.ones(5), "x": X[0, 0].copy()}),
]
TOTAL = replace(
    DOUBLE, reference=lambda scale, x: (2.0 * x, x.sum(-1, keepdims=True)), returns=("double", "total")
)
PARTS = {"sequence": (0,), "token": (0, 0)}
RANKS = any_rank(1.0, batch="batch", parts=PARTS)


def said(answer, each=RANKS):
    run = [(case, observe(lambda scale, x: answer(x), case)) for case in CASES]
    found = each.holds(TOTAL, run)
    return found and (found.case, found.message)


def test_an_answer_for_any_rank_holds_even_if_it_is_wrong():
    assert said(lambda x: (2 * x, x.sum(-1, keepdims=True))) is None
    assert said(lambda x: (3 * x, x.max(-1, keepdims=True))) is None


def test_an_answer_for_three_axes_is_told_on_which_it_works():
    def three(x):
        B, T, _ = x.shape
        return 2 * x, x.sum(-1).reshape(B, T, 1)

    assert said(three) == (
        "sequence",
        "it works on (2, 3, 5), not on (3, 5) (use axis −1): your function raised ValueError: not enough "
        "values to unpack (expected 3, got 2)",
    )


@pytest.mark.parametrize(
    ("answer", "case", "message"),
    [
        (
            lambda x: (2 * x, x.sum(-1, keepdims=x.ndim > 1)),
            "token",
            "your total has shape () and should have (1,)",
        ),
        (
            lambda x: (2 * x, x.sum(-1, keepdims=True) / len(x)),
            "sequence",
            "entry [0, 0] of your total was",
        ),
        (
            lambda x: (2 * x, x.sum(-1, keepdims=True) if x.ndim > 1 else "none"),
            "token",
            "your total is a str where an array belongs",
        ),
        (lambda x: (2 * x, None), "sequence", "your total is None where an array belongs"),
        (
            lambda x: (2 * x, None if x.ndim == 3 else x),
            "sequence",
            "your total is None where an array belongs",
        ),
    ],
)
def test_the_part_that_differs_is_told_by_its_output(answer, case, message):
    found = said(answer)

    assert found[0] == case
    assert message in found[1]


def test_a_batch_that_shows_nothing_fails_by_itself():
    assert said(lambda x: (np.ones_like(x), x)) == ("batch", "every entry of your double is 1.000")


def test_an_adjustment_mends_what_another_property_judges():
    def dropped(x):
        return 2 * x, x.sum(-1)

    def with_axis(got, expected):
        return got[..., None] if got.shape == expected.shape[:-1] else got

    assert said(dropped, any_rank(1.0, batch="batch", parts=PARTS, adjust=with_axis)) is None


def test_an_answer_in_float32_is_compared_as_one():
    assert said(lambda x: ((x / 3).astype(np.float32), x)) is None
    assert said(lambda x: ((x / 3).astype(np.float32 if x.ndim == 3 else np.float64), x)) is None
    assert said(lambda x: ((x / 3).astype(np.float16 if x.ndim == 3 else np.float64), x)) is not None
