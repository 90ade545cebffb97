"""Cross-attention: each token gathers from the tokens of another sequence."""

from typing import NamedTuple, TypedDict, Unpack

import numpy as np
from jaxtyping import Bool, Float

from transformer_block._attention_invariants import require_cross_attention
from transformer_block.in_numpy import Saved
from transformer_block.in_numpy.attention import heads_backward
from transformer_block.in_numpy.dropout import DropMask
from transformer_block.in_numpy.heads import (
    QKNorm,
    merge_heads,
    prepare_heads,
    split_heads,
)
from transformer_block.in_numpy.linear import linear, linear_backward
from transformer_block.in_numpy.scaled_dot_product import (
    scaled_dot_product_attention,
)


class CrossAttentionChoices(TypedDict, total=False):
    """The choices of `cross_attention` that its backward pass needs as well."""

    qk_norm: QKNorm | None
    drop: DropMask | None


class CrossAttentionGradients(NamedTuple):
    """Gradients with respect to the arrays of `cross_attention`, by their names."""

    x: Float[np.ndarray, "*B T D"]
    memory: Float[np.ndarray, "*B S D"]
    q: Float[np.ndarray, "D D"]
    q_bias: Float[np.ndarray, "D"] | None
    kv: Float[np.ndarray, "E D"]
    kv_bias: Float[np.ndarray, "E"] | None
    out: Float[np.ndarray, "D D"]
    out_bias: Float[np.ndarray, "D"] | None
    q_norm: Float[np.ndarray, "K"] | None
    k_norm: Float[np.ndarray, "K"] | None


def cross_attention(
    x: Float[np.ndarray, "*B T D"],
    memory: Float[np.ndarray, "*B S D"],
    q: Float[np.ndarray, "D D"],
    q_bias: Float[np.ndarray, "D"] | None,
    kv: Float[np.ndarray, "E D"],
    kv_bias: Float[np.ndarray, "E"] | None,
    out: Float[np.ndarray, "D D"],
    out_bias: Float[np.ndarray, "D"] | None,
    n_heads: int,
    visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
    *,
    n_kv_heads: int | None = None,
    qk_norm: QKNorm | None = None,
    drop: DropMask | None = None,
    saved: Saved | None = None,
) -> Float[np.ndarray, "*B T D"]:
    """Let each token of x gather from the tokens of the memory, in several heads.

    attention with q = split(x · qᵀ + q_bias) and k, v = split(memory · kvᵀ + kv_bias)

    The E = 2 G · K rows of kv make the keys, then the values. visible hides the padding
    of the memory; nothing in it lies in the future. saved is that of attention.

    Raises: ValueError or TypeError that names the array or choice that does not fit.
    Source: Vaswani et al., 2017, arXiv:1706.03762, section 3.2.3.
    """
    groups = require_cross_attention(
        x, memory, q, q_bias, kv, kv_bias, out, out_bias, n_heads, n_kv_heads
    )
    keys, values = np.split(linear(memory, kv, kv_bias), 2, axis=-1)
    queries = split_heads(linear(x, q, q_bias), n_heads)
    heads = queries, split_heads(keys, groups), split_heads(values, groups)
    prepared = (*prepare_heads(*heads[:2], qk_norm), heads[2])
    gathered = scaled_dot_product_attention(*prepared, visible, drop=drop, saved=saved)
    merged = merge_heads(gathered)
    if saved is not None:
        saved.update(heads=heads, prepared=prepared, merged=merged)
    return linear(merged, out, out_bias)


def cross_attention_backward(
    dy: Float[np.ndarray, "*B T D"],
    x: Float[np.ndarray, "*B T D"],
    memory: Float[np.ndarray, "*B S D"],
    q: Float[np.ndarray, "D D"],
    q_bias: Float[np.ndarray, "D"] | None,
    kv: Float[np.ndarray, "E D"],
    kv_bias: Float[np.ndarray, "E"] | None,
    out: Float[np.ndarray, "D D"],
    out_bias: Float[np.ndarray, "D"] | None,
    n_heads: int,
    visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
    *,
    n_kv_heads: int | None = None,
    saved: Saved | None = None,
    **choices: Unpack[CrossAttentionChoices],
) -> CrossAttentionGradients:
    """Gradients with respect to x, the memory and each array that was given.

    As attention_backward; what the keys and values get flows into the memory.

    Raises: as cross_attention; ValueError if dy and x differ in shape.
    """
    if saved is None:
        saved = {}
        arrays = (x, memory, q, q_bias, kv, kv_bias, out, out_bias)
        cross_attention(
            *arrays, n_heads, visible, n_kv_heads=n_kv_heads, saved=saved, **choices
        )
    dmerged, dout, dout_bias = linear_backward(dy, saved["merged"], out, out_bias)
    dgathered = split_heads(dmerged, n_heads)
    *dheads, dq_norm, dk_norm = heads_backward(dgathered, saved, **choices)
    dqueries, dkeys, dvalues = (merge_heads(each) for each in dheads)
    dx, dq, dq_bias = linear_backward(dqueries, x, q, q_bias)
    dpairs = np.concatenate([dkeys, dvalues], axis=-1)
    dmemory, dkv, dkv_bias = linear_backward(dpairs, memory, kv, kv_bias)
    return CrossAttentionGradients(
        dx, dmemory, dq, dq_bias, dkv, dkv_bias, dout, dout_bias, dq_norm, dk_norm
    )
