"""`layer_norm.backward`: the gradients of layer norm by its input, its scale and its shift."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.layer_norm.backward_reference import backward
from block_course.checks.layer_norm.tokens import condition, sizes, tokens
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints, Misconception, Outputs

PLAIN, PLAIN_32 = "gamma 1", "gamma 1, in float32"
SCALED, SCALED_32, EPS = "a gamma of its own", "a gamma of its own, in float32", "eps given"
SEQUENCE, TOKEN = "a sequence", "one token"
_REGULAR = (PLAIN, PLAIN_32, SCALED, SCALED_32)
RETURNS = ("dx", "dgamma", "dbeta")


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """With gamma 1 and with another; eps that counts; a sequence and a single token."""
    B, T, D = sizes(rng)
    x, dy = tokens(rng, (B, T, D)), rng.normal(size=(B, T, D)) + 0.5
    quiet = tokens(rng, (B, T, D), means=(0.2, 0.5), spreads=(0.4, 0.8))
    gamma, ones = rng.uniform(1.5, 2.5, D) * rng.choice([-1.0, 1.0], D), np.ones(D)
    return [
        _case(PLAIN, dy, x, ones),
        _case(PLAIN_32, dy, x, ones, "f4"),
        _case(SCALED, dy, x, gamma),
        _case(SCALED_32, dy, x, gamma, "f4"),
        _case(EPS, dy, quiet, ones, eps=float(rng.uniform(0.1, 0.3))),
        _case(SEQUENCE, dy[0], x[0], gamma),
        _case(TOKEN, dy[0, 0], x[0, 0], gamma),
    ]


def _case(
    name: str, dy: Array, x: Array, gamma: Array, dtype: str = "f8", *, eps: float | None = None
) -> Case:
    given = {"dy": dy.astype(dtype), "x": x.astype(dtype), "gamma": gamma.astype(dtype)}
    return Case(
        name=name,
        arguments={**given, **({} if eps is None else {"eps": eps})},
        condition=4.0 * condition(x, 1e-5 if eps is None else eps),
    )


Formula = Callable[[Array, Array, Array, Array, Array], Array]


def _mean(values: Array) -> Array:
    return np.asarray(values.mean(axis=-1, keepdims=True))


def _dx(formula: Formula) -> Callable[..., Outputs]:
    """With another dx, from dy, n, s, gamma and x."""

    def answer(dy: Array, x: Array, gamma: Array, eps: float = 1e-5) -> Outputs:
        deviation = x - _mean(x)
        s = np.sqrt(_mean(np.square(deviation)) + eps)
        return formula(dy, deviation / s, s, gamma, x), *backward(dy, x, gamma, eps)[1:]

    return answer


def _dgamma(of: Callable[[Array, Array], Array]) -> Callable[..., Outputs]:
    """With another dgamma, from dy times n, and dy times x."""

    def answer(dy: Array, x: Array, gamma: Array, eps: float = 1e-5) -> Outputs:
        dx, _, dbeta = backward(dy, x, gamma, eps)
        n = (x - _mean(x)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps)
        return dx, of(dy * n, dy * x), dbeta

    return answer


def _summed(values: Array) -> Array:
    return np.asarray(values.reshape(-1, values.shape[-1]).sum(axis=0))


def _unsummed(dy: Array, x: Array, gamma: Array, eps: float = 1e-5) -> Outputs:
    n = (x - _mean(x)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    return backward(dy, x, gamma, eps)[0], dy * n, dy.copy()


def _wrong(name: str, answer: Callable[..., Outputs], sentence: str) -> Misconception:
    return misconception(name, answer, backward, sentence, returns=RETURNS)


MISCONCEPTIONS = (
    _wrong(
        "mean and spread held fixed",
        _dx(lambda dy, n, s, gamma, x: gamma * dy / s),
        "That is γ·dy/s, as if mean and spread were constants. Both depend on every feature of the token.",
    ),
    _wrong(
        "spread held fixed",
        _dx(lambda dy, n, s, gamma, x: (gamma * dy - _mean(gamma * dy)) / s),
        "The mean's share is there, and the spread's is not. Moving a feature moves s too, by n/D: that "
        "takes n times the mean of g·n away.",
    ),
    _wrong(
        "mean held fixed",
        _dx(lambda dy, n, s, gamma, x: (gamma * dy - n * _mean(gamma * dy * n)) / s),
        "The spread's share is there, and the mean's is not. Moving a feature moves the mean by 1/D: that "
        "takes the mean of g away.",
    ),
    _wrong(
        "gamma left out",
        _dx(lambda dy, n, s, gamma, x: (dy - _mean(dy) - n * _mean(dy * n)) / s),
        "dx was made of dy. What arrives behind the scale is g = γ·dy.",
    ),
    _wrong(
        "gamma at the end",
        _dx(lambda dy, n, s, gamma, x: gamma * (dy - _mean(dy) - n * _mean(dy * n)) / s),
        "You multiply by γ at the end. On the way back the scale is met first: the means are those of γ·dy.",
    ),
    _wrong(
        "not divided by the spread",
        _dx(lambda dy, n, s, gamma, x: gamma * dy - _mean(gamma * dy) - n * _mean(gamma * dy * n)),
        "The gradient by n is right; x is s times as far spread, so that it is divided by s.",
    ),
    _wrong(
        "divided by the variance",
        _dx(lambda dy, n, s, gamma, x: (gamma * dy - _mean(gamma * dy) - n * _mean(gamma * dy * n)) / s**2),
        "You divide by the variance, s². It is divided by s.",
    ),
    _wrong(
        "sums in place of means",
        _dx(
            lambda dy, n, s, gamma, x: (
                (gamma * dy - dy.shape[-1] * (_mean(gamma * dy) + n * _mean(gamma * dy * n))) / s
            )
        ),
        "The two terms that are taken away are D times too large: they hold means over the features, not "
        "sums.",
    ),
    _wrong(
        "deviations in place of n",
        _dx(
            lambda dy, n, s, gamma, x: (
                (gamma * dy - _mean(gamma * dy) - n * s * _mean(gamma * dy * n * s)) / s
            )
        ),
        "The last term is made of x − mean. It is made of n, which is that divided by s.",
    ),
    _wrong(
        "x in place of n in dgamma",
        _dgamma(lambda by_n, by_x: _summed(by_x)),
        "γ multiplies n, the normalized token, not x: its gradient is the sum of dy·n.",
    ),
    _wrong(
        "mean over tokens",
        _dgamma(lambda by_n, by_x: np.asarray(by_n.reshape(-1, by_n.shape[-1]).mean(axis=0))),
        "You take the mean over the tokens. All tokens share γ, and their gradients add up.",
    ),
    _wrong(
        "not summed over tokens",
        _unsummed,
        "All tokens share γ and β, so that their gradients are summed over every axis but the last.",
    ),
)

_DX_HINTS: Hints = (
    "By how many ways does one feature of x reach one feature of the output?",
    "Directly, through the mean, and through the spread. The last two take away what points along the ones, "
    "and what points along n.",
    "With g = γ·dy, subtract from g its mean, and n times the mean of g·n; then divide by s.",
)
_SUM_HINTS: Hints = (
    "Which tokens does one entry of gamma touch?",
    "All of them: gamma and beta have one entry for each feature, and each token adds its share.",
    "Sum dy·n, and dy, over every axis but the last; `reshape(-1, D)` makes one axis of those.",
)

EXERCISE = Exercise(
    id="layer_norm.backward",
    answer="layer_norm_backward",
    title="The gradient of layer norm",
    level="stretch",
    minutes=20,
    framework="numpy",
    reference=backward,
    cases=cases,
    returns=RETURNS,
    withheld=(
        "transformer_block.in_numpy.layer_norm",
        "transformer_block.in_torch.layer_norm",
        "torch.nn.functional.layer_norm",
    ),
    properties=(
        values("plain", "dx, with gamma 1", 1.5, on=(PLAIN, PLAIN_32), output=0, hints=_DX_HINTS),
        values(
            "scaled", "dx, with a gamma of its own", 1.0, on=(SCALED, SCALED_32), output=0, hints=_DX_HINTS
        ),
        values("eps", "dx, with an eps that counts", 0.5, on=(EPS,), output=0, hints=_DX_HINTS),
        values("dgamma", "dgamma", 1.0, on=_REGULAR, output=1, hints=_SUM_HINTS),
        values("dbeta", "dbeta", 0.5, on=_REGULAR, output=2, hints=_SUM_HINTS),
        values("sequence", "takes a sequence too", 0.25, on=(SEQUENCE,), output=1, requires=("dgamma",)),
        values("token", "takes a single token too", 0.25, on=(TOKEN,), output=1, requires=("dgamma",)),
        dtype_kept(0.5, of="x", requires=("plain",)),
        inputs_unchanged(0.5, requires=("plain",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Write layer norm in three steps, x − mean, divided by s, times γ plus β, and go back through them.",
        "Behind γ arrives g = γ·dy. The matrix that takes it to x is (I − 11ᵀ/D − nnᵀ/D)/s. γ and β get sums "
        "over all tokens.",
        "dx is g less its mean, less n times the mean of g·n, over s; dgamma sums dy·n and dbeta sums dy "
        "over every axis but the last.",
    ),
)
