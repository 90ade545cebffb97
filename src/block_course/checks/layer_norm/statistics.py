"""`layer_norm.statistics`: the mean and the variance of each token."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.layer_norm.tokens import (
    EXAMPLE,
    HUGE_MEAN,
    condition,
    first_token,
    sizes,
    token_at,
    tokens,
)
from block_course.checks.properties import Explain, inputs_unchanged, shapes, values
from block_course.checks.wording import number, two_numbers, vector
from block_course.exercise import Array, Case, Exercise, Misconception, Outputs

REGULAR = ("the example", "one token", "a sequence", "a batch", "a batch in float32")
CONSTANT, HUGE = "a constant token", "a mean of 10,000 in float32"


def reference(x: Array) -> Outputs:
    """Mean and population variance over the last axis, in float64."""
    x = x.astype(np.float64)
    mean = x.mean(axis=-1, keepdims=True)
    return mean, np.square(x - mean).mean(axis=-1, keepdims=True)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Every rank and both dtypes; then a token without spread, and one whose mean dwarfs its spread."""
    B, T, D = sizes(rng)
    regular = (
        EXAMPLE,
        tokens(rng, (D,)),
        tokens(rng, (T, D)),
        tokens(rng, (B, T, D)),
        tokens(rng, (B, T, D), np.float32),
    )
    constant = tokens(rng, (T, D), np.float32)
    constant[1] = rng.integers(8, 16) / 4.0
    huge = (tokens(rng, (T, D), means=(0.0, 0.0)) + HUGE_MEAN).astype(np.float32)
    return [
        *(_case(name, x) for name, x in zip(REGULAR, regular, strict=True)),
        _case(CONSTANT, constant, extreme=True),
        _case(HUGE, huge, extreme=True),
    ]


def _case(name: str, x: Array, *, extreme: bool = False) -> Case:
    return Case(name=name, arguments={"x": x}, condition=condition(x), extreme=extreme)


def _x(case: Case) -> Array:
    return np.asarray(case.arguments["x"])


def _with_last_axis(got: Array, expected: Array) -> Array:
    """A dropped last axis costs the points for the shape alone."""
    return got[..., None] if got.shape == expected.shape[:-1] else got


