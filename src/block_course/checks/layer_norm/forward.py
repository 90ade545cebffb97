"""`layer_norm.forward`: layer norm in NumPy."""

from __future__ import annotations

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.layer_norm.forward_cases import (
    AFFINE,
    AFFINE_32,
    BATCH,
    BATCH_32,
    CENTERED,
    CONSTANT,
    CONSTANT_AT,
    DEFAULT_EPS,
    EXAMPLE,
    GIVEN_EPS,
    HUGE,
    NEAR_EPS,
    ONE_TOKEN,
    REPLACED,
    SEQUENCE,
    SHIFTED,
    cases,
)
from block_course.checks.layer_norm.forward_misconceptions import MISCONCEPTIONS
from block_course.checks.layer_norm.tokens import only_the_token_at, token_at
from block_course.checks.properties import Explain, paired, values
from block_course.checks.ranks import any_rank
from block_course.checks.wording import entry, number, quantity, two_numbers, vector
from block_course.exercise import Array, Case, Exercise, Hints


def reference(x: Array, gamma: Array, beta: Array, eps: float = DEFAULT_EPS) -> Array:
    """Layer norm in float64: population variance, eps inside the root."""
    x, gamma, beta = (each.astype(np.float64) for each in (x, gamma, beta))
    deviation = x - x.mean(axis=-1, keepdims=True)
    variance = np.square(deviation).mean(axis=-1, keepdims=True)
    return np.asarray(gamma * deviation / np.sqrt(variance + eps) + beta)


def _array(case: Case, name: str) -> Array:
    return np.asarray(case.arguments[name])


def _explain_statistics(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str | None:
    """The mean and variance of the learner's output, unless they are right and the entries are not."""
    mine, right = token_at(got, index), token_at(expected, index)
    means, variances = (
        (number(mine.mean()), number(right.mean())),
        (number(mine.var()), number(right.var())),
    )
    if means[0] == means[1] and variances[0] == variances[1]:
        return None
    return (
        f"for the token {vector(token_at(_array(case, 'x'), index))} your output has mean {means[0]} and "
        f"variance {variances[0]}; they should be {means[1]} and {variances[1]}"
    )


def _explain_eps(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str:
    variance = token_at(_array(case, "x"), index).var()
    eps = f"eps {quantity(float(case.arguments['eps']))}" if "eps" in case.arguments else "eps left at 1e-5"  # type: ignore[arg-type]
    is_now, should_be = two_numbers(got[index], expected[index])
    return (
        f"a token with variance {quantity(variance)}, and {eps}: entry {entry(index)} is {is_now} and should "
        f"be {should_be}"
    )


def _explain_own(sentence: str) -> Explain:
    """A sentence with {is_now}, what the learner's output is, and {should_be}, what it implies elsewhere."""

    def explain(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str:
        is_now, should_be = two_numbers(got[index], expected[index])
        return sentence.format(entry=entry(index), is_now=is_now, should_be=should_be)

    return explain


def _scaled_and_shifted(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    return y * _array(after, "gamma") + _array(after, "beta")


def _unchanged(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    return y


def _unchanged_elsewhere(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    touched = np.any(_array(before, "x") != _array(after, "x"), axis=-1, keepdims=True)
    return np.where(touched, y_after, y)


_AFFINE_HINTS: Hints = (
    "Set `gamma` to 1 and `beta` to 0: is the rest right? Then only the last step is missing.",
    "Each feature has its own entry of `gamma` and of `beta`. The normalized token is scaled first and "
    "shifted last, and the mean is subtracted before either.",
    "Multiply `gamma` with the whole normalized token, brackets around the difference, then add `beta`.",
)
_EPS_HINTS: Hints = (
    "Where does `eps` stand in the formula, and does your function use its parameter or a number?",
    "`eps` is added to the variance, and the root is taken of the sum. A call may leave it out, and then it "
    "is 1e-5; or give another.",
    "Give the parameter its default in the first line, and divide by the root of the variance plus `eps`.",
)

EXERCISE = Exercise(
    id="layer_norm.forward",
    answer="layer_norm",
    title="Layer norm",
    level="core",
    minutes=20,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values(
            "normalized",
            "each token comes out with mean 0 and variance 1 (up to eps)",
            1.5,
            on=(EXAMPLE, BATCH, BATCH_32),
            slack=2.0 * DEFAULT_EPS,  # where eps stands moves these tokens, of spread 1 and more, by less
            explain=_explain_statistics,
        ),
        paired(
            "affine",
            "gamma scales and beta shifts the normalized token",
            1.25,
            pairs=((BATCH, AFFINE), (BATCH_32, AFFINE_32)),
            alive=(BATCH, REPLACED),
            expect=_scaled_and_shifted,
            explain=_explain_own(
                "entry {entry} is {is_now}; gamma · (your output without them) + beta is {should_be}"
            ),
            hints=_AFFINE_HINTS,
        ),
        values(
            "eps",
            "eps stands inside the root: 1e-5, unless the call gives another",
            1.0,
            on=(NEAR_EPS, GIVEN_EPS),
            explain=_explain_eps,
            requires=("normalized",),
            hints=_EPS_HINTS,
        ),
        paired(
            "shift",
            "adding one number to all features changes nothing",
            0.5,
            pairs=((BATCH, SHIFTED),),
            alive=(BATCH, REPLACED),
            expect=_unchanged,
            explain=_explain_own("entry {entry} was {should_be} before the shift and is {is_now} after it"),
        ),
        paired(
            "tokens",
            "no token sees another",
            0.25,
            pairs=((BATCH, REPLACED),),
            alive=(BATCH, REPLACED),
            expect=_unchanged_elsewhere,
            explain=_explain_own(
                "another token was replaced, and entry {entry} went from {should_be} to {is_now}"
            ),
            requires=("shift",),
        ),
        any_rank(0.5, batch=BATCH, parts={SEQUENCE: (0,), ONE_TOKEN: (0, 0)}, requires=("shift",)),
        values(
            "constant",
            "a constant token becomes beta",
            0.25,
            on=(CONSTANT,),
            adjust=only_the_token_at(CONSTANT_AT),
            requires=("shift",),
        ),
        paired(
            "huge mean",
            "a mean of 10,000 does no harm in float32",
            0.25,
            pairs=((CENTERED, HUGE),),
            alive=(BATCH, REPLACED),
            expect=_unchanged,
            explain=_explain_own("entry {entry} was {should_be} without the 10,000 and is {is_now} with it"),
            requires=("shift",),
        ),
        dtype_kept(0.25, of="x", requires=("normalized",)),
        inputs_unchanged(0.25, requires=("normalized",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which axis holds the features of one token, and how many numbers does each statistic have for one "
        "token?",
        "Each token is shifted by its own mean and divided by √(variance + eps), with the population "
        "variance over its D features. Then gamma multiplies and beta is added, one entry of each per "
        "feature.",
        "Mean of `x` over axis −1 with `keepdims=True`; deviations; mean of their squares in the same way; "
        "divide the deviations by the root of that mean plus `eps`; multiply by `gamma`, add `beta`.",
    ),
)
