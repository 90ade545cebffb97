"""Known wrong layer norms whose statistics run over the wrong axis, or lose it, or divide by its size."""

from __future__ import annotations

import numpy as np

from block_course.checks.layer_norm.forward_variants import given, varied, wrong
from block_course.checks.wording import number, shape, vector
from block_course.exercise import Array, Case, Misconception, Outputs


def _batch_statistics(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Array:
    return varied(axis=tuple(range(x.ndim - 1)))(x, gamma, beta, eps)


def _other_axis(token: Array, y: Array, where: str) -> str:
    return (
        f"The token {vector(token)} comes out with mean {number(y.mean())} and variance {number(y.var())} "
        f"instead of 0 and 1: your mean and variance run over {where}. In layer norm they run over the "
        "features of one token, the last axis, and no token sees another."
    )


def _without_the_axis(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Array:
    return np.asarray(gamma * (x - x.mean(-1)) / np.sqrt(x.var(-1) + eps) + beta)


def _cannot_line_up(case: Case, outputs: Outputs) -> str:
    x = given(case, "x")
    return (
        f"A mean or variance of shape {shape(x.shape[:-1])} meets `x` of shape {shape(x.shape)}, and NumPy "
        "can't line each token up with its own. Keep the last axis with size 1, by `keepdims=True`."
    )


def _mean_over_len(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Array:
    deviation = x - x.sum(-1, keepdims=True) / len(x)
    variance = np.square(deviation).sum(-1, keepdims=True) / len(x)
    return np.asarray(gamma * deviation / np.sqrt(variance + eps) + beta)


def _divided_by_len(x: Array, y: Array, case: Case) -> str:
    return (
        f"The token {vector(x)} leaves with mean {number(y.mean())} and variance {number(y.var())} instead "
        f"of 0 and 1: a sum was divided by `len(x)` = {len(given(case, 'x'))}, the size of the first axis. D "
        f"is the size of the last, `x.shape[-1]` = {len(x)}."
    )


OF_AXES = (
    wrong(
        "statistics over the tokens",
        varied(axis=-2),
        lambda x, y, case: _other_axis(x, y, "the tokens of a sequence, axis −2"),
    ),
    wrong(
        "statistics over axis 1",
        varied(axis=1),
        lambda x, y, case: _other_axis(x, y, "axis 1, which in an array of shape (B, T, D) holds the tokens"),
    ),
    wrong(
        "statistics over the first axis",
        varied(axis=0),
        lambda x, y, case: _other_axis(x, y, "axis 0"),
    ),
    *(
        wrong(
            "statistics over two axes",
            varied(axis=axes),
            lambda x, y, case: _other_axis(x, y, "two axes, the tokens and the features"),
        )
        for axes in ((-2, -1), (1, 2))
    ),
    wrong(
        "statistics over the whole array",
        varied(axis=None),
        lambda x, y, case: _other_axis(x, y, "the whole array, as they do when no axis is given"),
    ),
    wrong(
        "batch statistics",
        _batch_statistics,
        lambda x, y, case: _other_axis(
            x, y, "all tokens of the batch, feature by feature, which is batch norm"
        ),
    ),
    Misconception(
        name="mean or variance without its last axis",
        answer=_without_the_axis,
        message=_cannot_line_up,
        tells=lambda case: given(case, "x").ndim > 1,
    ),
    wrong("sum divided by len(x)", _mean_over_len, _divided_by_len),
    wrong(
        "sum divided by len(x)",
        lambda x, gamma, beta, eps=1e-5: varied(
            measure=lambda deviation: np.square(deviation).sum(-1, keepdims=True) / len(x)
        )(x, gamma, beta, eps),
        _divided_by_len,
    ),
)
