"""Known wrong layer norms, each with what to tell its author.

The first that fits is named, so a plainer mistake stands before a rarer one that looks the same.
"""

from __future__ import annotations

import numpy as np

from block_course.checks.layer_norm.forward_affine import OF_GAMMA_AND_BETA
from block_course.checks.layer_norm.forward_axes import OF_AXES
from block_course.checks.layer_norm.forward_variants import varied, wrong
from block_course.checks.wording import number, quantity, vector
from block_course.exercise import Array, Case


def _one_pass(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Array:
    mean = x.mean(-1, keepdims=True)
    variance = np.square(x).mean(-1, keepdims=True) - np.square(mean)
    return np.asarray(gamma * (x - mean) / np.sqrt(variance + eps) + beta)


def _of_eps(x: Array, y: Array, case: Case, done: str, right: str) -> str:
    expected = x.var() / (x.var() + float(case.arguments.get("eps", 1e-5)))  # type: ignore[arg-type]
    return (
        f"A token with variance {quantity(x.var())} leaves your layer norm with variance {number(y.var())}, "
        f"and it should leave with {number(expected)}. {done} {right}"
    )


_INSIDE = "In layer norm eps is added to the variance, under the root: √(variance + eps)."

_OF_VARIANCE_AND_EPS = (
    wrong(
        "sample variance",
        varied(ddof=1),
        lambda x, y, case: (
            f"Your token has variance {number(y.var())} after normalizing; the population variance of its "
            f"{len(x)} features should be 1.000. Your sum of squares is divided by D − 1 = {len(x) - 1}, as "
            f"in `var(ddof=1)`; layer norm divides by D = {len(x)}."
        ),
    ),
    wrong(
        "eps outside the root",
        varied(denominator=lambda variance, eps: np.sqrt(variance) + eps),
        lambda x, y, case: _of_eps(x, y, case, "You divide by √variance + eps.", _INSIDE),
    ),
    wrong(
        "sample variance, and eps outside the root",
        varied(ddof=1, denominator=lambda variance, eps: np.sqrt(variance) + eps),
        lambda x, y, case: _of_eps(
            x, y, case, "You divide by `std(ddof=1)` + eps.", f"{_INSIDE} Divide by D in it."
        ),
    ),
    wrong(
        "eps left out",
        varied(denominator=lambda variance, eps: np.sqrt(variance)),
        lambda x, y, case: _of_eps(x, y, case, "You divide by √variance alone.", _INSIDE),
    ),
    wrong(
        "eps fixed at 1e-5",
        varied(denominator=lambda variance, eps: np.sqrt(variance + 1e-5)),
        lambda x, y, case: _of_eps(x, y, case, "You add 1e−5 whatever eps is given.", "Use the argument."),
    ),
    wrong(
        "eps fixed at 1e-2",
        varied(denominator=lambda variance, eps: np.sqrt(variance + 1e-2)),
        lambda x, y, case: _of_eps(
            x, y, case, "You add 0.01 whatever eps is given.", "Use the argument; its default is 1e−5."
        ),
    ),
    wrong(
        "eps twice",
        varied(denominator=lambda variance, eps: np.sqrt(variance + eps) + eps),
        lambda x, y, case: _of_eps(
            x, y, case, "You add eps to the variance, and to the root once more.", _INSIDE
        ),
    ),
    wrong(
        "root of std + eps",
        varied(denominator=lambda variance, eps: np.sqrt(np.sqrt(variance) + eps)),
        lambda x, y, case: _of_eps(
            x, y, case, "You add eps to the standard deviation and take the root of that.", _INSIDE
        ),
    ),
)

_OF_THE_SPREAD = (
    wrong(
        "divided by the variance",
        varied(denominator=lambda variance, eps: variance + eps),
        lambda x, y, case: (
            f"The token {vector(x)} has variance {number(x.var())} and leaves with {number(y.var())} instead "
            "of 1.000: you divide the deviations by the variance. Divide by its root."
        ),
    ),
    wrong(
        "not divided by the spread",
        varied(denominator=lambda variance, eps: np.ones_like(variance)),
        lambda x, y, case: (
            f"The token {vector(x)} keeps its variance, {number(y.var())}: you subtract the mean and stop "
            "there. Layer norm then divides by √(variance + eps)."
        ),
    ),
    wrong(
        "root mean square instead of the spread",
        lambda x, gamma, beta, eps=1e-5: (
            gamma * x / np.sqrt(np.square(x).mean(-1, keepdims=True) + eps) + beta
        ),
        lambda x, y, case: (
            f"The token {vector(x)} leaves with mean {number(y.mean())} instead of 0.000: you divide by the "
            "root mean square and subtract no mean. That is RMSNorm; layer norm subtracts the mean first."
        ),
    ),
    wrong(
        "mean not subtracted",
        lambda x, gamma, beta, eps=1e-5: gamma * x / np.sqrt(x.var(-1, keepdims=True) + eps) + beta,
        lambda x, y, case: (
            f"The token {vector(x)} leaves with mean {number(y.mean())} instead of 0.000: you divide by the "
            "spread and leave the mean in. Layer norm divides the deviations from the mean."
        ),
    ),
    *(
        wrong(
            "mean absolute deviation",
            varied(
                measure=lambda deviation: np.abs(deviation).mean(-1, keepdims=True), denominator=denominator
            ),
            lambda x, y, case: (
                f"The token {vector(x)} leaves with variance {number(y.var())} instead of 1.000: you take "
                "the mean of the absolute deviations for the spread. The variance is the mean of the "
                "squares, and layer norm divides by its root."
            ),
        )
        for denominator in (lambda spread, eps: spread + eps, lambda spread, eps: np.sqrt(spread + eps))
    ),
    wrong(
        "sum of the squares",
        varied(measure=lambda deviation: np.square(deviation).sum(-1, keepdims=True)),
        lambda x, y, case: (
            f"The token {vector(x)} leaves with variance {number(y.var())} instead of 1.000: you divide by "
            "the root of the sum of its squared deviations. The variance is their mean, the sum divided by "
            f"D = {len(x)}."
        ),
    ),
    wrong(
        "one-pass variance",
        _one_pass,
        lambda x, y, case: (
            f"A float32 token near {number(x.mean(), 0)} leaves with variance {number(y.var())} instead of "
            "1.000. E[x²] − E[x]² subtracts two numbers near 100,000,000, which float32 holds in steps of 8. "
            "Subtract the mean first, then square."
        ),
    ),
)

MISCONCEPTIONS = (*_OF_VARIANCE_AND_EPS, *OF_AXES, *OF_GAMMA_AND_BETA, *_OF_THE_SPREAD)
