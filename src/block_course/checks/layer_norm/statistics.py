"""`layer_norm.statistics`: the mean and the variance of each token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.kept import inputs_unchanged, precision_kept
from block_course.checks.layer_norm.statistics_misconceptions import MISCONCEPTIONS
from block_course.checks.layer_norm.tokens import HUGE_MEAN, condition, example, sizes, token_at, tokens
from block_course.checks.properties import Explain, shapes, values
from block_course.checks.ranks import any_rank
from block_course.checks.wording import two_numbers, vector
from block_course.exercise import Array, Case, Exercise, Hints, Outputs

EXAMPLE, BATCH, BATCH_32 = "the example and others", "a batch", "a batch in float32"
SEQUENCE, ONE_TOKEN = "a sequence", "one token"
CONSTANT, HUGE = "a constant token", "a mean of 10,000 in float32"
BATCHES = (EXAMPLE, BATCH, BATCH_32)


def reference(x: Array) -> Outputs:
    """Mean and population variance over the last axis, in float64."""
    x = x.astype(np.float64)
    mean = x.mean(axis=-1, keepdims=True)
    return mean, np.square(x - mean).mean(axis=-1, keepdims=True)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Batches in both dtypes and parts of one; then a token without spread, and a mean that dwarfs it.

    Only the parts have another rank than (B, T, D), so that an answer for that alone loses one property.
    """
    B, T, D = sizes(rng)
    batch = tokens(rng, (B, T, D))
    constant = tokens(rng, (B, T, D), np.float32)
    constant[0, 1] = rng.integers(8, 16) / 4.0
    huge = (tokens(rng, (B, T, D), means=(0.0, 0.0)) + HUGE_MEAN).astype(np.float32)
    return [
        _case(EXAMPLE, example(rng)),
        _case(BATCH, batch),
        _case(BATCH_32, tokens(rng, (B, T, D), np.float32)),
        _case(SEQUENCE, batch[0].copy()),
        _case(ONE_TOKEN, batch[0, 0].copy()),
        _case(CONSTANT, constant, extreme=True),
        _case(HUGE, huge, extreme=True),
    ]


def _case(name: str, x: Array, *, extreme: bool = False) -> Case:
    return Case(name=name, arguments={"x": x}, condition=condition(x), extreme=extreme)


def _x(case: Case) -> Array:
    return np.asarray(case.arguments["x"])


def _with_last_axis(got: Array, expected: Array) -> Array:
    """A last axis that is dropped, or filled with copies, costs the points for the shape alone."""
    if got.shape == expected.shape[:-1]:
        return got[..., None]
    if got.shape[:-1] == expected.shape[:-1] and np.array_equal(
        got, np.broadcast_to(got[..., :1], got.shape)
    ):
        return got[..., :1]
    return got


def _explain(what: str) -> Explain:
    def explain(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str:
        is_now, should_be = two_numbers(got[index], expected[index])
        return f"the token {vector(token_at(_x(case), index))} has {what} {should_be}; you give {is_now}"

    return explain


_VARIANCE_HINTS: Hints = (
    "What does your function subtract before it squares, and by what does it divide the sum of the squares?",
    "The variance is the mean of the squared deviations from the token's own mean: their sum divided by D, "
    "the number of features of one token.",
    "Subtract the mean, with its axis of size 1, from `x`; square; take the mean over axis −1 with "
    "`keepdims=True`.",
)
_SHAPE_HINTS: Hints = (
    "What shape has a mean over the last axis of a (B, T, D) array, and what shape is asked for?",
    "A reduction drops its axis unless it is told to keep it. With size 1 in its place the statistics "
    "broadcast against `x`.",
    "Give both reductions over axis −1 `keepdims=True`.",
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
    returns=("mean", "variance"),
    properties=(
        values(
            "mean",
            "the mean of each token",
            0.5,
            on=BATCHES,
            output=0,
            condition=1.0,
            adjust=_with_last_axis,
            explain=_explain("mean"),
        ),
        values(
            "variance",
            "the variance of each token, dividing by D",
            1.0,
            on=BATCHES,
            output=1,
            adjust=_with_last_axis,
            explain=_explain("variance"),
            hints=_VARIANCE_HINTS,
        ),
        any_rank(
            0.5,
            batch=BATCH,
            parts={SEQUENCE: (0,), ONE_TOKEN: (0, 0)},
            adjust=_with_last_axis,
            requires=("mean",),
        ),
        shapes(
            "shape",
            "the last axis is kept, with size 1",
            0.25,
            on=BATCHES,
            requires=("mean",),
            hints=_SHAPE_HINTS,
        ),
        values(
            "extremes",
            "a constant token has variance 0, a mean of 10,000 does no harm in float32",
            0.25,
            on=(CONSTANT, HUGE),
            output=1,
            adjust=_with_last_axis,
            explain=_explain("variance"),
            requires=("variance",),
        ),
        precision_kept(0.25, of="x", requires=("mean", "variance")),
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
