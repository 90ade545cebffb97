"""`variants.rms_norm`: a norm that takes no mean away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.layer_norm.tokens import example, only_the_token_at, sizes, token_at, tokens
from block_course.checks.properties import paired, values
from block_course.checks.ranks import any_rank
from block_course.checks.variants.rms_norm_misconceptions import DEFAULT_EPS, MISCONCEPTIONS
from block_course.checks.wording import number, two_numbers, vector
from block_course.exercise import Argument, Array, Case, Exercise, Hints

EXAMPLE, BATCH, BATCH_32 = "the example and others", "a batch", "a batch in float32"
SCALED, SCALED_32 = "the batch with gamma", "the float32 batch with gamma"
NEAR_EPS, GIVEN_EPS = "tokens of size near √eps", "eps given"
SEQUENCE, ONE_TOKEN, ZERO = "a sequence", "one token", "a token of zeros"
ZERO_AT = 0, 1


def reference(x: Array, gamma: Array, eps: float = DEFAULT_EPS) -> Array:
    """Gamma times the token over the root of its mean square and eps, in float64."""
    x, gamma = x.astype(np.float64), gamma.astype(np.float64)
    return np.asarray(gamma * x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + eps))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Dtypes, gamma and eps; a token that has no size; parts of a batch, which diagnosis passes over."""
    B, T, D = sizes(rng)
    batch, batch_32 = tokens(rng, (B, T, D)), tokens(rng, (B, T, D), np.float32)
    small = tokens(rng, (B, T, D), means=(0.002, 0.005), spreads=(0.002, 0.005))
    wide = tokens(rng, (B, T, D), means=(0.2, 0.5), spreads=(0.5, 1.0))
    zero = tokens(rng, (B, T, D))
    zero[ZERO_AT] = 0.0
    gamma = rng.uniform(1.5, 2.5, D) * rng.choice([-1.0, 1.0], D)
    return [
        _case(EXAMPLE, example(rng)),
        _case(BATCH, batch),
        _case(BATCH_32, batch_32),
        _case(SCALED, batch, gamma),
        _case(SCALED_32, batch_32, gamma),
        _case(NEAR_EPS, small),
        _case(GIVEN_EPS, wide, eps=float(rng.uniform(0.2, 0.5))),
        _case(SEQUENCE, batch[0].copy(), extreme=True),
        _case(ONE_TOKEN, batch[0, 0].copy(), extreme=True),
        _case(ZERO, zero, gamma, extreme=True),
    ]


def _case(
    name: str, x: Array, gamma: Array | None = None, *, eps: float | None = None, extreme: bool = False
) -> Case:
    given = {} if eps is None else {"eps": eps}
    scale = np.ones(x.shape[-1]) if gamma is None else gamma
    arguments: dict[str, Argument] = {"x": x, "gamma": scale.astype(x.dtype), **given}
    return Case(name=name, arguments=arguments, condition=4.0, extreme=extreme)


def _given(case: Case, name: str) -> Array:
    return np.asarray(case.arguments[name])


def _explain_size(case: Case, index: tuple[int, ...], got: Array, right: Array) -> str | None:
    mine, should = (number(np.square(token_at(each, index)).mean()) for each in (got, right))
    if mine == should:
        return None
    token = vector(token_at(_given(case, "x"), index))
    return f"the token {token} leaves with a mean square of {mine}; it should be {should}"


def _explain_gamma(case: Case, index: tuple[int, ...], got: Array, right: Array) -> str:
    is_now, should_be = two_numbers(got[index], right[index])
    return f"entry {list(index)} is {is_now}; gamma · (your output without it) is {should_be}"


def _scaled(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    return y * _given(after, "gamma")


_EPS_HINTS: Hints = (
    "Where does `eps` stand in the formula, and does your function use its parameter or a number?",
    "`eps` is added to the mean square, and the root is taken of the sum. A call may leave it out, and then "
    "it is 1e-5; or give another.",
    "Give the parameter its default in the first line, and divide by the root of the mean square plus `eps`.",
)

EXERCISE = Exercise(
    id="variants.rms_norm",
    answer="rms_norm",
    title="RMSNorm",
    level="core",
    minutes=10,
    framework="numpy",
    withheld=("transformer_block",),
    reference=reference,
    cases=cases,
    properties=(
        values(
            "normalized",
            "each token comes out with mean square 1 (up to eps)",
            1.5,
            on=(EXAMPLE, BATCH, BATCH_32),
            slack=2.0 * DEFAULT_EPS,  # where eps stands moves tokens of size 1 and more by less
            explain=_explain_size,
        ),
        paired(
            "gamma",
            "gamma scales the normalized token",
            0.5,
            pairs=((BATCH, SCALED), (BATCH_32, SCALED_32)),
            alive=(BATCH, BATCH_32),
            expect=_scaled,
            explain=_explain_gamma,
        ),
        values(
            "eps",
            "eps stands inside the root: 1e-5, unless the call gives another",
            0.75,
            on=(NEAR_EPS, GIVEN_EPS),
            explain=_explain_size,
            requires=("normalized",),
            hints=_EPS_HINTS,
        ),
        any_rank(0.5, batch=BATCH, parts={SEQUENCE: (0,), ONE_TOKEN: (0, 0)}, requires=("gamma",)),
        values(
            "zero",
            "a token of zeros stays zeros",
            0.25,
            on=(ZERO,),
            adjust=only_the_token_at(ZERO_AT),
            requires=("normalized",),
        ),
        dtype_kept(0.25, of="x", requires=("normalized",)),
        inputs_unchanged(0.25, requires=("normalized",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Take layer norm: which of its steps is left out, and what stands under the root then?",
        "No mean is taken away. The token is divided by the root of the mean of its squares plus eps, then "
        "multiplied by gamma.",
        "Square `x`, mean over axis −1 with `keepdims=True`, add `eps`, root; divide `x` by it; multiply by "
        "`gamma`.",
    ),
)
