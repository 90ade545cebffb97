"""Cross-attention: each token gathers from the tokens of another sequence."""

from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from transformer_block._attention_invariants import (
    require_cross_attention,
    require_heads,
)
from transformer_block.in_torch import Saved
from transformer_block.in_torch.dropout import DropMask, Dropout
from transformer_block.in_torch.heads import (
    Gain,
    QKNorm,
    merge_heads,
    prepare_heads,
    split_heads,
)
from transformer_block.in_torch.scaled_dot_product import scaled_dot_product_attention


def cross_attention(
    x: Float[Tensor, "*B T D"],
    memory: Float[Tensor, "*B S D"],
    q: Float[Tensor, "D D"],
    q_bias: Float[Tensor, "D"] | None,
    kv: Float[Tensor, "E D"],
    kv_bias: Float[Tensor, "E"] | None,
    out: Float[Tensor, "D D"],
    out_bias: Float[Tensor, "D"] | None,
    n_heads: int,
    visible: Bool[Tensor, "*#B #T #S"] | None = None,
    *,
    n_kv_heads: int | None = None,
    qk_norm: QKNorm | None = None,
    drop: DropMask | None = None,
    saved: Saved | None = None,
) -> Float[Tensor, "*B T D"]:
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
    queries = split_heads(functional.linear(x, q, q_bias), n_heads)
    keys, values = functional.linear(memory, kv, kv_bias).chunk(2, dim=-1)
    queries, keys = prepare_heads(queries, split_heads(keys, groups), qk_norm)
    gathered = scaled_dot_product_attention(
        queries, keys, split_heads(values, groups), visible, drop=drop, saved=saved
    )
    return functional.linear(merge_heads(gathered), out, out_bias)


class CrossAttention(nn.Module):
    """cross_attention with projections of its own: `q`, `kv` (2 G · K, D) and `out`.

    With qk_norm there are also the gains `q_norm` and `k_norm` (K,). dropout is the
    rate at which weights are dropped in training.
    """

    q_norm: Gain
    k_norm: Gain

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        bias: bool = True,
        qk_norm: bool = False,
        eps: float = 1e-5,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        groups = require_heads(d_model, n_heads, n_kv_heads)
        width = d_model // n_heads
        self.n_heads, self.n_kv_heads = n_heads, groups
        self.qk_norm, self.eps = qk_norm, eps
        self.q = nn.Linear(d_model, d_model, bias=bias)
        self.kv = nn.Linear(d_model, 2 * groups * width, bias=bias)
        self.out = nn.Linear(d_model, d_model, bias=bias)
        if qk_norm:
            self.q_norm, self.k_norm = Gain(width), Gain(width)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "*B T D"],
        memory: Float[Tensor, "*B S D"],
        visible: Bool[Tensor, "*#B #T #S"] | None = None,
        saved: Saved | None = None,
    ) -> Float[Tensor, "*B T D"]:
        """cross_attention(x, memory, q, kv, out, visible) with the choices made."""
        q, kv, out = self.q, self.kv, self.out
        *batch, T, _ = x.shape
        weights = (*batch, self.n_heads, T, memory.shape[-2])
        gains = None
        if self.qk_norm:
            gains = QKNorm(self.q_norm.weight, self.k_norm.weight, self.eps)
        return cross_attention(
            x,
            memory,
            *(q.weight, q.bias, kv.weight, kv.bias, out.weight, out.bias),
            self.n_heads,
            visible,
            n_kv_heads=self.n_kv_heads,
            qk_norm=gains,
            drop=self.dropout.draw(weights, x.device),
            saved=saved,
        )
