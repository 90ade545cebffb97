"""Heads: the features of a token cut into pieces that attend side by side."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_block._invariants import require_divisible, require_shape
from transformer_block.in_torch.positions import rotary
from transformer_block.in_torch.rms_norm import rms_norm


class QKNorm(NamedTuple):
    """The RMS norms of each head's queries and keys: their gains, shared by all heads.

    Source: Henry et al., Query-Key Normalization for Transformers, 2020,
    arXiv:2010.04245; here with an RMS norm, as later models have it.
    """

    q: Float[Tensor, "K"]
    k: Float[Tensor, "K"]
    eps: float = 1e-5


def split_heads(x: Float[Tensor, "*B T D"], n_heads: int) -> Float[Tensor, "*B H T K"]:
    """Cut each token's features into n_heads pieces; heads come before positions.

    (..., T, D) → (..., H, T, K) with K = D / H

    Raises: ValueError for a D that n_heads does not divide.
    """
    require_divisible(x.shape[-1], n_heads)
    return x.view(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).transpose(-3, -2)


def merge_heads(x: Float[Tensor, "*B H T K"]) -> Float[Tensor, "*B T D"]:
    """Lay the heads of each token side by side again: the inverse of split_heads.

    (..., H, T, K) → (..., T, D)
    """
    return x.transpose(-3, -2).flatten(-2)


def prepare_heads(
    q: Float[Tensor, "*B H T K"],
    k: Float[Tensor, "*B G S K"],
    qk_norm: QKNorm | None = None,
    rotary_base: float | None = None,
    offset: int = 0,
) -> tuple[Float[Tensor, "*B H T K"], Float[Tensor, "*B G S K"]]:
    """Normalize queries and keys, then turn them by their positions, if so chosen.

    rotary(rms_norm(q)),  rotary(rms_norm(k))

    offset is the position of the first query and of the first key.

    Raises: ValueError for norms that do not have one gain per feature of a head, or for
    rotary positions in heads of odd width.
    """
    if qk_norm is not None:
        require_shape("q_norm", qk_norm.q, q.shape[-1:])
        require_shape("k_norm", qk_norm.k, k.shape[-1:])
        q = rms_norm(q, qk_norm.q, qk_norm.eps)
        k = rms_norm(k, qk_norm.k, qk_norm.eps)
    if rotary_base is not None:
        q, k = rotary(q, offset, rotary_base), rotary(k, offset, rotary_base)
    return q, k


class Gain(nn.Module):
    """The gain of a norm of queries or keys: `weight` (K,), at first 1."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
