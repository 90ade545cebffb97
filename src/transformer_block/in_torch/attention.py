"""Multi-head attention: each token gathers from those it sees, in several heads."""

import math
from typing import Literal, overload

from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from transformer_block._invariants import require_attention, require_divisible


# fmt: off
@overload
def attention(
    x: Tensor, qkv: Tensor, qkv_bias: Tensor, out: Tensor, out_bias: Tensor,
    n_heads: int,
    visible: Tensor | None = None, return_weights: Literal[False] = False,
) -> Tensor: ...
@overload
def attention(
    x: Tensor, qkv: Tensor, qkv_bias: Tensor, out: Tensor, out_bias: Tensor,
    n_heads: int,
    visible: Tensor | None = None, *, return_weights: Literal[True],
) -> tuple[Tensor, Tensor]: ...
# fmt: on
def attention(
    x: Float[Tensor, "*B T D"],
    qkv: Float[Tensor, "3*D D"],
    qkv_bias: Float[Tensor, "3*D"],
    out: Float[Tensor, "D D"],
    out_bias: Float[Tensor, "D"],
    n_heads: int,
    visible: Bool[Tensor, "*#B #T #T"] | None = None,
    return_weights: bool = False,
) -> (
    Float[Tensor, "*B T D"] | tuple[Float[Tensor, "*B T D"], Float[Tensor, "*B H T T"]]
):
    """Let each token gather from those it sees, in each head, and mix what they found.

    q, k, v = split(x · qkvᵀ + qkv_bias)
    y = merge(softmax(q · kᵀ / √K) · v) · outᵀ + out_bias

    Matrices are (out, in). The rows of qkv make the queries, then the keys, then the
    values; head h holds features h·K … (h+1)·K − 1 of each. visible is True where query
    t sees key s; without it every token sees every token. A query that sees no key
    gathers 0, and its y is out_bias. The weights, when asked for, come as
    (..., H, T, S) with S = T; the path that forms them is slower.

    Raises: ValueError for projections that do not fit, a D that n_heads does not
    divide, or a mask of the wrong shape; TypeError for a mask that is not boolean.
    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762,
    section 3.2.
    """
    require_attention(x, qkv, qkv_bias, out, out_bias, visible)
    q, k, v = (
        split_heads(part, n_heads)
        for part in functional.linear(x, qkv, qkv_bias).chunk(3, dim=-1)
    )
    if not return_weights:
        gathered = scaled_dot_product_attention(q, k, v, visible)
        return functional.linear(merge_heads(gathered), out, out_bias)
    weights = attention_weights(q, k, visible)
    return functional.linear(merge_heads(weights @ v), out, out_bias), weights


def scaled_dot_product_attention(
    q: Float[Tensor, "*B H T K"],
    k: Float[Tensor, "*B H S K"],
    v: Float[Tensor, "*B H S K"],
    visible: Bool[Tensor, "*#B #T #S"] | None = None,
) -> Float[Tensor, "*B H T K"]:
    """Average the values each query sees, weighted by how well their keys match it.

    softmax(q · kᵀ / √K) · v

    One mask serves all heads. A query that sees no key gets 0. PyTorch's fused kernel
    never stores the weights.
    """
    return functional.scaled_dot_product_attention(
        q, k, v, attn_mask=_for_all_heads(visible)
    )


def attention_weights(
    q: Float[Tensor, "*B H T K"],
    k: Float[Tensor, "*B H S K"],
    visible: Bool[Tensor, "*#B #T #S"] | None = None,
) -> Float[Tensor, "*B H T S"]:
    """Share out each query's attention over the keys it sees.

    softmax(q · kᵀ / √K) over the keys

    √K keeps the scores of independent unit-variance features at variance 1, whatever
    the head width.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return softmax(scores, _for_all_heads(visible))


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
    # A row of −inf alone has no softmax: it keeps its scores, so that no NaN arises,
    # and loses its weights afterwards.
    sees_none = ~visible.any(dim=-1, keepdim=True)
    weights = scores.masked_fill(~(visible | sees_none), -math.inf).softmax(dim=-1)
    return weights.masked_fill(~visible, 0)


def split_heads(x: Float[Tensor, "*B T D"], n_heads: int) -> Float[Tensor, "*B H T K"]:
    """Cut each token's features into n_heads pieces; the heads go before the positions.

    (..., T, D) → (..., H, T, K) with K = D / H

    Raises: ValueError for a D that n_heads does not divide.
    """
    require_divisible(x.shape[-1], n_heads)
    return x.view(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).transpose(-3, -2)


def merge_heads(x: Float[Tensor, "*B H T K"]) -> Float[Tensor, "*B T D"]:
    """Lay the heads of each token side by side again: the inverse of split_heads.

    (..., H, T, K) → (..., T, D)
    """
    return x.transpose(-3, -2).flatten(-2)


def _for_all_heads(visible: Tensor | None) -> Tensor | None:
    return None if visible is None else visible.unsqueeze(-3)


class Attention(nn.Module):
    """attention with projections of its own: `qkv` (3D, D) and `out` (D, D)."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        require_divisible(d_model, n_heads)
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(
        self,
        x: Float[Tensor, "*B T D"],
        visible: Bool[Tensor, "*#B #T #T"] | None = None,
    ) -> Float[Tensor, "*B T D"]:
        """attention(x, qkv, out, n_heads, visible)."""
        qkv, out = self.qkv, self.out
        return attention(
            x, qkv.weight, qkv.bias, out.weight, out.bias, self.n_heads, visible
        )
