"""Masks say which keys a query sees: True is visible, everywhere. Join two with `&`."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Integer

from transformer_block._invariants import require_integers, require_lengths


def causal_mask(T: int, S: int | None = None) -> Bool[np.ndarray, "T S"]:
    """Hide the future: query t sees key s if s ≤ t + (S − T).

    The T queries are the last T of the S positions, so that one mask serves a whole
    sequence (S = T, the default) and new tokens behind S − T cached ones.
    """
    S = T if S is None else S
    return np.tri(T, S, S - T, dtype=bool)


def padding_mask(
    lengths: Integer[np.ndarray, "B"] | Sequence[int], S: int
) -> Bool[np.ndarray, "B 1 S"]:
    """Hide the padding: in sequence b, every query sees key s if s < lengths[b].

    Raises: TypeError for lengths that are not integers; ValueError for a length outside
    0 … S.
    """
    lengths = np.asarray(lengths)
    require_integers("lengths", lengths)
    require_lengths(lengths.tolist(), S)
    visible: np.ndarray = np.arange(S) < lengths[:, None, None]
    return visible
