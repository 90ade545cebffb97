"""Known wrong means and variances, each with what to tell its author.

The first that fits is named, so a plainer mistake stands before a rarer one that looks the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_course.checks.layer_norm.tokens import first_token
from block_course.checks.wording import number, shape, vector
from block_course.exercise import Array, Case, Misconception, Outputs


def _in_numbers(sentence: Callable[[Array, Array, Array], str]) -> Callable[[Case, Outputs], str]:
    """A message about the first token: `sentence` gets it, and the mean and variance given for it."""

    def message(case: Case, outputs: Outputs) -> str:
        mean, variance = (each.flat[0] for each in outputs)
        return sentence(first_token(np.asarray(case.arguments["x"])), mean, variance)

    return message


def _wrong(name: str, answer: Callable[[Array], Outputs], sentence: Callable[..., str]) -> Misconception:
    return Misconception(name=name, answer=answer, message=_in_numbers(sentence))


def _over(axis: int | tuple[int, int]) -> Callable[[Array], Outputs]:
    return lambda x: (x.mean(axis=axis, keepdims=True), x.var(axis=axis, keepdims=True))


def _other_axis(where: str) -> Callable[[Array, Array, Array], str]:
    return lambda token, mean, variance: (
        f"The mean of the token {vector(token)} is {number(token.mean())}; you give {number(mean)}, the mean "
        f"over {where}. The statistics of a token run over its own features, the last axis."
    )


def _copied_variance(x: Array) -> Array:
    return np.broadcast_to(x.var(-1, keepdims=True), x.shape)


def _whole_array(token: Array, mean: Array, variance: Array) -> str:
    return (
        f"You give one mean, {number(mean)}, for all tokens together. Each token has its own: the first one, "
        f"{vector(token)}, has {number(token.mean())}. Say which axis: the last."
    )


def _divided_by_len(token: Array, mean: Array, variance: Array) -> str:
    return (
        f"For the token {vector(token)} you give mean {number(mean)} and variance {number(variance)}: a sum "
        "was divided by `len(x)`, which is the size of the first axis. Here D, the size of the last, is "
        f"`x.shape[-1]` = {len(token)}."
    )


def _sums_over_len(x: Array) -> Outputs:
    mean = x.sum(-1, keepdims=True) / len(x)
    return mean, np.square(x - mean).sum(-1, keepdims=True) / len(x)


def _mean_without_its_axis(keepdims: bool) -> Callable[[Array], Outputs]:
    def answer(x: Array) -> Outputs:
        mean = x.mean(-1)
        return mean, np.square(x - mean).mean(-1, keepdims=keepdims)

    return answer


def _cannot_line_up(case: Case, outputs: Outputs) -> str:
    x = np.asarray(case.arguments["x"])
    return (
        f"Your mean has shape {shape(x.shape[:-1])}, `x` has {shape(x.shape)}: NumPy can't line each token "
        "up with its mean. Keep the last axis with size 1, by `keepdims=True`."
    )


def _has_several_tokens(case: Case) -> bool:
    return np.asarray(case.arguments["x"]).ndim > 1


MISCONCEPTIONS = (
    _wrong(
        "sample variance",
        lambda x: (x.mean(-1, keepdims=True), x.var(-1, ddof=1, keepdims=True)),
        lambda token, mean, variance: (
            f"For the token {vector(token)} you give the variance {number(variance)}: the squared deviations "
            f"divided by D − 1 = {len(token) - 1}. Layer norm divides by D = {len(token)}, which gives "
            f"{number(token.var())}: these D features are all there is to describe, no sample of more."
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
    *(
        _wrong("statistics over two axes", _over(axes), _other_axis("two axes, the tokens and the features"))
        for axes in ((-2, -1), (1, 2))
    ),
    _wrong("statistics over the whole array", lambda x: (x.mean(), x.var()), _whole_array),
    _wrong(
        "statistics over the whole array",
        lambda x: (x.mean(keepdims=True), x.var(keepdims=True)),
        _whole_array,
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
        "statistics copied along the features",
        lambda x: (np.broadcast_to(x.mean(-1, keepdims=True), x.shape), _copied_variance(x)),
        lambda token, mean, variance: (
            f"Your numbers are right, and each of them stands there {len(token)} times. A token has one mean "
            "and one variance: keep the last axis with size 1, and NumPy broadcasts it where it meets `x`."
        ),
    ),
    _wrong(
        "last axis of the variance dropped",
        lambda x: (x.mean(-1, keepdims=True), x.var(-1)),
        lambda token, mean, variance: (
            "Your numbers are right, and your mean has kept the last axis; your variance has lost it. Keep "
            "it there too with size 1, or the variance lines up with the wrong axes of `x`."
        ),
    ),
    *(
        Misconception(
            name="mean without its last axis",
            answer=_mean_without_its_axis(keepdims),
            message=_cannot_line_up,
            tells=_has_several_tokens,
        )
        for keepdims in (False, True)
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
        "sum of the squares",
        lambda x: (
            x.mean(-1, keepdims=True),
            np.square(x - x.mean(-1, keepdims=True)).sum(-1, keepdims=True),
        ),
        lambda token, mean, variance: (
            f"For the token {vector(token)} you give {number(variance)}, the sum of the squared deviations. "
            f"The variance is their mean: divide by D = {len(token)}, which gives {number(token.var())}."
        ),
    ),
    _wrong(
        "mean absolute deviation",
        lambda x: (
            x.mean(-1, keepdims=True),
            np.abs(x - x.mean(-1, keepdims=True)).mean(-1, keepdims=True),
        ),
        lambda token, mean, variance: (
            f"For the token {vector(token)} you give {number(variance)}, the mean of the absolute "
            f"deviations. The variance is the mean of their squares, {number(token.var())}."
        ),
    ),
    _wrong("sum divided by len(x)", _sums_over_len, _divided_by_len),
    _wrong(
        "sum divided by len(x)",
        lambda x: (
            x.mean(-1, keepdims=True),
            np.square(x - x.mean(-1, keepdims=True)).sum(-1, keepdims=True) / len(x),
        ),
        _divided_by_len,
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
