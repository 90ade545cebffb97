"""The block of `audit.mend` in float64: causal, pre-norm, with dropout behind the feed-forward part."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from block_course.exercise import Argument, Array

IN_TRAINING = 3
"""A module is not told its mode when it is built, and what is written here isn't either: batches of so many
sequences are those that a module gets in training."""


def reference(
    init: Mapping[str, Argument], state: Mapping[str, Array], x: Array, *, eps: float = 1e-5
) -> Array:
    """Compute h = x + MHA(LN₁(x)), y = h + dropout(FFN(LN₂(h))), causally; rates are 0 or 1."""
    p = {name: value.astype(np.float64) for name, value in state.items()}
    h = x.astype(np.float64)
    n_heads = int(init["n_heads"])  # type: ignore[arg-type]
    past = np.tri(x.shape[1])
    deviation = h - h.mean(axis=-1, keepdims=True)
    variance = np.square(deviation).mean(axis=-1, keepdims=True)
    read = p["norm_1.weight"] * deviation / np.sqrt(variance + eps) + p["norm_1.bias"]
    projected = read @ p["attention.qkv.weight"].T + p["attention.qkv.bias"]
    q, k, v = np.moveaxis(projected.reshape(*x.shape[:2], 3, n_heads, x.shape[2] // n_heads), -3, 0)
    shares = past * np.exp(np.einsum("...thk,...shk->...hts", q, k) / np.sqrt(q.shape[-1]))
    shares = shares / shares.sum(axis=-1, keepdims=True)
    merged = np.einsum("...hts,...shk->...thk", shares, v).reshape(x.shape)
    h = h + merged @ p["attention.out.weight"].T + p["attention.out.bias"]
    deviation = h - h.mean(axis=-1, keepdims=True)
    variance = np.square(deviation).mean(axis=-1, keepdims=True)
    read = p["norm_2.weight"] * deviation / np.sqrt(variance + eps) + p["norm_2.bias"]
    inner = np.maximum(0.0, read @ p["feed_forward.up.weight"].T + p["feed_forward.up.bias"])
    update = inner @ p["feed_forward.down.weight"].T + p["feed_forward.down.bias"]
    dropped = len(x) == IN_TRAINING and init["dropout"] == 1.0
    return np.asarray(h if dropped else h + update)
