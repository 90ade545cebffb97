"""The block of `audit.post_in_pre` with its choices left open, in float64."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from block_course.exercise import Array


def block(
    x: Array,
    n_heads: int,
    p: Mapping[str, Array],
    *,
    placement: str,
    eps: float = 1e-5,
    causal: bool = False,
) -> Array:
    """A block of tokens (B, T, D) whose norms stand before the branches, after the adds, or nearly so.

    "half" is a post-norm block without its second norm, "inner" has its norms on the updates.
    """
    p = {name: np.asarray(value, np.float64) for name, value in p.items()}

    def norm(x: Array, number: int) -> Array:
        deviation = x - x.mean(-1, keepdims=True)
        normal = deviation / np.sqrt(np.square(deviation).mean(-1, keepdims=True) + eps)
        return np.asarray(normal * p[f"norm_{number}.weight"] + p[f"norm_{number}.bias"])

    def attention(x: Array) -> Array:
        return _attention(x, n_heads, p, causal)

    def feed_forward(x: Array) -> Array:
        inner = np.maximum(x @ p["feed_forward.up.weight"].T + p["feed_forward.up.bias"], 0.0)
        return np.asarray(inner @ p["feed_forward.down.weight"].T + p["feed_forward.down.bias"])

    x = np.asarray(x, np.float64)
    if placement == "pre":
        h = x + attention(norm(x, 1))
        return np.asarray(h + feed_forward(norm(h, 2)))
    if placement == "inner":
        h = x + norm(attention(x), 1)
        return np.asarray(h + norm(feed_forward(h), 2))
    h = norm(x + attention(x), 1)
    y = np.asarray(h + feed_forward(h))
    return y if placement == "half" else norm(y, 2)


def _attention(x: Array, n_heads: int, p: Mapping[str, Array], causal: bool) -> Array:
    projected = x @ p["attention.qkv.weight"].T + p["attention.qkv.bias"]
    q, k, v = np.moveaxis(projected.reshape(*x.shape[:-1], 3, n_heads, -1), -3, 0)
    scores = np.einsum("bthk,bshk->bhts", q, k) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(x.shape[1], dtype=bool), scores, -np.inf)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    merged = np.einsum("bhts,bshk->bthk", shares / shares.sum(-1, keepdims=True), v).reshape(x.shape)
    return np.asarray(merged @ p["attention.out.weight"].T + p["attention.out.bias"])
