"""`layer_norm.forward`: layer norm in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.layer_norm.forward_misconceptions import MISCONCEPTIONS
from block_course.checks.layer_norm.tokens import EXAMPLE, HUGE_MEAN, condition, sizes, token_at, tokens
from block_course.checks.properties import Explain, dtype_kept, inputs_unchanged, paired, values
from block_course.checks.wording import entry, number, quantity, two_numbers, vector
from block_course.exercise import Array, Case, Exercise

DEFAULT_EPS = 1e-5

EXAMPLE_TOKEN, ONE_TOKEN, SEQUENCE = "the example", "one token", "a sequence"
BATCH, BATCH_32 = "a batch", "a batch in float32"
AFFINE, AFFINE_32 = "the batch with gamma and beta", "the float32 batch with gamma and beta"
SHIFTED, REPLACED = "the batch plus a constant", "the batch with one token replaced"
NEAR_EPS, GIVEN_EPS = "a spread near √eps", "eps given"
CONSTANT, CENTERED, HUGE = "a constant token", "small in float32", "the same with a mean of 10,000"


def reference(x: Array, gamma: Array, beta: Array, eps: float = DEFAULT_EPS) -> Array:
    """Layer norm in float64: population variance, eps inside the root."""
    x, gamma, beta = (each.astype(np.float64) for each in (x, gamma, beta))
    deviation = x - x.mean(axis=-1, keepdims=True)
    variance = np.square(deviation).mean(axis=-1, keepdims=True)
    return np.asarray(gamma * deviation / np.sqrt(variance + eps) + beta)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Ranks, dtypes and eps; pairs that differ in one thing; then two that break fragile arithmetic."""
    B, T, D = sizes(rng)
    batch, batch_32 = tokens(rng, (B, T, D)), tokens(rng, (B, T, D), np.float32)
    replaced = batch.copy()
    replaced[1, T - 2] = tokens(rng, (D,))
    constant = tokens(rng, (T, D))
    constant[1] = (
        rng.integers(8, 16) / 4.0
    )  # quarters: their sum has no rounding error to be magnified by √eps
    huge = (tokens(rng, (T, D), means=(0.0, 0.0)) + HUGE_MEAN).astype(np.float32)
    near = tokens(rng, (B, T, D), means=(0.002, 0.01), spreads=(0.002, 0.005))
    wide = tokens(rng, (T, D), spreads=(0.5, 1.0))
    return [
        _plain(EXAMPLE_TOKEN, EXAMPLE),
        _plain(ONE_TOKEN, tokens(rng, (D,))),
        _plain(SEQUENCE, tokens(rng, (T, D))),
        _plain(BATCH, batch),
        _plain(BATCH_32, batch_32),
        _affine(AFFINE, batch, rng),
        _affine(AFFINE_32, batch_32, rng),
        _plain(SHIFTED, batch + rng.uniform(3.0, 6.0)),
        _plain(REPLACED, replaced),
        _plain(NEAR_EPS, near),
        _plain(GIVEN_EPS, wide, eps=float(rng.uniform(0.2, 0.5))),
        _affine(CONSTANT, constant, rng, extreme=True),
        _plain(CENTERED, huge - np.float32(HUGE_MEAN)),
        _plain(HUGE, huge, extreme=True),
    ]


def _plain(name: str, x: Array, *, eps: float | None = None, extreme: bool = False) -> Case:
    """With gamma 1 and beta 0."""
    D = x.shape[-1]
    return _case(name, x, np.ones(D, x.dtype), np.zeros(D, x.dtype), eps=eps, extreme=extreme)


def _affine(name: str, x: Array, rng: np.random.Generator, *, extreme: bool = False) -> Case:
    """With random gamma, of either sign and never near 1, and random beta, never near 0."""
    D = x.shape[-1]
    gamma = rng.uniform(1.5, 2.5, D) * rng.choice([-1.0, 1.0], D)
    beta = rng.uniform(0.5, 1.5, D)
    return _case(name, x, gamma.astype(x.dtype), beta.astype(x.dtype), extreme=extreme)


def _case(
    name: str, x: Array, gamma: Array, beta: Array, *, eps: float | None = None, extreme: bool = False
) -> Case:
    given = {} if eps is None else {"eps": eps}
    return Case(
        name=name,
        arguments={"x": x, "gamma": gamma, "beta": beta, **given},
        condition=condition(x, DEFAULT_EPS if eps is None else eps),
        extreme=extreme,
    )


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
    eps = float(case.arguments.get("eps", DEFAULT_EPS))  # type: ignore[arg-type]
    is_now, should_be = two_numbers(got[index], expected[index])
    return (
        f"a token with variance {quantity(variance)} and eps {quantity(eps)}: entry {entry(index)} is "
        f"{is_now} and should be {should_be}"
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


def _only_the_constant_token(got: Array, expected: Array) -> Array:
    """The other tokens are judged elsewhere."""
    if got.shape != expected.shape:
        return got
    adjusted = expected.copy()
    adjusted[1] = got[1]
    return adjusted


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
            on=(EXAMPLE_TOKEN, ONE_TOKEN, SEQUENCE, BATCH, BATCH_32),
            slack=2.0 * DEFAULT_EPS,  # where eps stands moves these tokens, of spread 1 and more, by less
            explain=_explain_statistics,
        ),
        paired(
            "affine",
            "gamma scales and beta shifts the normalized token",
            1.5,
            pairs=((BATCH, AFFINE), (BATCH_32, AFFINE_32)),
            alive=(BATCH, REPLACED),
            expect=_scaled_and_shifted,
            explain=_explain_own(
                "entry {entry} is {is_now}; gamma · (your output without them) + beta is {should_be}"
            ),
        ),
        values(
            "eps",
            "eps stands inside the root, and is the one given",
            1.0,
            on=(NEAR_EPS, GIVEN_EPS),
            explain=_explain_eps,
            requires=("normalized",),
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
            0.5,
            pairs=((BATCH, REPLACED),),
            alive=(BATCH, REPLACED),
            expect=_unchanged_elsewhere,
            explain=_explain_own(
                "another token was replaced, and entry {entry} went from {should_be} to {is_now}"
            ),
            requires=("shift",),
        ),
        values(
            "constant",
            "a constant token becomes beta",
            0.25,
            on=(CONSTANT,),
            adjust=_only_the_constant_token,
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
