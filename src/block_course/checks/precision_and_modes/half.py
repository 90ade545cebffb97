"""`precision_and_modes.half`: RMSNorm of tokens in any format, computed wide and returned as it came."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.layer_norm.tokens import tokens
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints

BATCH_64, BATCH_32, ORDINARY = "a batch in float64", "a batch in float32", "ordinary tokens in float16"
LARGE, SMALL, ZERO = "features near 3,000 in float16", "features near 0.0001 in float16", "a token of zeros"
EPS = "an eps that counts"
_ROOM = 4.0


def reference(x: Array, gamma: Array, eps: float) -> Array:
    """Compute γ · x / √(mean(x²) + eps) in float64."""
    x, gamma = x.astype(np.float64), gamma.astype(np.float64)
    mean_square = np.square(x).mean(axis=-1, keepdims=True)
    return np.asarray(gamma * x / np.sqrt(mean_square + eps))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """In three formats; then float16 tokens whose squares are too large or too small for it, and zeros."""
    shape = (2, int(rng.integers(3, 5)), int(rng.integers(6, 10)))
    gamma = rng.uniform(0.6, 1.8, shape[-1]) * rng.choice([-1.0, 1.0], shape[-1])

    def drawn(size: float, dtype: str) -> Array:
        return (size * tokens(rng, shape, means=(0.3, 0.6), spreads=(0.8, 1.2))).astype(dtype)

    zeros = drawn(1.0, "f2")
    zeros[1, 0] = 0.0
    return [
        _case(BATCH_64, drawn(1.0, "f8"), gamma, 1e-5, extreme=True),
        _case(BATCH_32, drawn(2.0, "f4"), gamma, 1e-5),
        _case(ORDINARY, drawn(1.0, "f2"), gamma, 1e-3),
        _case(EPS, drawn(0.5, "f4"), gamma, float(rng.uniform(0.2, 0.4))),
        _case(LARGE, drawn(3000.0, "f2"), gamma, 1e-5, extreme=True),
        _case(SMALL, drawn(1e-4, "f2"), gamma, 1e-12, extreme=True),
        _case(ZERO, zeros, gamma, 1e-12, extreme=True),
    ]


def _case(name: str, x: Array, gamma: Array, eps: float, *, extreme: bool = False) -> Case:
    arrays = {"x": x, "gamma": gamma.astype(x.dtype)}
    return Case(name=name, arguments={**arrays, "eps": eps}, condition=_ROOM, extreme=extreme)


Divisor = Callable[[Array, float], Array]


def _over(divisor: Divisor, take: Callable[[Array], Array] = lambda x: x) -> Callable[..., Array]:
    """Gamma times x over a divisor, in float64."""

    def answer(x: Array, gamma: Array, eps: float) -> Array:
        x = take(x.astype(np.float64))
        return np.asarray(gamma.astype(np.float64) * x / divisor(x, eps))

    return answer


def _mean_square(x: Array) -> Array:
    return np.asarray(np.square(x).mean(axis=-1, keepdims=True))


def _root(x: Array, eps: float) -> Array:
    return np.asarray(np.sqrt(_mean_square(x) + eps))


def _in_its_own_format(x: Array, gamma: Array, eps: float) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(gamma * x / np.sqrt(_mean_square(x) + x.dtype.type(eps)))


def _squared_too_early(x: Array, gamma: Array, eps: float) -> Array:
    with np.errstate(all="ignore"):
        wide = np.square(x).astype(np.float64).mean(axis=-1, keepdims=True)
        return np.asarray(gamma * x.astype(np.float64) / np.sqrt(wide + eps))


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence)
    for name, answer, sentence in (
        (
            "mean subtracted",
            _over(_root, lambda x: x - x.mean(axis=-1, keepdims=True)),
            "You subtract the mean, which is layer norm. RMSNorm divides by the root of the mean square and "
            "subtracts nothing.",
        ),
        (
            "sum in place of the mean",
            _over(lambda x, eps: np.sqrt(np.square(x).sum(axis=-1, keepdims=True) + eps)),
            "You add up the squares. Divide by the root of their mean.",
        ),
        (
            "no root",
            _over(lambda x, eps: _mean_square(x) + eps),
            "You divide by the mean square. Divide by its root.",
        ),
        (
            "eps outside the root",
            _over(lambda x, eps: np.sqrt(_mean_square(x)) + eps),
            "eps is added behind the root. It belongs to the mean square, inside.",
        ),
        (
            "over the positions",
            _over(lambda x, eps: np.sqrt(np.square(x).mean(axis=-2, keepdims=True) + eps)),
            "You take the mean square over the positions. Each token has its own, over its features.",
        ),
        (
            "gamma left out",
            lambda x, gamma, eps: reference(x, np.ones_like(gamma), eps),
            "gamma is missing: each feature is multiplied by its own entry at the end.",
        ),
        (
            "in its own format",
            _in_its_own_format,
            "In float16 the square of 3,000 is infinite, the square of 0.0001 is 0, and so is an eps of "
            "1e-12. Bring a float16 x to float32 first, and the result back at the end.",
        ),
        (
            "float64 made float32",
            lambda x, gamma, eps: reference(x.astype(np.float32), gamma.astype(np.float32), eps),
            "x becomes float32 even where it was float64, and nine of its sixteen digits are gone. Widen "
            "what is narrower than you need, and leave the rest.",
        ),
        (
            "squared before it was widened",
            _squared_too_early,
            "You widen the squares, when they are lost already: in float16 that of 3,000 is infinite and "
            "that of 0.0001 is 0. Widen x.",
        ),
    )
)

_EXTREME_HINTS: Hints = (
    "Print the squares of a float16 tensor that holds 3,000 and 0.0001. What do you see?",
    "The largest float16 is 65,504 and the smallest above zero is 0.00000006. A square of 9,000,000 becomes "
    "infinite, one of 0.00000001 becomes 0.",
    "Make a float16 x float32, or any x float64, before you square it, and give the result the dtype of x in "
    "the last line.",
)
_WIDE_HINTS: Hints = (
    "What becomes of a float64 x in the first line of your function?",
    "float32 has seven digits and float64 sixteen. What is cut off in the first line doesn't come back in "
    "the last.",
    "Compute in float64 whatever x has, or widen x only where it is float16.",
)
_EPS_HINTS: Hints = (
    "Where does eps stand in the formula?",
    "It is added to the mean square, and the root is taken of the sum.",
    "Divide by the root of the mean square plus eps, with the eps that is given.",
)

EXERCISE = Exercise(
    id="precision_and_modes.half",
    answer="rms_norm",
    title="A norm that survives float16",
    level="core",
    minutes=12,
    framework="torch",
    reference=reference,
    cases=cases,
    properties=(
        values("values", "γ · x / √(mean square + eps)", 0.75, on=(BATCH_32, ORDINARY)),
        values("eps", "eps inside the root", 0.5, on=(EPS,), hints=_EPS_HINTS),
        values(
            "double",
            "float64 keeps its digits",
            0.25,
            on=(BATCH_64,),
            requires=("values",),
            hints=_WIDE_HINTS,
        ),
        values("large", "float16, and squares too large for it", 0.75, on=(LARGE,), hints=_EXTREME_HINTS),
        values("small", "float16, and squares too small for it", 0.75, on=(SMALL,), hints=_EXTREME_HINTS),
        values(
            "zero", "a token of zeros stays zero", 0.5, on=(ZERO,), requires=("values",), hints=_EXTREME_HINTS
        ),
        dtype_kept(0.25, of="x", requires=("values",)),
        inputs_unchanged(0.25, requires=("values",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which axis holds the features, and which number does each token need?",
        "Each token is divided by the root of the mean of its squared features, plus eps inside the root.",
        "Take the mean of the squares over the last axis with `keepdim=True`, add eps, take the root, "
        "divide, and multiply by gamma.",
    ),
    withheld=("transformer_block", "torch.nn.functional.rms_norm", "torch.rms_norm"),
)
