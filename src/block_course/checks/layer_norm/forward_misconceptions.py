"""Known wrong layer norms, each with what to tell its author.

The first that fits is named, so a plainer mistake stands before a rarer one that looks the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_course.checks.layer_norm.tokens import first_token
from block_course.checks.wording import number, quantity, vector
from block_course.exercise import Array, Case, Misconception, Outputs

Axis = int | tuple[int, ...] | None


def _wrong(
    name: str, answer: Callable[..., Array], sentence: Callable[[Array, Array, Case], str]
) -> Misconception:
    """`sentence` gets the first token, what the learner made of it, and the case."""

    def message(case: Case, outputs: Outputs) -> str:
        return sentence(first_token(_given(case, "x")), first_token(outputs[0]), case)

    return Misconception(name=name, answer=answer, message=message)


def _given(case: Case, name: str) -> Array:
    return np.asarray(case.arguments[name])


def _with(
    *, axis: Axis = -1, ddof: int = 0, denominator: Callable[[Array, float], Array] | None = None
) -> Callable[..., Array]:
    """Layer norm with another axis, another divisor of the variance or another denominator."""
    root = denominator or (lambda variance, eps: np.sqrt(variance + eps))

    def answer(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Array:
        deviation = x - x.mean(axis=axis, keepdims=True)
        return np.asarray(gamma * deviation / root(x.var(axis=axis, ddof=ddof, keepdims=True), eps) + beta)

    return answer


def _normalized(x: Array, eps: float) -> Array:
    return np.asarray((x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps))


def _batch_statistics(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Array:
    return _with(axis=tuple(range(x.ndim - 1)))(x, gamma, beta, eps)


def _one_pass(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Array:
    mean = x.mean(-1, keepdims=True)
    variance = np.square(x).mean(-1, keepdims=True) - np.square(mean)
    return np.asarray(gamma * (x - mean) / np.sqrt(variance + eps) + beta)


def _other_axis(token: Array, y: Array, where: str) -> str:
    return (
        f"The token {vector(token)} comes out with mean {number(y.mean())} and variance {number(y.var())} "
        f"instead of 0 and 1: your mean and variance run over {where}. In layer norm they run over the "
        "features of one token, the last axis, and no token sees another."
    )


def _of_eps(x: Array, y: Array, case: Case, done: str, right: str) -> str:
    expected = x.var() / (x.var() + float(case.arguments.get("eps", 1e-5)))  # type: ignore[arg-type]
    return (
        f"A token with variance {quantity(x.var())} leaves your layer norm with variance {number(y.var())}, "
        f"and it should leave with {number(expected)}. {done} {right}"
    )


_INSIDE = "In layer norm eps is added to the variance, under the root: √(variance + eps)."

MISCONCEPTIONS = (
    _wrong(
        "sample variance",
        _with(ddof=1),
        lambda x, y, case: (
            f"Your token has variance {number(y.var())} after normalizing; the population variance of its "
            f"{len(x)} features should be 1.000. `var(ddof=1)` divides by D − 1 = {len(x) - 1}; layer norm "
            f"divides by D = {len(x)}."
        ),
    ),
    _wrong(
        "eps outside the root",
        _with(denominator=lambda variance, eps: np.sqrt(variance) + eps),
        lambda x, y, case: _of_eps(x, y, case, "You divide by √variance + eps.", _INSIDE),
    ),
    _wrong(
        "sample variance, and eps outside the root",
        _with(ddof=1, denominator=lambda variance, eps: np.sqrt(variance) + eps),
        lambda x, y, case: _of_eps(
            x, y, case, "You divide by `std(ddof=1)` + eps.", f"{_INSIDE} Divide by D in it."
        ),
    ),
    _wrong(
        "eps left out",
        _with(denominator=lambda variance, eps: np.sqrt(variance)),
        lambda x, y, case: _of_eps(x, y, case, "You divide by √variance alone.", _INSIDE),
    ),
    _wrong(
        "eps fixed at 1e-5",
        _with(denominator=lambda variance, eps: np.sqrt(variance + 1e-5)),
        lambda x, y, case: _of_eps(x, y, case, "You add 1e−5 whatever eps is given.", "Use the argument."),
    ),
    _wrong(
        "eps fixed at 1e-2",
        _with(denominator=lambda variance, eps: np.sqrt(variance + 1e-2)),
        lambda x, y, case: _of_eps(
            x, y, case, "You add 0.01 whatever eps is given.", "Use the argument; its default is 1e−5."
        ),
    ),
    _wrong(
        "statistics over the tokens",
        _with(axis=-2),
        lambda x, y, case: _other_axis(x, y, "the tokens of a sequence, axis −2"),
    ),
    _wrong(
        "statistics over axis 1",
        _with(axis=1),
        lambda x, y, case: _other_axis(x, y, "axis 1, which in an array of shape (B, T, D) holds the tokens"),
    ),
    _wrong(
        "statistics over the first axis",
        _with(axis=0),
        lambda x, y, case: _other_axis(x, y, "axis 0"),
    ),
    _wrong(
        "statistics over the whole array",
        _with(axis=None),
        lambda x, y, case: _other_axis(x, y, "the whole array, as they do when no axis is given"),
    ),
    _wrong(
        "batch statistics",
        _batch_statistics,
        lambda x, y, case: _other_axis(
            x, y, "all tokens of the batch, feature by feature, which is batch norm"
        ),
    ),
    _wrong(
        "gamma and beta never applied",
        lambda x, gamma, beta, eps=1e-5: _normalized(x, eps),
        lambda x, y, case: (
            f"With gamma and beta given, your token {vector(y)} still has mean {number(y.mean())} and "
            f"variance {number(y.var())}: neither was applied. Multiply the normalized token by gamma, then "
            "add beta."
        ),
    ),
    _wrong(
        "gamma never applied",
        lambda x, gamma, beta, eps=1e-5: _normalized(x, eps) + beta,
        lambda x, y, case: (
            f"Take beta away from your output and variance {number((y - _given(case, 'beta')).var())} is "
            "left, whatever gamma is. Layer norm multiplies each normalized feature by its gamma."
        ),
    ),
    _wrong(
        "beta never applied",
        lambda x, gamma, beta, eps=1e-5: _normalized(x, eps) * gamma,
        lambda x, y, case: (
            f"Divide your output by gamma and the mean is {number((y / _given(case, 'gamma')).mean())}, "
            "whatever beta is. Layer norm adds beta to each feature, after gamma."
        ),
    ),
    _wrong(
        "beta before gamma",
        lambda x, gamma, beta, eps=1e-5: gamma * (_normalized(x, eps) + beta),
        lambda x, y, case: (
            f"Your first feature is {number(y[0])}: beta was added before gamma multiplied, so that gamma "
            f"scaled beta too. The order is gamma · normalized + beta, which gives "
            f"{number(y[0] + ((1 - _given(case, 'gamma')) * _given(case, 'beta'))[0])}."
        ),
    ),
    _wrong(
        "divided by the variance",
        _with(denominator=lambda variance, eps: variance + eps),
        lambda x, y, case: (
            f"The token {vector(x)} has variance {number(x.var())} and leaves with {number(y.var())} instead "
            "of 1.000: you divide the deviations by the variance. Divide by its root."
        ),
    ),
    _wrong(
        "not divided by the spread",
        _with(denominator=lambda variance, eps: np.ones_like(variance)),
        lambda x, y, case: (
            f"The token {vector(x)} keeps its variance, {number(y.var())}: you subtract the mean and stop "
            "there. Layer norm then divides by √(variance + eps)."
        ),
    ),
    _wrong(
        "root mean square instead of the spread",
        lambda x, gamma, beta, eps=1e-5: (
            gamma * x / np.sqrt(np.square(x).mean(-1, keepdims=True) + eps) + beta
        ),
        lambda x, y, case: (
            f"The token {vector(x)} leaves with mean {number(y.mean())} instead of 0.000: you divide by the "
            "root mean square and subtract no mean. That is RMSNorm; layer norm subtracts the mean first."
        ),
    ),
    _wrong(
        "mean not subtracted",
        lambda x, gamma, beta, eps=1e-5: gamma * x / np.sqrt(x.var(-1, keepdims=True) + eps) + beta,
        lambda x, y, case: (
            f"The token {vector(x)} leaves with mean {number(y.mean())} instead of 0.000: you divide by the "
            "spread and leave the mean in. Layer norm divides the deviations from the mean."
        ),
    ),
    _wrong(
        "one-pass variance",
        _one_pass,
        lambda x, y, case: (
            f"A float32 token near {number(x.mean(), 0)} leaves with variance {number(y.var())} instead of "
            "1.000. E[x²] − E[x]² subtracts two numbers near 100,000,000, which float32 holds in steps of 8. "
            "Subtract the mean first, then square."
        ),
    ),
)
