"""Tokens and matrices for the checks of feed-forward parts, and bends to make wrong answers of."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from block_course.checks.wording import entry, two_numbers, vector
from block_course.exercise import Array, Case, Misconception, Outputs

FEED_FORWARD_OF_THE_PACKAGE = (
    "transformer_block.in_numpy.feed_forward",
    "transformer_block.in_numpy.activations",
    "transformer_block.in_torch.feed_forward",
    "transformer_block.in_torch.activations",
)


def matrix(rng: np.random.Generator, rows: int, columns: int) -> Array:
    """A matrix (out, in) that keeps the size of what it multiplies."""
    return np.asarray(rng.normal(size=(rows, columns)) * 1.5 / np.sqrt(columns))


def sizes(rng: np.random.Generator) -> tuple[int, int, int, int]:
    """B, T, D and F, pairwise distinct."""
    return 2, 3, int(rng.integers(4, 7)), int(rng.integers(8, 12))


def relu(u: Array) -> Array:
    """The bend of 2017."""
    return np.maximum(u, 0.0)


def logistic(u: Array) -> Array:
    """1/(1 + e⁻ᵘ)."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-u)))


def silu(u: Array) -> Array:
    """The logistic function times its argument."""
    return np.asarray(u * logistic(u))


def erf(u: Array) -> Array:
    """The error function of each entry."""
    return np.vectorize(math.erf, otypes=[np.float64])(u).astype(u.dtype)  # type: ignore[no-any-return]


def gelu(u: Array) -> Array:
    """The exact GELU."""
    return np.asarray(u * (1.0 + erf(u / math.sqrt(2.0))) / 2.0)


def explain_token(case: Case, index: tuple[int, ...], got: Array, right: Array) -> str:
    """The token whose output is wrong, with the first entry that is."""
    x = np.asarray(case.arguments["x"])
    is_now, should_be = two_numbers(got[index], right[index])
    return f"the token {vector(x[index[:-1]])}: feature {index[-1]} is {is_now} and should be {should_be}"


def explain_other_token(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str:
    """An entry that moved though its token stayed."""
    is_now, was = two_numbers(got[index], expected[index])
    return f"another token was replaced, and entry {entry(index)} went from {was} to {is_now}"


def unchanged_elsewhere(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    """What the second output should be if no token sees another."""
    one, other = (np.asarray(case.arguments["x"]) for case in (before, after))
    return np.where((one != other).any(axis=-1, keepdims=True), y_after, y)


def wrong(
    name: str,
    answer: Callable[..., Array | Outputs],
    message: str | Callable[[Case, Outputs], str],
    tells: Callable[[Case], bool] | None = None,
) -> Misconception:
    """A misconception with a sentence, in which {token} and {y} are the first token and its output."""

    def said(case: Case, outputs: Outputs) -> str:
        if callable(message):
            return message(case, outputs)
        given = np.asarray(case.arguments["x"])
        token = given[(0,) * (given.ndim - 1)]
        y = vector(outputs[0][(0,) * (outputs[0].ndim - 1)]) if outputs else ""
        return message.format(token=vector(token), y=y)

    return Misconception(name=name, answer=answer, message=said, tells=tells)
