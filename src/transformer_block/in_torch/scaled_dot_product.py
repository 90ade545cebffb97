"""Scaled dot-product attention: queries gather the values whose keys match them."""

import math

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from transformer_block._attention_invariants import require_groups
from transformer_block._invariants import require_visible, require_window
from transformer_block.in_torch import Saved
from transformer_block.in_torch.dropout import DropMask, dropout
from transformer_block.in_torch.masks import causal_mask


def scaled_dot_product_attention(
    q: Float[Tensor, "*B H T K"],
    k: Float[Tensor, "*B G S K"],
    v: Float[Tensor, "*B G S K"],
    visible: Bool[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    window: int | None = None,
    *,
    drop: DropMask | None = None,
    saved: Saved | None = None,
) -> Float[Tensor, "*B H T K"]:
    """Average the values that each query sees, weighted by how well their keys match.

    softmax(q · kᵀ / √K) · v

    With fewer heads of keys and values than of queries, H / G neighboring heads of
    queries share one. A query that sees no key gets 0. drop is a mask over the weights;
    saved receives the weights before it. Without the two, PyTorch's fused kernel never
    stores the weights.

    Raises: as attention_weights; ValueError for a mask of dropout of another shape.
    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762,
    equation 1; Ainslie et al., GQA, 2023, arXiv:2305.13245.
    """
    if drop is None and saved is None:
        return _fused(q, k, v, visible, causal, window)
    weights = attention_weights(q, k, visible, causal, window)
    if saved is not None:
        saved["weights"] = weights
    return dropout(weights, drop) @ _for_each_head(v, q)


def attention_weights(
    q: Float[Tensor, "*B H T K"],
    k: Float[Tensor, "*B G S K"],
    visible: Bool[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    window: int | None = None,
) -> Float[Tensor, "*B H T S"]:
    """Share out each query's attention over the keys it sees.

    softmax(q · kᵀ / √K) over the keys

    √K keeps the scores of independent unit-variance features at variance 1, whatever
    the head width. One mask serves all heads, and causal hides the future as well: the
    queries are the last T of the S positions, and a window leaves each the last so many
    keys.

    Raises: ValueError for heads that cannot share the keys, a mask of the wrong shape,
    or a window without causal; TypeError for a mask that is not boolean.
    """
    for_all_heads = _joined(q, k, visible, causal, window)
    keys = _for_each_head(k, q).transpose(-2, -1)
    return softmax(q @ keys / math.sqrt(q.shape[-1]), for_all_heads)


def softmax(
    scores: Float[Tensor, "*B S"], visible: Bool[Tensor, "*#B #S"] | None = None
) -> Float[Tensor, "*B S"]:
    """Turn scores into positive weights with sum 1; hidden entries get exactly 0.

    exp(score − max) / Σ exp(score − max) over the visible entries of the last axis

    Where nothing is visible there is nothing to share out: all weights are 0, and so
    are their gradients.
    """
    if visible is None:
        return scores.softmax(dim=-1)
    # A row of −inf alone has no softmax: it keeps its scores, and no NaN arises.
    sees_none = ~visible.any(dim=-1, keepdim=True)
    weights = scores.masked_fill(~(visible | sees_none), -math.inf).softmax(dim=-1)
    return weights.masked_fill(~visible, 0)


def _fused(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    visible: Tensor | None,
    causal: bool,
    window: int | None,
) -> Tensor:
    require_groups(q.shape[-3], k.shape[-3])
    # The kernel's own causal mask means what ours does only if queries are the keys.
    square = q.shape[-2] == k.shape[-2]
    by_kernel = causal and square and visible is None and window is None
    return functional.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=None if by_kernel else _joined(q, k, visible, causal, window),
        is_causal=by_kernel,
        enable_gqa=q.shape[-3] != k.shape[-3],
    )


def _joined(
    q: Tensor, k: Tensor, visible: Tensor | None, causal: bool, window: int | None
) -> Tensor | None:
    """What is visible in all heads, by the mask given and by the order of time."""
    require_window(window, causal)
    new, held = q.shape[-2], k.shape[-2]
    if visible is not None:
        require_visible(visible, (*q.shape[:-3], new, held))
    # One new token, behind a cache, sees all that is there.
    sees_all = new == 1 and (window is None or held <= window)
    if causal and not sees_all:
        past = causal_mask(new, held, window, device=q.device)
        visible = past if visible is None else visible & past
    return None if visible is None else visible.unsqueeze(-3)


def _for_each_head(shared: Tensor, q: Tensor) -> Tensor:
    """Keys or values (..., G, S, K), each repeated for the queries that share them."""
    n_heads, groups = q.shape[-3], shared.shape[-3]
    require_groups(n_heads, groups)
    if groups == n_heads:
        return shared
    return shared.repeat_interleave(n_heads // groups, dim=-3)
