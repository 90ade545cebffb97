"""What the known wrong layer norms are made of: the right one with one part exchanged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_course.checks.layer_norm.tokens import first_token
from block_course.exercise import Array, Case, Misconception, Outputs

Axis = int | tuple[int, ...] | None


def wrong(
    name: str, answer: Callable[..., Array], sentence: Callable[[Array, Array, Case], str]
) -> Misconception:
    """A misconception told about one token: `sentence` gets the first, what became of it, and the case."""

    def message(case: Case, outputs: Outputs) -> str:
        return sentence(first_token(given(case, "x")), first_token(outputs[0]), case)

    return Misconception(name=name, answer=answer, message=message)


def given(case: Case, name: str) -> Array:
    """An array argument of a case."""
    return np.asarray(case.arguments[name])


def varied(
    *,
    axis: Axis = -1,
    ddof: int = 0,
    denominator: Callable[[Array, float], Array] = lambda variance, eps: np.sqrt(variance + eps),
    measure: Callable[[Array], Array] | None = None,
) -> Callable[..., Array]:
    """Layer norm with another axis, divisor of the variance, denominator, or measure of the deviations."""

    def answer(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Array:
        deviation = x - x.mean(axis=axis, keepdims=True)
        variance = measure(deviation) if measure else x.var(axis=axis, ddof=ddof, keepdims=True)
        return np.asarray(gamma * deviation / denominator(variance, eps) + beta)

    return answer


def normalized(x: Array, eps: float) -> Array:
    """The right layer norm before gamma and beta."""
    return np.asarray((x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps))
