"""Multi-head attention with one part exchanged: what the known wrong ones are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_course.exercise import Array

Cut = Callable[[Array, int], tuple[Array, Array, Array]]
Merge = Callable[[Array], Array]
Softmax = Callable[[Array], Array]


def softmax_over(*axis: int) -> Softmax:
    """Shares that sum to 1 over the given axes of scores (..., H, T, S)."""

    def softmax(scores: Array) -> Array:
        shares = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return np.asarray(shares / shares.sum(axis=axis, keepdims=True))

    return softmax


over_keys = softmax_over(-1)


def split(x: Array, n_heads: int) -> Array:
    """(..., T, D) → (..., H, T, K)."""
    return x.reshape(*x.shape[:-1], n_heads, -1).swapaxes(-2, -3)


def merge(z: Array) -> Array:
    """(..., H, T, K) → (..., T, D)."""
    return _flat(z.swapaxes(-2, -3), z)


def bare_merge(z: Array) -> Array:
    """A reshape without the swap of axes."""
    return _flat(z, z)


def interleaved_merge(z: Array) -> Array:
    """Head after head within each feature: (..., T, K, H) laid flat."""
    return _flat(np.moveaxis(z, -3, -1), z)


def _flat(z: Array, heads: Array) -> Array:
    *batch, H, T, K = heads.shape
    return z.reshape(*batch, T, H * K)


def cut(projected: Array, n_heads: int) -> tuple[Array, Array, Array]:
    """Queries, keys and values, then heads."""
    q, k, v = (split(each, n_heads) for each in np.split(projected, 3, axis=-1))
    return q, k, v


def heads_first(projected: Array, n_heads: int) -> tuple[Array, Array, Array]:
    """Heads, then queries, keys and values within each."""
    q, k, v = np.split(split(projected, n_heads), 3, axis=-1)
    return q, k, v


def bare_cut(projected: Array, n_heads: int) -> tuple[Array, Array, Array]:
    """Queries, keys and values, each reshaped to (..., H, T, K) as it lies."""
    *batch, T, _ = projected.shape
    parts = np.split(projected, 3, axis=-1)
    q, k, v = (each.reshape(*batch, n_heads, T, -1) for each in parts)
    return q, k, v


def keys_first(projected: Array, n_heads: int) -> tuple[Array, Array, Array]:
    """Keys in the place of queries."""
    q, k, v = cut(projected, n_heads)
    return k, q, v


def attention(
    x: Array,
    qkv: Array,
    qkv_bias: Array,
    out: Array,
    out_bias: Array,
    n_heads: int,
    *,
    cut: Cut = cut,
    root_of: Callable[[int, int], float] = lambda K, D: K,
    softmax: Softmax = over_keys,
    merge: Merge = merge,
) -> Array:
    """The right one, unless a part is exchanged: scores are divided by the root of `root_of(K, D)`."""
    q, k, v = cut(x @ qkv.T + qkv_bias, n_heads)
    scores = q @ k.swapaxes(-1, -2) / float(root_of(q.shape[-1], x.shape[-1])) ** 0.5
    return np.asarray(merge(softmax(scores) @ v) @ out.T + out_bias)
