"""`precision_and_modes.variance`: a variance that survives a huge mean, and squares that overflow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import DTypeLike

from block_course.checks.kept import inputs_unchanged, precision_kept
from block_course.checks.layer_norm.tokens import tokens
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints

BATCH, BATCH_32 = "a batch", "a batch in float32"
FAR, FARTHER = "a mean of 10,000 in float32", "a mean of 4,000,000 in float32"
DOUBLE, HALF = "a mean of 10,000,000 in float64", "a spread of 400 in float16"
_ROOM = 8.0


def reference(x: Array) -> Array:
    """Mean of the squared deviations from each token's mean, in float64."""
    x = x.astype(np.float64)
    deviation = x - x.mean(axis=-1, keepdims=True)
    return np.asarray(np.square(deviation).mean(axis=-1))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Batches in two precisions; then tokens far from zero, and one whose squares pass the largest float16.

    Sums in float32 of a mean of 10,000 are good enough for two passes, and for the shortcut they are not; of
    4,000,000 the rounding of the mean itself shows.
    """
    B, T, D = 2, int(rng.integers(5, 9)), int(rng.integers(20, 30))

    def shifted(mean: float, dtype: str) -> Array:
        return (tokens(rng, (B, T, D), means=(0.0, 0.0)) + mean).astype(dtype)

    return [
        _case(BATCH, tokens(rng, (B, T, D))),
        _case(BATCH_32, tokens(rng, (B, T, D), np.float32)),
        _case(FAR, shifted(1e4, "f4"), extreme=True),
        _case(FARTHER, shifted(4e6, "f4"), extreme=True),
        _case(DOUBLE, shifted(1e7, "f8"), extreme=True),
        _case(
            HALF,
            tokens(rng, (B, T, D), np.float16, means=(10.0, 50.0), spreads=(380.0, 420.0)),
            extreme=True,
        ),
    ]


def _case(name: str, x: Array, *, extreme: bool = False) -> Case:
    """The tolerance leaves room for rounding of deviations, and none for a mean that is off by a step."""
    return Case(name=name, arguments={"x": x}, condition=_ROOM, extreme=extreme)


def _second_moment(x: Array) -> Array:
    return np.asarray(np.square(x).mean(axis=-1))


def _shortcut(x: Array) -> Array:
    with np.errstate(all="ignore"):
        return _second_moment(x) - np.square(x.mean(axis=-1))  # type: ignore[no-any-return]


def _two_passes(x: Array) -> Array:
    with np.errstate(all="ignore"):
        return _second_moment(x - x.mean(axis=-1, keepdims=True))


def _at_least(dtype: DTypeLike, answer: Callable[[Array], Array]) -> object:
    return lambda x: answer(x.astype(np.promote_types(x.dtype, dtype)))


def _narrow_half(x: Array) -> Array:
    """Right in float32 and float64, and squares in float16."""
    return _two_passes(x) if x.dtype == np.float16 else reference(x)


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence)  # type: ignore[arg-type]
    for name, answer, sentence in (
        (
            "sample variance",
            lambda x: x.var(axis=-1, ddof=1),
            "You divide by D − 1. These D features are all there is to describe: divide by D.",
        ),
        (
            "standard deviation for variance",
            lambda x: x.std(axis=-1),
            "That is the root of the variance. The variance is the mean of the squared deviations.",
        ),
        (
            "mean not subtracted",
            _second_moment,
            "You take the mean of the squares of x. The variance is that of the deviations from the mean.",
        ),
        (
            "over the positions",
            lambda x: x.var(axis=-2),
            "You take it over the positions. Each token has a variance of its own features, the last axis.",
        ),
        (
            "shortcut",
            _shortcut,
            "E[x²] − E[x]² subtracts two numbers near the square of the mean, which in x's own format are "
            "too coarse to keep what is left. Subtract the mean first, then square.",
        ),
        (
            "shortcut in float32",
            _at_least(np.float32, _shortcut),
            "E[x²] − E[x]² subtracts two numbers near the square of the mean. At a mean of 10,000 they are "
            "near 100,000,000, where float32 steps by 8. Subtract the mean first, then square.",
        ),
        (
            "too coarse for a mean of millions",
            _at_least(np.float64, _shortcut),
            "Two ways lead here. E[x²] − E[x]² in float64 moves the trouble to larger means: the square of "
            "4,000,000 is near 16 trillion, where float64 steps by 0.002. And what is made float32, a "
            "float64 x too, has a mean that is off by a part of a step. In float64, subtract the mean, then "
            "square.",
        ),
        (
            "two passes in x's own format",
            _two_passes,
            "Two passes are right, and their format is too narrow twice. In float16 the squares pass 65,504; "
            "in float32 a mean near 4,000,000 is off by up to a step, and its square is added to the "
            "variance. Compute in a wider format, or subtract what is left of the mean a second time.",
        ),
        (
            "mean off by a step",
            _at_least(np.float32, _two_passes),
            "In float32 a mean near 4,000,000 is off by a part of a step, 0.25, and the square of that is "
            "added to the variance. The deviations have a small mean left: subtract that too, or compute in "
            "float64.",
        ),
        (
            "squares in float16",
            _narrow_half,
            "The largest float16 is 65,504, and the square of 400 is 160,000. Widen float16 "
            "before you square, and leave the variance wide.",
        ),
    )
)

_FAR_HINTS: Hints = (
    "Which two large numbers does your function subtract, and in which steps does float32 hold them?",
    "The square of 10,000 is 100,000,000, where float32 steps by 8. Deviations from the mean are small, and "
    "so are their squares.",
    "Subtract the mean with its axis kept, then square, then take the mean.",
)
_FARTHER_HINTS: Hints = (
    "How exact can the mean be, in the format that you compute it in?",
    "Near 4,000,000 float32 steps by 0.25: the mean is off by some of that, and the square of the error is "
    "added to the variance. The deviations themselves are exact.",
    "Take float64 for what is computed; or take the mean of the deviations and subtract it from them before "
    "you square.",
)
_HALF_HINTS: Hints = (
    "What is the largest number that float16 has, and what is the square of 400?",
    "65,504 is the largest, and 160,000 is more: squares in float16 are infinite, and so is the variance.",
    "Bring x to float32 or wider in the first line, and don't narrow the result.",
)

EXERCISE = Exercise(
    id="precision_and_modes.variance",
    answer="variance",
    title="A variance that survives",
    level="core",
    minutes=12,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values("variance", "the variance of each token", 1.0, on=(BATCH, BATCH_32)),
        values(
            "far", "a mean of 10,000 does no harm", 1.0, on=(FAR,), requires=("variance",), hints=_FAR_HINTS
        ),
        values(
            "farther",
            "nor does one of 4,000,000, or 10,000,000 in float64",
            1.0,
            on=(FARTHER, DOUBLE),
            requires=("variance",),
            hints=_FARTHER_HINTS,
        ),
        values(
            "half",
            "float16 with squares that it doesn't have",
            0.5,
            on=(HALF,),
            requires=("variance",),
            hints=_HALF_HINTS,
        ),
        precision_kept(0.25, of="x", requires=("variance",)),
        inputs_unchanged(0.25, requires=("variance",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which axis holds the features of a token, and which axes has the result?",
        "The variance is the mean, over the last axis, of the squared deviations from the mean.",
        "Subtract the mean over axis −1, with `keepdims=True`; square; take the mean over axis −1.",
    ),
    withheld=("transformer_block",),
)
