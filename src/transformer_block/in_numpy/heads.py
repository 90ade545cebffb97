"""Heads: the features of a token cut into pieces that attend side by side."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from transformer_block._invariants import require_divisible, require_shape
from transformer_block.in_numpy.positions import rotary, rotary_backward
from transformer_block.in_numpy.rms_norm import rms_norm, rms_norm_backward


class QKNorm(NamedTuple):
    """The RMS norms of each head's queries and keys: their gains, shared by all heads.

    Source: Henry et al., Query-Key Normalization for Transformers, 2020,
    arXiv:2010.04245; here with an RMS norm, as later models have it.
    """

    q: Float[np.ndarray, "K"]
    k: Float[np.ndarray, "K"]
    eps: float = 1e-5


def split_heads(
    x: Float[np.ndarray, "*B T D"], n_heads: int
) -> Float[np.ndarray, "*B H T K"]:
    """Cut each token's features into n_heads pieces; heads come before positions.

    (..., T, D) → (..., H, T, K) with K = D / H

    Raises: ValueError for a D that n_heads does not divide.
    """
    require_divisible(x.shape[-1], n_heads)
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).swapaxes(-3, -2)


def merge_heads(x: Float[np.ndarray, "*B H T K"]) -> Float[np.ndarray, "*B T D"]:
    """Lay the heads of each token side by side again: the inverse of split_heads.

    (..., H, T, K) → (..., T, D)
    """
    *batch, n_heads, length, width = x.shape
    return x.swapaxes(-3, -2).reshape(*batch, length, n_heads * width)


def prepare_heads(
    q: Float[np.ndarray, "*B H T K"],
    k: Float[np.ndarray, "*B G S K"],
    qk_norm: QKNorm | None = None,
    rotary_base: float | None = None,
    offset: int = 0,
) -> tuple[Float[np.ndarray, "*B H T K"], Float[np.ndarray, "*B G S K"]]:
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


def prepare_heads_backward(
    dq: Float[np.ndarray, "*B H T K"],
    dk: Float[np.ndarray, "*B G S K"],
    q: Float[np.ndarray, "*B H T K"],
    k: Float[np.ndarray, "*B G S K"],
    qk_norm: QKNorm | None = None,
    rotary_base: float | None = None,
) -> tuple[
    Float[np.ndarray, "*B H T K"],
    Float[np.ndarray, "*B G S K"],
    Float[np.ndarray, "K"] | None,
    Float[np.ndarray, "K"] | None,
]:
    """Gradients with respect to q, k and the gains of the two norms.

    The turn is undone first, because it came last; q and k are those that prepare_heads
    was given, at offset 0.
    """
    if rotary_base is not None:
        dq = rotary_backward(dq, base=rotary_base)
        dk = rotary_backward(dk, base=rotary_base)
    if qk_norm is None:
        return dq, dk, None, None
    dq, dq_gain = rms_norm_backward(dq, q, qk_norm.q, qk_norm.eps)
    dk, dk_gain = rms_norm_backward(dk, k, qk_norm.k, qk_norm.eps)
    return dq, dk, dq_gain, dk_gain
