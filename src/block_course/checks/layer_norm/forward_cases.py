"""The cases of `layer_norm.forward`, by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.layer_norm.tokens import HUGE_MEAN, condition, example, sizes, tokens
from block_course.exercise import Array, Case

DEFAULT_EPS = 1e-5

EXAMPLE, BATCH, BATCH_32 = "the example and others", "a batch", "a batch in float32"
SEQUENCE, ONE_TOKEN = "a sequence", "one token"
AFFINE, AFFINE_32 = "the batch with gamma and beta", "the float32 batch with gamma and beta"
SHIFTED, REPLACED = "the batch plus a constant", "the batch with one token replaced"
NEAR_EPS, GIVEN_EPS = "a spread near √eps", "eps given"
CONSTANT, CENTERED, HUGE = "a constant token", "small in float32", "the same with a mean of 10,000"
CONSTANT_AT = 0, 1


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Dtypes and eps; pairs that differ in one thing; parts of a batch; then two for fragile arithmetic.

    Only the parts have another rank than (B, T, D), so that an answer for that alone loses one property.
    """
    B, T, D = sizes(rng)
    batch, batch_32 = tokens(rng, (B, T, D)), tokens(rng, (B, T, D), np.float32)
    replaced = batch.copy()
    replaced[1, T - 2] = tokens(rng, (D,))
    constant = tokens(rng, (B, T, D))
    # quarters: their sum has no rounding error to be magnified by √eps
    constant[CONSTANT_AT] = rng.integers(8, 16) / 4.0
    huge = (tokens(rng, (B, T, D), means=(0.0, 0.0)) + HUGE_MEAN).astype(np.float32)
    near = tokens(rng, (B, T, D), means=(0.002, 0.01), spreads=(0.002, 0.005))
    wide = tokens(rng, (B, T, D), spreads=(0.5, 1.0))
    return [
        _plain(EXAMPLE, example(rng)),
        _plain(BATCH, batch),
        _plain(BATCH_32, batch_32),
        _affine(AFFINE, batch, rng),
        _affine(AFFINE_32, batch_32, rng),
        _plain(SHIFTED, batch + rng.uniform(3.0, 6.0)),
        _plain(REPLACED, replaced),
        _plain(NEAR_EPS, near),
        _plain(GIVEN_EPS, wide, eps=float(rng.uniform(0.2, 0.5))),
        _plain(SEQUENCE, batch[0].copy()),
        _plain(ONE_TOKEN, batch[0, 0].copy()),
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
