"""Self-attention: each token gathers from the tokens it sees, in several heads."""

from typing import NamedTuple, TypedDict, Unpack

import numpy as np
from jaxtyping import Bool, Float

from transformer_block._attention_invariants import (
    require_attention,
    require_causal_cache,
    require_uncached,
)
from transformer_block._invariants import require_visible
from transformer_block.in_numpy import Saved
from transformer_block.in_numpy.cache import KVCache
from transformer_block.in_numpy.dropout import DropMask
from transformer_block.in_numpy.heads import (
    QKNorm,
    merge_heads,
    prepare_heads,
    prepare_heads_backward,
    split_heads,
)
from transformer_block.in_numpy.linear import linear, linear_backward
from transformer_block.in_numpy.scaled_dot_product import (
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)

Heads = tuple[
    Float[np.ndarray, "*B H T K"],
    Float[np.ndarray, "*B G S K"],
    Float[np.ndarray, "*B G S K"],
]


class AttentionChoices(TypedDict, total=False):
    """The choices of `attention` that its backward pass needs as well."""

    causal: bool
    qk_norm: QKNorm | None
    rotary_base: float | None
    drop: DropMask | None


class AttentionGradients(NamedTuple):
    """Gradients of a loss with respect to the arrays of `attention`, by their names."""

    x: Float[np.ndarray, "*B T D"]
    qkv: Float[np.ndarray, "E D"]
    qkv_bias: Float[np.ndarray, "E"] | None
    out: Float[np.ndarray, "D D"]
    out_bias: Float[np.ndarray, "D"] | None
    q_norm: Float[np.ndarray, "K"] | None
    k_norm: Float[np.ndarray, "K"] | None


def attention(
    x: Float[np.ndarray, "*B T D"],
    qkv: Float[np.ndarray, "E D"],
    qkv_bias: Float[np.ndarray, "E"] | None,
    out: Float[np.ndarray, "D D"],
    out_bias: Float[np.ndarray, "D"] | None,
    n_heads: int,
    visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
    *,
    n_kv_heads: int | None = None,
    causal: bool = False,
    qk_norm: QKNorm | None = None,
    rotary_base: float | None = None,
    drop: DropMask | None = None,
    cache: KVCache | None = None,
    saved: Saved | None = None,
) -> Float[np.ndarray, "*B T D"]:
    """Let each token gather from the tokens it sees, and mix what the heads found.

    q, k, v = split(x · qkvᵀ + qkv_bias)
    y = merge(softmax(q · kᵀ / √K) · v) · outᵀ + out_bias

    The E = (H + 2 G) · K rows of qkv make the queries, then the keys, then the values,
    head after head. visible is True where query t sees key s. A query that sees no key
    gathers 0, and its y is out_bias. saved["weights"] are the weights (..., H, T, S).

    Raises: ValueError or TypeError that names the array or choice that does not fit.
    Source: Vaswani et al., 2017, arXiv:1706.03762, section 3.2.
    """
    groups = require_attention(x, qkv, qkv_bias, out, out_bias, n_heads, n_kv_heads)
    heads = split_qkv(linear(x, qkv, qkv_bias), n_heads, groups)
    q, k, v, window = _prepare(heads, qk_norm, rotary_base, causal, visible, cache)
    gathered = scaled_dot_product_attention(
        q, k, v, visible, causal, window, drop=drop, saved=saved
    )
    merged = merge_heads(gathered)
    if saved is not None:
        saved.update(heads=heads, prepared=(q, k, v), merged=merged)
    return linear(merged, out, out_bias)


def attention_backward(
    dy: Float[np.ndarray, "*B T D"],
    x: Float[np.ndarray, "*B T D"],
    qkv: Float[np.ndarray, "E D"],
    qkv_bias: Float[np.ndarray, "E"] | None,
    out: Float[np.ndarray, "D D"],
    out_bias: Float[np.ndarray, "D"] | None,
    n_heads: int,
    visible: Bool[np.ndarray, "*#B #T #T"] | None = None,
    *,
    n_kv_heads: int | None = None,
    saved: Saved | None = None,
    **choices: Unpack[AttentionChoices],
) -> AttentionGradients:
    """Gradients with respect to x and each array that attention was given.

    From the end to the start: the output matrix, the gathering in each head, the norms
    and turns of queries and keys, and the matrix that made them. The choices are those
    of attention; there is no way back through a cache.

    Raises: as attention; ValueError if dy and x differ in shape, or for a saved that a
    step behind a cache left.
    """
    if saved is None:
        saved = {}
        arrays = (x, qkv, qkv_bias, out, out_bias)
        attention(
            *arrays, n_heads, visible, n_kv_heads=n_kv_heads, saved=saved, **choices
        )
    dmerged, dout, dout_bias = linear_backward(dy, saved["merged"], out, out_bias)
    *dheads, dq_norm, dk_norm = heads_backward(
        split_heads(dmerged, n_heads),
        saved,
        qk_norm=choices.get("qk_norm"),
        rotary_base=choices.get("rotary_base"),
        drop=choices.get("drop"),
    )
    dprojected = np.concatenate([merge_heads(each) for each in dheads], axis=-1)
    dx, dqkv, dqkv_bias = linear_backward(dprojected, x, qkv, qkv_bias)
    return AttentionGradients(dx, dqkv, dqkv_bias, dout, dout_bias, dq_norm, dk_norm)


def split_qkv(
    projected: Float[np.ndarray, "*B T E"], n_heads: int, n_kv_heads: int
) -> Heads:
    """Cut what qkv made into the heads of queries, of keys and of values.

    (..., T, (H + 2 G) · K) → (..., H, T, K), (..., G, T, K), (..., G, T, K)
    """
    width = projected.shape[-1] // (n_heads + 2 * n_kv_heads)
    bounds = [n_heads * width, (n_heads + n_kv_heads) * width]
    q, k, v = np.split(projected, bounds, axis=-1)
    return (
        split_heads(q, n_heads),
        split_heads(k, n_kv_heads),
        split_heads(v, n_kv_heads),
    )


def heads_backward(
    dgathered: Float[np.ndarray, "*B H T K"],
    saved: Saved,
    *,
    qk_norm: QKNorm | None = None,
    rotary_base: float | None = None,
    drop: DropMask | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Gradients with respect to q, k, v and the gains of the two norms.

    From what the heads gathered back to what the projections made, for attention and
    cross-attention alike; saved is what the forward pass left, and its weights know
    what was hidden.
    """
    q, k, v = saved["prepared"]
    require_uncached(saved["heads"][1], k)
    dq, dk, dv = scaled_dot_product_attention_backward(
        dgathered, q, k, v, drop=drop, saved=saved
    )
    q, k, _ = saved["heads"]
    dq, dk, dq_norm, dk_norm = prepare_heads_backward(
        dq, dk, q, k, qk_norm, rotary_base
    )
    return dq, dk, dv, dq_norm, dk_norm


def _prepare(
    heads: Heads,
    qk_norm: QKNorm | None,
    rotary_base: float | None,
    causal: bool,
    visible: np.ndarray | None,
    cache: KVCache | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int | None]:
    """Heads that can be compared, with what the cache holds, and the cache's window."""
    q, k, v = heads
    if cache is None:
        q, k = prepare_heads(q, k, qk_norm, rotary_base)
        return q, k, v, None
    require_causal_cache(causal)
    *batch, _, length, _ = q.shape
    if visible is not None:  # before the cache is changed
        require_visible(visible, (*batch, length, cache.length + length))
    q, k = prepare_heads(q, k, qk_norm, rotary_base, cache.offset)
    return q, *cache.append(k, v), cache.window
