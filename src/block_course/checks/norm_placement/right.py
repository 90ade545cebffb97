"""The right answers of 07_norm_placement, in float64, apart from the block itself."""

from __future__ import annotations

import numpy as np

from block_course.checks.block.forward_reference import reference as pre_block
from block_course.checks.norm_placement.post_reference import post_block
from block_course.exercise import Array

Table = dict[str, object]


def sandwich(
    x: Array, gain_in: Array, bias_in: Array, up: Array, down: Array, gain_out: Array, bias_out: Array
) -> Array:
    """Compute x + LN'(f(LN(x))) with f(n) = W₂ max(W₁n, 0)."""
    value = stream = x.astype(np.float64)
    for gain, bias, before in ((gain_in, bias_in, True), (gain_out, bias_out, False)):
        deviation = value - value.mean(axis=-1, keepdims=True)
        variance = np.square(deviation).mean(axis=-1, keepdims=True)
        value = gain.astype(np.float64) * deviation / np.sqrt(variance + 1e-5) + bias
        if before:
            value = np.maximum(0.0, value @ up.T.astype(np.float64)) @ down.T
    return np.asarray(stream + value)


def exponents(depths: Array, gradients: Array) -> Array:
    """The slope of each row's logarithm against that of the depth, by least squares."""
    x, y = np.log(depths), np.log(gradients.astype(np.float64))
    x = x - x.mean()
    return np.asarray((y @ x) / (x @ x))


def load(source: str, target: str, L: int) -> Table:
    """Count the names that differ, and say what comes of a block and of a stack of L."""
    in_a_block = {"pre": 12, "post": 12, "sandwich": 16}
    final = {"pre": 2, "post": 0, "sandwich": 2}
    more = in_a_block[target] - in_a_block[source]
    on_top = final[target] - final[source]
    fits = "same" if source == target else "other"
    return {
        "block": "error" if more else fits,
        "missing": L * max(more, 0) + max(on_top, 0),
        "unexpected": L * max(-more, 0) + max(-on_top, 0),
        "stack": "error" if more or on_top else fits,
    }


def differ(x: Array, n_heads: int, **parameters: Array) -> Table:
    """Where |pre − post| of one sequence is largest, and how large it is there."""
    apart = np.abs(pre_block(x, n_heads, **parameters) - post_block(x, n_heads, **parameters))
    token, feature = np.unravel_index(np.argmax(apart), x.shape)
    return {"largest": apart.max(), "token": int(token), "feature": int(feature)}