def _explain(what: str) -> Explain:
    def explain(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str:
        is_now, should_be = two_numbers(got[index], expected[index])
        return f"the token {vector(token_at(_x(case), index))} has {what} {should_be}; you give {is_now}"

    return explain


def _in_numbers(sentence: Callable[[Array, Array, Array], str]) -> Callable[[Case, Outputs], str]:
    """A message about the first token: `sentence` gets it, and the mean and variance given for it."""

    def message(case: Case, outputs: Outputs) -> str:
        mean, variance = (each.flat[0] for each in outputs)
        return sentence(first_token(_x(case)), mean, variance)

    return message


def _wrong(name: str, answer: Callable[[Array], Outputs], sentence: Callable[..., str]) -> Misconception:
    return Misconception(name=name, answer=answer, message=_in_numbers(sentence))


def _over(axis: int) -> Callable[[Array], Outputs]:
    return lambda x: (x.mean(axis=axis, keepdims=True), x.var(axis=axis, keepdims=True))


def _other_axis(where: str) -> Callable[[Array, Array, Array], str]:
    return lambda token, mean, variance: (
        f"The mean of the token {vector(token)} is {number(token.mean())}; you give {number(mean)}, the mean "
        f"over {where}. The statistics of a token run over its own features, the last axis."
    )


MISCONCEPTIONS = (
    _wrong(
        "sample variance",
        lambda x: (x.mean(-1, keepdims=True), x.var(-1, ddof=1, keepdims=True)),
        lambda token, mean, variance: (
            f"For the token {vector(token)} you give the variance {number(variance)}: the squared deviations "
            f"divided by D − 1 = {len(token) - 1}. Layer norm divides by D = {len(token)}, which gives "
            f"{number(token.var())}. It describes these D features, it does not estimate from a sample."
        ),
    ),
    _wrong(
        "standard deviation for variance",
        lambda x: (x.mean(-1, keepdims=True), x.std(-1, keepdims=True)),
        lambda token, mean, variance: (
            f"For the token {vector(token)} you give {number(variance)}, its standard deviation. The "
            f"variance is the square of that, {number(token.var())}: the mean of the squared deviations, "
            "without a root."
        ),
    ),
    _wrong("statistics over the tokens", _over(-2), _other_axis("axis −2, the tokens of a sequence")),
    _wrong("statistics over axis 1", _over(1), _other_axis("axis 1, which in (B, T, D) holds the tokens")),
    _wrong("statistics over the first axis", _over(0), _other_axis("axis 0")),
    _wrong(
        "statistics over the whole array",
        lambda x: (x.mean(), x.var()),
        lambda token, mean, variance: (
            f"You give one mean, {number(mean)}, for all tokens together. Each token has its own: the first "
            f"one, {vector(token)}, has {number(token.mean())}. Say which axis: the last."
        ),
    ),
    _wrong(
        "last axis dropped",
        lambda x: (x.mean(-1), x.var(-1)),
        lambda token, mean, variance: (
            "Your numbers are right and their shape has lost the last axis. Keep it with size 1: then "
            "`x - mean` lines each token up with its own mean, where without it NumPy lines up the wrong "
            "axes or refuses."
        ),
    ),
    _wrong(
        "mean not subtracted",
        lambda x: (x.mean(-1, keepdims=True), np.square(x).mean(-1, keepdims=True)),
        lambda token, mean, variance: (
            f"For the token {vector(token)} you give {number(variance)}, the mean of its squares. The "
            f"variance is the mean square of the deviations from the mean {number(token.mean())}: "
            f"{number(token.var())}."
        ),
    ),
    _wrong(
        "variance before mean",
        lambda x: (x.var(-1, keepdims=True), x.mean(-1, keepdims=True)),
        lambda token, mean, variance: (
            f"For the token {vector(token)} you give {number(mean)} first and {number(variance)} second: "
            "these are its variance and its mean. Return the mean first."
        ),
    ),
    _wrong(
        "one-pass variance",
        lambda x: (
            x.mean(-1, keepdims=True),
            np.square(x).mean(-1, keepdims=True) - np.square(x.mean(-1, keepdims=True)),
        ),
        lambda token, mean, variance: (
            f"In float32, for a token near {number(token.mean(), 0)}, you give the variance "
            f"{number(variance)}; it is {number(token.astype(np.float64).var())}. E[x²] − E[x]² subtracts "
            "two numbers near 100,000,000, which float32 holds in steps of 8. Subtract the mean first, then "
            "square."
        ),
    ),
)

EXERCISE = Exercise(
    id="layer_norm.statistics",
    answer="statistics",
    title="Mean and variance of each token",
    level="warm-up",
    minutes=10,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values(
            "mean",
            "the mean of each token",
            0.75,
            on=REGULAR,
            output=0,
            condition=1.0,
            adjust=_with_last_axis,
            explain=_explain("mean"),
        ),
        values(
            "variance",
            "the variance of each token, dividing by D",
            1.0,
            on=REGULAR,
            output=1,
            adjust=_with_last_axis,
            explain=_explain("variance"),
        ),
        shapes("shape", "the last axis is kept, with size 1", 0.5, on=REGULAR, requires=("mean",)),
        values(
            "extremes",
            "a constant token has variance 0, a mean of 10,000 does no harm in float32",
            0.5,
            on=(CONSTANT, HUGE),
            output=1,
            adjust=_with_last_axis,
            explain=_explain("variance"),
            requires=("variance",),
        ),
        inputs_unchanged(0.25, requires=("mean", "variance")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which axis holds the features of one token? Look at the shape of `x` and count from the end.",
        "Both statistics run over the last axis alone, and both keep it with size 1, so that they broadcast "
        "against `x`. The variance is the mean of the squared deviations: their sum divided by D.",
        "Take the mean of `x` over axis −1 with `keepdims=True`; subtract it from `x`, square, and take the "
        "mean over axis −1 again, in the same way.",
    ),
)
