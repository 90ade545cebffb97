"""Multi-head attention: each token gathers from those it sees, in several heads."""

# mypy: disable-error-code="no-any-return"
# NumPy types the arithmetic of two arrays as Any.

import math
from typing import Literal, overload

import numpy as np
from jaxtyping import Bool, Float

from transformer_block._invariants import require_attention, require_divisible


# fmt: off
@overload
def attention(
    x: np.ndarray, qkv: np.ndarray, qkv_bias: np.ndarray,
    out: np.ndarray, out_bias: np.ndarray, n_heads: int,
    visible: np.ndarray | None = None, return_weights: Literal[False] = False,
) -> np.ndarray: ...
@overload
def attention(
    x: np.ndarray, qkv: np.ndarray, qkv_bias: np.ndarray,
    out: np.ndarray, out_bias: np.ndarray, n_heads: int,
    visible: np.ndarray | None = None, *, return_weights: Literal[True],
) -> tuple[np.ndarray, np.ndarray]: ...
# fmt: on
def attention(
    x: Float[np.ndarray, "*B T D"],
    qkv: Float[np.ndarray, "3*D D"],
    qkv_bias: Float[np.ndarray, "3*D"],
    out: Float[np.ndarray, "D D"],
    out_bias: Float[np.ndarray, "D"],
    n_heads: int,
    visible: Bool[np.ndarray, "*#B #T #T"] | None = None,
    return_weights: bool = False,
) -> (
    Float[np.ndarray, "*B T D"]
    | tuple[Float[np.ndarray, "*B T D"], Float[np.ndarray, "*B H T T"]]
):
    """Let each token gather from those it sees, in each head, and mix what they found.

    q, k, v = split(x · qkvᵀ + qkv_bias)
    y = merge(softmax(q · kᵀ / √K) · v) · outᵀ + out_bias

    Matrices are (out, in). The rows of qkv make the queries, then the keys, then the
    values; head h holds features h·K … (h+1)·K − 1 of each. visible is True where query
    t sees key s; without it every token sees every token. A query that sees no key
    gathers 0, and its y is out_bias. The weights, when asked for, come as
    (..., H, T, S) with S = T.

    Raises: ValueError for projections that do not fit, a D that n_heads does not
    divide, or a mask of the wrong shape; TypeError for a mask that is not boolean.
    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762,
    section 3.2.
    """
    require_attention(x, qkv, qkv_bias, out, out_bias, visible)
    q, k, v = (
        split_heads(part, n_heads)
        for part in np.split(x @ qkv.T + qkv_bias, 3, axis=-1)
    )
    weights = attention_weights(q, k, visible)
    y = merge_heads(weights @ v) @ out.T + out_bias
    return (y, weights) if return_weights else y


def scaled_dot_product_attention(
    q: Float[np.ndarray, "*B H T K"],
    k: Float[np.ndarray, "*B H S K"],
    v: Float[np.ndarray, "*B H S K"],
    visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
) -> Float[np.ndarray, "*B H T K"]:
    """Average the values each query sees, weighted by how well their keys match it.

    softmax(q · kᵀ / √K) · v

    One mask serves all heads. A query that sees no key gets 0.
    """
    return attention_weights(q, k, visible) @ v


def attention_weights(
    q: Float[np.ndarray, "*B H T K"],
    k: Float[np.ndarray, "*B H S K"],
    visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
) -> Float[np.ndarray, "*B H T S"]:
    """Share out each query's attention over the keys it sees.

    softmax(q · kᵀ / √K) over the keys

    √K keeps the scores of independent unit-variance features at variance 1, whatever
    the head width.
    """
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    return softmax(scores, None if visible is None else visible[..., None, :, :])


def softmax(
    scores: Float[np.ndarray, "*B S"], visible: Bool[np.ndarray, "*#B #S"] | None = None
) -> Float[np.ndarray, "*B S"]:
    """Turn scores into positive weights with sum 1; hidden entries get exactly 0.

    exp(score − max) / Σ exp(score − max) over the visible entries of the last axis

    Taking the largest score away changes no weight and keeps exp from overflowing.
    Where nothing is visible there is nothing to share out: all weights are 0.
    """
    if visible is not None:
        scores = np.where(visible, scores, -np.inf)
    peak = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    exponentials = np.exp(scores - np.where(peak == -np.inf, 0, peak))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def split_heads(
    x: Float[np.ndarray, "*B T D"], n_heads: int
) -> Float[np.ndarray, "*B H T K"]:
    """Cut each token's features into n_heads pieces; the heads go before the positions.

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
