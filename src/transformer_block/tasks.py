"""Tasks that a small stack can learn: sequences of symbols, and what to answer."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from transformer_block._invariants import require_at_least


class Batch(NamedTuple):
    """Sequences of symbols, and the symbol to be answered at each position."""

    tokens: Int[np.ndarray, "B T"]
    answers: Int[np.ndarray, "B T"]


def reversal(
    batch: int, length: int, symbols: int, generator: np.random.Generator
) -> Batch:
    """Draw sequences at random; the answer is each sequence from back to front.

    answers[b, t] = tokens[b, T − 1 − t]

    Symbols are 0 … symbols − 1, each as likely as the others, wherever they stand.

    Raises: ValueError for a size below 1.
    """
    for name, size in {"batch": batch, "length": length, "symbols": symbols}.items():
        require_at_least(name, size, 1)
    tokens = generator.integers(symbols, size=(batch, length))
    return Batch(tokens, tokens[:, ::-1].copy())
