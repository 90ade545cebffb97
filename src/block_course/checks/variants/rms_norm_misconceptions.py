"""Known wrong RMS norms, each with what to tell its author."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_course.checks.layer_norm.tokens import first_token
from block_course.checks.wording import quantity, vector
from block_course.exercise import Array, Case, Misconception, Outputs

DEFAULT_EPS = 1e-5


def _by(
    divisor: Callable[[Array, float], Array],
    *,
    center: Callable[[Array], Array] = lambda x: x,
    scale: Callable[[Array], Array] = lambda gamma: gamma,
) -> Callable[..., Array]:
    """Another divisor of the token, of what is centered, or another scale."""

    def answer(x: Array, gamma: Array, eps: float = DEFAULT_EPS) -> Array:
        return np.asarray(scale(gamma) * center(x) / divisor(x, eps))

    return answer


def _mean_square(x: Array, axis: int | tuple[int, ...] | None = -1) -> Array:
    return np.asarray(np.square(x).mean(axis=axis, keepdims=True))


def _deviation(x: Array) -> Array:
    return np.asarray(x - x.mean(-1, keepdims=True))


_RIGHT = _by(lambda x, eps: np.sqrt(_mean_square(x) + eps))


def _wrong(name: str, answer: Callable[..., Array], sentence: str) -> Misconception:
    """Told of the first token: {token}, {before} its mean square, {after} that of what it became."""

    def message(case: Case, outputs: Outputs) -> str:
        token, mine = first_token(np.asarray(case.arguments["x"])), first_token(outputs[0])
        right = first_token(_RIGHT(**case.arguments))
        before, after, should = (quantity(np.square(each).mean()) for each in (token, mine, right))
        return sentence.format(token=vector(token), before=before, after=after, should=should, D=len(token))

    return Misconception(name=name, answer=answer, message=message)


_LEAVES = "The token {token} leaves with a mean square of {after}; it should be {should}. "

MISCONCEPTIONS = (
    _wrong(
        "layer norm",
        _by(lambda x, eps: np.sqrt(x.var(-1, keepdims=True) + eps), center=_deviation),
        "The token {token} leaves with mean 0: that is layer norm. RMSNorm takes no mean away, neither from "
        "the token nor in its size.",
    ),
    _wrong(
        "spread in place of the size",
        _by(lambda x, eps: np.sqrt(x.var(-1, keepdims=True) + eps)),
        _LEAVES + "You divide by the spread around the mean. RMSNorm divides by the root of the mean square, "
        "mean and all.",
    ),
    _wrong(
        "mean taken away, size left",
        _by(lambda x, eps: np.sqrt(_mean_square(x) + eps), center=_deviation),
        _LEAVES + "You take the mean away, and divide by the size that it had with it. RMSNorm takes nothing "
        "away.",
    ),
    _wrong(
        "sum of the squares",
        _by(lambda x, eps: np.sqrt(np.square(x).sum(-1, keepdims=True) + eps)),
        _LEAVES
        + "You divide by the token's length, the root of the sum of its squares. The size is the root "
        "of their mean, the sum divided by D = {D}.",
    ),
    _wrong(
        "mean square without its root",
        _by(lambda x, eps: _mean_square(x) + eps),
        _LEAVES + "You divide by its mean square, {before}. Divide by the root of that.",
    ),
    _wrong(
        "mean of the absolute values",
        _by(lambda x, eps: np.abs(x).mean(-1, keepdims=True) + eps),
        _LEAVES + "You take the mean of the absolute values for the size. It is the root of the mean square.",
    ),
    _wrong(
        "one size for a sequence",
        _by(lambda x, eps: np.sqrt(_mean_square(x, tuple(range(max(x.ndim - 2, 0), x.ndim))) + eps)),
        _LEAVES + "All tokens of a sequence were divided by one number. Each token has its own size.",
    ),
    _wrong(
        "one size for all tokens",
        _by(lambda x, eps: np.sqrt(_mean_square(x, None) + eps)),
        _LEAVES + "All tokens were divided by one number. Each token has its own size.",
    ),
    _wrong(
        "size over the tokens",
        _by(lambda x, eps: np.sqrt(_mean_square(x, -2 if x.ndim > 1 else -1) + eps)),
        _LEAVES + "The mean ran over the tokens, a number for each feature. It runs over the D features of "
        "one token, axis −1.",
    ),
    _wrong(
        "eps outside the root",
        _by(lambda x, eps: np.sqrt(_mean_square(x)) + eps),
        _LEAVES + "You add eps to the root. It is added to the mean square, under the root.",
    ),
    _wrong(
        "eps left out",
        _by(lambda x, eps: np.sqrt(_mean_square(x))),
        _LEAVES + "Your root holds the mean square, {before}, alone. eps is added to it, under the root.",
    ),
    _wrong(
        "eps fixed",
        _by(lambda x, eps: np.sqrt(_mean_square(x) + DEFAULT_EPS)),
        _LEAVES + "You add 1e−5 whatever eps is given. Use the argument.",
    ),
    _wrong(
        "gamma left out",
        _by(lambda x, eps: np.sqrt(_mean_square(x) + eps), scale=np.ones_like),
        _LEAVES + "gamma is not applied. It multiplies each feature of the normalized token.",
    ),
    _wrong(
        "one added to gamma",
        _by(lambda x, eps: np.sqrt(_mean_square(x) + eps), scale=lambda gamma: 1 + gamma),
        _LEAVES + "You multiply by 1 + gamma. Some models store their gains so; here gamma is the gain.",
    ),
)
