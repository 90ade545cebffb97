"""Sizes, tokens and matrices for attention: drawn so that all sizes differ and no score is extreme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from block_course.checks.wording import two_numbers
from block_course.exercise import Array, Case, Misconception, Outputs, as_outputs

CONDITION = 20.0
"""A softmax of scores of a few units, and two products beside it, magnify no error by more."""

HEADS_AND_WIDTHS = ((3, 4), (4, 3), (3, 5))


@dataclass(frozen=True)
class Sizes:
    """B, T, D, H: pairwise distinct, and K = D / H differs from all of them."""

    B: int
    T: int
    D: int
    H: int

    @property
    def K(self) -> int:
        """The width of a head."""
        return self.D // self.H


def sizes(rng: np.random.Generator) -> Sizes:
    """Draw sizes; T and D have no factor that would let a wrong reshape pass."""
    heads, width = HEADS_AND_WIDTHS[rng.integers(len(HEADS_AND_WIDTHS))]
    return Sizes(B=2, T=int(rng.integers(6, 8)), D=heads * width, H=heads)


def tokens(rng: np.random.Generator, size: Sizes, dtype: DTypeLike = np.float64) -> Array:
    """A batch (B, T, D)."""
    return np.asarray(rng.normal(size=(size.B, size.T, size.D)), dtype)


def matrix(rng: np.random.Generator, rows: int, columns: int) -> Array:
    """A matrix (rows, columns) that keeps the size of what it multiplies, a little enlarged."""
    return np.asarray(rng.normal(0.0, 1.2 * columns**-0.5, (rows, columns)))


def bias(rng: np.random.Generator, width: int) -> Array:
    """A bias of either sign, never near 0."""
    return np.asarray(rng.uniform(0.3, 0.8, width) * rng.choice([-1.0, 1.0], width))


def misconception(
    name: str,
    answer: Callable[..., Array | Outputs],
    reference: Callable[..., Array | Outputs],
    sentence: str,
) -> Misconception:
    """One that is told by the first entry that departs from the right one, then by a sentence."""

    def message(case: Case, outputs: Outputs) -> str:
        right = as_outputs(reference(**case.arguments))
        return f"{_first_entry(outputs, right)}{sentence}"

    return Misconception(name=name, answer=answer, message=message)


def _first_entry(outputs: Outputs, right: Outputs) -> str:
    for got, wanted in zip(outputs, right, strict=True):
        if got.shape != wanted.shape:
            continue
        apart = np.argwhere(~(np.abs(got - wanted) <= 0.01))
        if len(apart):
            index = tuple(int(each) for each in apart[0])
            is_now, should_be = two_numbers(got[index], wanted[index])
            return f"Entry {list(index)} is {is_now} and should be {should_be}. "
    return ""
