"""Scaled dot-product attention: queries gather the values whose keys match them."""

import math

import numpy as np
from jaxtyping import Bool, Float

from transformer_block._attention_invariants import require_groups
from transformer_block._invariants import require_shape, require_visible, require_window
from transformer_block.in_numpy import Saved
from transformer_block.in_numpy.dropout import DropMask, dropout, dropout_backward
from transformer_block.in_numpy.masks import causal_mask


def scaled_dot_product_attention(
    q: Float[np.ndarray, "*B H T K"],
    k: Float[np.ndarray, "*B G S K"],
    v: Float[np.ndarray, "*B G S K"],
    visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
    causal: bool = False,
    window: int | None = None,
    *,
    drop: DropMask | None = None,
    saved: Saved | None = None,
) -> Float[np.ndarray, "*B H T K"]:
    """Average the values that each query sees, weighted by how well their keys match.

    softmax(q · kᵀ / √K) · v

    With fewer heads of keys and values than of queries, H / G neighboring heads of
    queries share one. A query that sees no key gets 0. drop is a mask over the weights;
    saved receives the weights before it.

    Raises: as attention_weights; ValueError for a mask of dropout of another shape.
    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762,
    equation 1; Ainslie et al., GQA, 2023, arXiv:2305.13245.
    """
    weights = attention_weights(q, k, visible, causal, window)
    if saved is not None:
        saved["weights"] = weights
    gathered = _by_group(dropout(weights, drop), v) @ v[..., None, :, :]
    return gathered.reshape(*q.shape[:-1], v.shape[-1])


def scaled_dot_product_attention_backward(
    dy: Float[np.ndarray, "*B H T K"],
    q: Float[np.ndarray, "*B H T K"],
    k: Float[np.ndarray, "*B G S K"],
    v: Float[np.ndarray, "*B G S K"],
    visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
    causal: bool = False,
    window: int | None = None,
    *,
    drop: DropMask | None = None,
    saved: Saved | None = None,
) -> tuple[
    Float[np.ndarray, "*B H T K"],
    Float[np.ndarray, "*B G S K"],
    Float[np.ndarray, "*B G S K"],
]:
    """Gradients with respect to q, k and v.

    With w the weights and s = q · kᵀ / √K:
    dv = wᵀ · dy,  dw = dy · vᵀ,  dq = ds · k / √K,  dk = dsᵀ · q / √K

    A key or value that several heads share gets the sum of their gradients.
    """
    require_shape("dy", dy, q.shape)
    if saved is None:
        saved = {"weights": attention_weights(q, k, visible, causal, window)}
    weights = saved["weights"]
    dy = _by_group(dy, v)
    dv = (_by_group(dropout(weights, drop), v).swapaxes(-2, -1) @ dy).sum(axis=-3)
    dweights = (dy @ v[..., None, :, :].swapaxes(-2, -1)).reshape(weights.shape)
    dscores = softmax_backward(dropout_backward(dweights, drop), weights)
    dscores = _by_group(dscores, k) / math.sqrt(q.shape[-1])
    dq = (dscores @ k[..., None, :, :]).reshape(q.shape)
    dk = (dscores.swapaxes(-2, -1) @ _by_group(q, k)).sum(axis=-3)
    return dq, dk, dv


def attention_weights(
    q: Float[np.ndarray, "*B H T K"],
    k: Float[np.ndarray, "*B G S K"],
    visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
    causal: bool = False,
    window: int | None = None,
) -> Float[np.ndarray, "*B H T S"]:
    """Share out each query's attention over the keys it sees.

    softmax(q · kᵀ / √K) over the keys

    √K keeps the scores of independent unit-variance features at variance 1, whatever
    the head width. One mask serves all heads, and causal hides the future as well: the
    queries are the last T of the S positions, and a window leaves each the last so many
    keys.

    Raises: ValueError for heads that cannot share the keys, a mask of the wrong shape,
    or a window without causal; TypeError for a mask that is not boolean.
    """
    require_window(window, causal)
    *batch, n_heads, T, width = q.shape
    S = k.shape[-2]
    if visible is not None:
        require_visible(visible, (*batch, T, S))
    if causal:
        past = causal_mask(T, S, window)
        visible = past if visible is None else visible & past
    for_all_heads = None if visible is None else visible[..., None, :, :]
    scores = _by_group(q / math.sqrt(width), k) @ k[..., None, :, :].swapaxes(-2, -1)
    return softmax(scores.reshape(*batch, n_heads, T, S), for_all_heads)


def softmax(
    scores: Float[np.ndarray, "*B S"], visible: Bool[np.ndarray, "*#B #S"] | None = None
) -> Float[np.ndarray, "*B S"]:
    """Turn scores into positive weights with sum 1; hidden entries get exactly 0.

    exp(score − max) / Σ exp(score − max) over the visible entries of the last axis

    Taking the largest score away changes no weight and keeps exp from overflowing.
    Where nothing is visible there is nothing to share out: all weights are 0.
    """
    if visible is not None:
        scores = np.where(visible, scores, scores.dtype.type(-np.inf))
    peak = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    weights = scores - np.where(peak == -np.inf, 0, peak)
    np.exp(weights, out=weights)
    total = weights.sum(axis=-1, keepdims=True)
    weights /= np.where(total == 0, 1, total)
    return weights


def softmax_backward(
    dy: Float[np.ndarray, "*B S"], weights: Float[np.ndarray, "*B S"]
) -> Float[np.ndarray, "*B S"]:
    """Gradient with respect to the scores, from the weights that softmax returned.

    ds = w ⊙ (dy − Σ dy · w)

    Weights that sum to 1 cannot all grow: the mean that they give dy is taken away. A
    hidden score has the weight 0, and so the gradient 0.
    """
    shared = weights * dy
    return shared - weights * shared.sum(axis=-1, keepdims=True)


def _by_group(x: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """The heads (..., H, T, ·) of x as (..., G, H/G, T, ·), as keys are shared."""
    *batch, n_heads, length, width = x.shape
    groups = shared.shape[-3]
    require_groups(n_heads, groups)
    return x.reshape(*batch, groups, n_heads // groups, length, width)
