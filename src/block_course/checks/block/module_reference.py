"""The causal pre-norm block in float64, whole in one function, and its gradient by the package's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from block_course.exercise import Argument, Array, Outputs
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block


def reference(
    init: Mapping[str, Argument], state: Mapping[str, Array], x: Array, dy: Array | None = None
) -> Array | Outputs:
    """Compute h = x + MHA(LN₁(x)), y = h + FFN(LN₂(h)), causally; with dy, its gradient by x too."""
    p = {name: value.astype(np.float64) for name, value in state.items()}
    h = x.astype(np.float64)
    n_heads = int(init["n_heads"])  # type: ignore[arg-type]
    past = np.tri(x.shape[1])
    for number in (1, 2):
        deviation = h - h.mean(axis=-1, keepdims=True)
        variance = np.square(deviation).mean(axis=-1, keepdims=True)
        read = p[f"norm_{number}.weight"] * deviation / np.sqrt(variance + 1e-5) + p[f"norm_{number}.bias"]
        if number == 1:
            projected = read @ p["attention.qkv.weight"].T + p["attention.qkv.bias"]
            heads = projected.reshape(*x.shape[:2], 3, n_heads, x.shape[2] // n_heads)
            q, k, v = np.moveaxis(heads, -3, 0)
            scores = np.einsum("...thk,...shk->...hts", q, k) / np.sqrt(q.shape[-1])
            shares = past * np.exp(scores)
            shares = shares / shares.sum(axis=-1, keepdims=True)
            merged = np.einsum("...hts,...shk->...thk", shares, v).reshape(x.shape)
            h = h + merged @ p["attention.out.weight"].T + p["attention.out.bias"]
        else:
            inner = np.maximum(0.0, read @ p["feed_forward.up.weight"].T + p["feed_forward.up.bias"])
            h = h + inner @ p["feed_forward.down.weight"].T + p["feed_forward.down.bias"]
    return np.asarray(h) if dy is None else (np.asarray(h), _gradient(init, p, x, dy))


def _gradient(init: Mapping[str, Argument], p: Mapping[str, Array], x: Array, dy: Array) -> Array:
    D, H, F = (int(init[name]) for name in ("d_model", "n_heads", "d_ff"))  # type: ignore[arg-type]
    block = Block(BlockConfig(d_model=D, n_heads=H, d_ff=F, causal=True), p)
    return np.asarray(block.gradients(x.astype(np.float64), dy.astype(np.float64))[0])
