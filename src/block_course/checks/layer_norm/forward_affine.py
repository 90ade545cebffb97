"""Known wrong layer norms that use gamma and beta in another way, or not at all."""

from __future__ import annotations

import numpy as np

from block_course.checks.layer_norm.forward_variants import given, normalized, varied, wrong
from block_course.checks.layer_norm.tokens import first_token
from block_course.checks.wording import number, vector
from block_course.exercise import Array, Case


def _right(case: Case) -> Array:
    """The first token as it should be."""
    x, gamma, beta = (given(case, name) for name in ("x", "gamma", "beta"))
    eps = float(case.arguments.get("eps", 1e-5))  # type: ignore[arg-type]
    return first_token(varied()(x, gamma, beta, eps))


OF_GAMMA_AND_BETA = (
    wrong(
        "gamma and beta never applied",
        lambda x, gamma, beta, eps=1e-5: normalized(x, eps),
        lambda x, y, case: (
            f"With gamma and beta given, your token {vector(y)} still has mean {number(y.mean())} and "
            f"variance {number(y.var())}: neither was applied. Multiply the normalized token by gamma, then "
            "add beta."
        ),
    ),
    wrong(
        "gamma never applied",
        lambda x, gamma, beta, eps=1e-5: normalized(x, eps) + beta,
        lambda x, y, case: (
            f"Take beta away from your output and variance {number((y - given(case, 'beta')).var())} is "
            "left, whatever gamma is. Layer norm multiplies each normalized feature by its gamma."
        ),
    ),
    wrong(
        "beta never applied",
        lambda x, gamma, beta, eps=1e-5: normalized(x, eps) * gamma,
        lambda x, y, case: (
            f"Divide your output by gamma and the mean is {number((y / given(case, 'gamma')).mean())}, "
            "whatever beta is. Layer norm adds beta to each feature, after gamma."
        ),
    ),
    wrong(
        "beta before gamma",
        lambda x, gamma, beta, eps=1e-5: gamma * (normalized(x, eps) + beta),
        lambda x, y, case: (
            f"Your first feature is {number(y[0])}: beta was added before gamma multiplied, so that gamma "
            f"scaled beta too. The order is gamma · normalized + beta, which gives "
            f"{number(y[0] + ((1 - given(case, 'gamma')) * given(case, 'beta'))[0])}."
        ),
    ),
    wrong(
        "brackets around x − mean left out",
        lambda x, gamma, beta, eps=1e-5: (
            (gamma * x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta
        ),
        lambda x, y, case: (
            f"Your first feature is {number(y[0])}: `gamma * x - mean` multiplies x by gamma before the mean "
            f"is subtracted. With brackets, `gamma * (x - mean)`, it is {number(_right(case)[0])}."
        ),
    ),
    wrong(
        "brackets around x − mean left out",
        lambda x, gamma, beta, eps=1e-5: (
            gamma * x - x.mean(-1, keepdims=True) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta
        ),
        lambda x, y, case: (
            f"Your first feature is {number(y[0])}: division comes before subtraction, so that only the mean "
            "is divided by the root, and gamma multiplies x alone. With brackets, `gamma * (x - mean)`, it "
            f"is {number(_right(case)[0])}."
        ),
    ),
)
