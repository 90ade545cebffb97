"""Masks say which keys a query sees: True is visible, everywhere. Join two with `&`."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Integer
from torch import Tensor

from transformer_block._invariants import (
    require_integers,
    require_lengths,
    require_mask,
    require_window,
)


def causal_mask(
    T: int,
    S: int | None = None,
    window: int | None = None,
    device: torch.device | None = None,
) -> Bool[Tensor, "T S"]:
    """Hide the future: query t sees key s if s ≤ t + (S − T).

    The T queries are the last T of the S positions, so that one mask serves a whole
    sequence (S = T, the default) and new tokens behind S − T cached ones. A window
    hides the distant past as well: each query sees itself and the window − 1 keys
    before it.

    Raises: ValueError for a window below 1.
    """
    S = T if S is None else S
    require_window(window, causal=True)
    visible = torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)
    return visible if window is None else visible.triu(S - T - window + 1)


def padding_mask(
    lengths: Integer[Tensor, "B"] | Sequence[int], S: int
) -> Bool[Tensor, "B 1 S"]:
    """Hide the padding: in sequence b, every query sees key s if s < lengths[b].

    The mask lies on the device of lengths.

    Raises: TypeError for lengths that are not integers; ValueError for a length outside
    0 … S.
    """
    if not isinstance(lengths, Tensor):
        lengths = torch.tensor(lengths)
    require_integers("lengths", lengths)
    require_lengths(lengths.tolist(), S)
    return torch.arange(S, device=lengths.device) < lengths[:, None, None]


def scaled_dot_product_mask(
    visible: Bool[Tensor, "*B T S"],
) -> Bool[Tensor, "*B 1 T S"]:
    """Say the same to `scaled_dot_product_attention`: True is visible there too.

    (..., T, S) → (..., 1, T, S): one mask for all heads

    Raises: TypeError for a mask that is not boolean; ValueError for one with fewer than
    two axes.
    """
    require_mask(visible)
    return visible[..., None, :, :]


def additive_mask(
    visible: Bool[Tensor, "*B T S"], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*B T S"]:
    """Say the same in numbers that are added to the scores before the softmax.

    0 where a key is seen, −∞ where it is hidden

    Over a query that sees no key, a softmax that takes the largest score away computes
    −∞ − (−∞), which is not a number; PyTorch's scaled_dot_product_attention gives 0.

    Raises: TypeError for a mask that is not boolean; ValueError for one with fewer than
    two axes.
    """
    require_mask(visible)
    zeros = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
    return zeros.masked_fill_(~visible, -math.inf)


def multihead_attention_mask(
    visible: Bool[Tensor, "*B T S"], n_heads: int
) -> Bool[Tensor, "*BH T S"]:
    """Say the same to `nn.MultiheadAttention` as its attn_mask: there, True is hidden.

    (T, S) → (T, S),  (B, T, S) → (B · H, T, S): row b · H + h is head h of sequence b

    That module does not stretch an axis of size 1: B, T and S must be the input's. A
    query that sees no key comes out as not a number unless need_weights is False.

    Raises: TypeError for a mask that is not boolean; ValueError for one of fewer than
    two axes or more than three.
    """
    require_mask(visible)
    if visible.ndim > 3:
        raise ValueError(
            f"visible must have shape (T, S) or (B, T, S); got {tuple(visible.shape)}"
        )
    hidden = ~visible
    return hidden if hidden.ndim == 2 else hidden.repeat_interleave(n_heads, dim=0)


def key_padding_mask(visible: Bool[Tensor, "B 1 S"]) -> Bool[Tensor, "B S"]:
    """Say the same to `nn.MultiheadAttention` as its key_padding_mask: True is hidden.

    (B, 1, S) → (B, S)

    Raises: TypeError for a mask that is not boolean; ValueError for one that tells the
    queries of a sequence apart.
    """
    require_mask(visible)
    if visible.ndim != 3 or visible.shape[1] != 1:
        raise ValueError(
            "visible must have shape (B, 1, S), the same keys for every query; "
            f"got {tuple(visible.shape)}"
        )
    return ~visible[:, 0]
