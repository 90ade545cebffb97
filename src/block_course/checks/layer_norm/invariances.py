"""`layer_norm.invariances`: a test that tells layer norm from norms that are nearly one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.catching import catches, let_through, lets_through
from block_course.checks.layer_norm.norms import (
    BATCH,
    BENT,
    CENTERED,
    EPS,
    ITEM,
    LAST,
    SAMPLE,
    SCALED,
    SEQUENCE,
    right_norms,
    wrong_norms,
)
from block_course.checks.layer_norm.tokens import tokens
from block_course.exercise import Array, Case, Exercise, Misconception, Outputs, Subject
from block_course.under_test import Block

_CATCHES = (
    (SCALED, "catches a norm that only divides by the spread", 0.5),
    (CENTERED, "catches a norm that only subtracts the mean", 0.5),
    (SAMPLE, "catches the sample variance", 1.0),
    (EPS, "catches an eps of 0.01", 1.0),
    (BATCH, "catches statistics over the batch", 0.5),
    (SEQUENCE, "catches statistics over the sequence", 0.5),
    (LAST, "catches a last token that is left out", 0.5),
    (ITEM, "catches items that are left out", 0.5),
    (BENT, "catches a norm that sees a shift", 1.0),
)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Each norm once, in random order. The tokens have spreads near 1, and means of their own."""
    B, T, D = 2, int(rng.integers(3, 5)), int(rng.integers(8, 12))
    x = tokens(rng, (B, T, D), means=(0.5, 1.0), spreads=(0.9, 1.2))
    # apart in mean and spread, so that shared statistics can't be right for any token by luck
    x[:, -1] = x[:, -1] * 2.0 + 1.0
    x[1] = x[1] - 1.5
    made = [(name, norm, True) for name, norm in right_norms().items()]
    made += [(name, norm, False) for name, norm in wrong_norms().items()]
    return [
        Case(name=name, arguments={"x": x}, subject=Subject(right=right, answers={"forward": norm}))
        for name, norm, right in (made[index] for index in rng.permutation(len(made)))
    ]


def _misses(name: str, test: Callable[[Block, Array], object], sentence: str) -> Misconception:
    def message(case: Case, outputs: Outputs) -> str:
        what = "lets a wrong norm through" if bool(outputs[0]) else "rejects a right norm"
        return f"Your test {what}: {case.name}. {sentence}"

    return Misconception(name=name, answer=lambda norm, x: np.array(bool(test(norm, x))), message=message)


def _near(got: Array | np.floating, wanted: object, within: float = 1e-3) -> bool:
    return bool(np.all(np.abs(got - wanted) < within))  # type: ignore[operator]


def _centered(norm: Block, x: Array) -> bool:
    return _near(norm(x).mean(axis=-1), 0.0)


def _scaled(norm: Block, x: Array, within: float = 1e-3) -> bool:
    return _near(norm(x).var(axis=-1), 1.0, within)


def _shifted(norm: Block, x: Array) -> bool:
    return _near(norm(x + 3.0), norm(x))


def _whole(norm: Block, x: Array) -> bool:
    return _centered(norm, x) and _scaled(norm, x) and _shifted(norm, x)


def _of_one_token(norm: Block, x: Array) -> bool:
    y, shifted = norm(x)[0, 0], norm(x + 3.0)[0, 0]
    return _near(y.mean(), 0.0) and _near(y.var(), 1.0) and _near(shifted, y)


def _over_all(norm: Block, x: Array) -> bool:
    y = norm(x)
    return _near(y.mean(), 0.0) and _near(y.var(), 1.0) and _shifted(norm, x)


MISCONCEPTIONS = (
    _misses(
        "turned over",
        lambda norm, x: not _whole(norm, x),
        "It says True where something is wrong. A test says True when all is well.",
    ),
    _misses(
        "means alone",
        _centered,
        "It looks at means alone. A layer norm also has a variance near 1, and takes no notice of a shift.",
    ),
    _misses(
        "variances alone",
        _scaled,
        "It looks at variances alone. A layer norm also has mean 0, and takes no notice of a shift.",
    ),
    _misses(
        "shift alone",
        _shifted,
        "It shifts the tokens and compares. Whatever subtracts the mean passes that, whether it scales or "
        "not.",
    ),
    _misses(
        "no shift",
        lambda norm, x: _centered(norm, x) and _scaled(norm, x),
        "Mean and variance of what comes out are right here, and yet it is no layer norm: add a number to "
        "all features of the tokens, and it gives something else.",
    ),
    _misses(
        "one mean over all",
        _over_all,
        "It takes one mean and one variance over all entries. Those of single tokens may be far off and "
        "cancel: `axis=-1` gives a number for each token.",
    ),
    _misses(
        "first token alone",
        _of_one_token,
        "It looks at the first token alone. One token proves nothing about the others.",
    ),
    _misses(
        "loose tolerance",
        lambda norm, x: _centered(norm, x) and _scaled(norm, x, 0.05) and _shifted(norm, x),
        "With eps = 0.01 a token with variance 1 comes out with 0.990, and your tolerance takes that for 1. "
        "With eps = 0.00001 it is 0.99999.",
    ),
    _misses(
        "variance of exactly 1",
        lambda norm, x: _centered(norm, x) and _scaled(norm, x, 1e-9) and _shifted(norm, x),
        "It asks for a variance of 1 to nine digits. With eps = 0.00001 the variance is below 1 by about as "
        "much as eps, for a token with variance 1.",
    ),
)

EXERCISE = Exercise(
    id="layer_norm.invariances",
    answer="is_layer_norm",
    title="A test: is it layer norm?",
    level="core",
    minutes=20,
    framework="numpy",
    reference=let_through,
    cases=cases,
    properties=(lets_through(), *(catches(*each) for each in _CATCHES)),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "What three things does layer norm promise of each token, and which of them do you look at, of which "
        "tokens, and how closely?",
        "The mean of each token is 0, its variance is 1 within about eps, and a number added to all its "
        "features changes nothing. In float32 all of this holds within 0.0001.",
        "Call the norm on `x` and on `x` plus a number; demand means within 0.001 of 0 and variances within "
        "0.001 of 1, for each token, and equal outputs within 0.001.",
    ),
    calls="test",
)
