"""Masks say which keys a query sees: True is visible, everywhere. Join two with `&`."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Integer
from torch import Tensor

from transformer_block._invariants import require_integers, require_lengths


def causal_mask(
    T: int, S: int | None = None, device: torch.device | None = None
) -> Bool[Tensor, "T S"]:
    """Hide the future: query t sees key s if s ≤ t + (S − T).

    The T queries are the last T of the S positions, so that one mask serves a whole
    sequence (S = T, the default) and new tokens behind S − T cached ones.
    """
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)


def padding_mask(
    lengths: Integer[Tensor, "B"] | Sequence[int], S: int
) -> Bool[Tensor, "B 1 S"]:
    """Hide the padding: in sequence b, every query sees key s if s < lengths[b].

    The mask lies on the device of lengths.

    Raises: TypeError for lengths that are not integers; ValueError for a length outside
    0 … S.
    """
    lengths = torch.as_tensor(lengths)
    require_integers("lengths", lengths)
    require_lengths(lengths.tolist(), S)
    return torch.arange(S, device=lengths.device) < lengths[:, None, None]
