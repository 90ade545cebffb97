"""Self-attention: each token gathers from the tokens it sees, in several heads."""

from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from transformer_block._attention_invariants import (
    require_attention,
    require_causal_cache,
    require_heads,
)
from transformer_block._invariants import require_visible
from transformer_block.in_torch import Saved
from transformer_block.in_torch.cache import KVCache
from transformer_block.in_torch.dropout import DropMask, Dropout
from transformer_block.in_torch.heads import (
    Gain,
    QKNorm,
    merge_heads,
    prepare_heads,
    split_heads,
)
from transformer_block.in_torch.scaled_dot_product import scaled_dot_product_attention

Heads = tuple[
    Float[Tensor, "*B H T K"], Float[Tensor, "*B G S K"], Float[Tensor, "*B G S K"]
]


def attention(
    x: Float[Tensor, "*B T D"],
    qkv: Float[Tensor, "E D"],
    qkv_bias: Float[Tensor, "E"] | None,
    out: Float[Tensor, "D D"],
    out_bias: Float[Tensor, "D"] | None,
    n_heads: int,
    visible: Bool[Tensor, "*#B #T #S"] | None = None,
    *,
    n_kv_heads: int | None = None,
    causal: bool = False,
    qk_norm: QKNorm | None = None,
    rotary_base: float | None = None,
    drop: DropMask | None = None,
    cache: KVCache | None = None,
    saved: Saved | None = None,
) -> Float[Tensor, "*B T D"]:
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
    heads = split_qkv(functional.linear(x, qkv, qkv_bias), n_heads, groups)
    q, k, v, window = _prepare(heads, qk_norm, rotary_base, causal, visible, cache)
    gathered = scaled_dot_product_attention(
        q, k, v, visible, causal, window, drop=drop, saved=saved
    )
    return functional.linear(merge_heads(gathered), out, out_bias)


def split_qkv(
    projected: Float[Tensor, "*B T E"], n_heads: int, n_kv_heads: int
) -> Heads:
    """Cut what qkv made into the heads of queries, of keys and of values.

    (..., T, (H + 2 G) · K) → (..., H, T, K), (..., G, T, K), (..., G, T, K)
    """
    width = projected.shape[-1] // (n_heads + 2 * n_kv_heads)
    widths = [n_heads * width, n_kv_heads * width, n_kv_heads * width]
    q, k, v = projected.split_with_sizes(widths, dim=-1)
    return (
        split_heads(q, n_heads),
        split_heads(k, n_kv_heads),
        split_heads(v, n_kv_heads),
    )


def _prepare(
    heads: Heads,
    qk_norm: QKNorm | None,
    rotary_base: float | None,
    causal: bool,
    visible: Tensor | None,
    cache: KVCache | None,
) -> tuple[Tensor, Tensor, Tensor, int | None]:
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


class Attention(nn.Module):
    """attention with projections of its own: `qkv` ((H + 2 G) · K, D) and `out` (D, D).

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
        causal: bool = False,
        qk_norm: bool = False,
        eps: float = 1e-5,
        rotary_base: float | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        groups = require_heads(d_model, n_heads, n_kv_heads)
        width = d_model // n_heads
        self.n_heads, self.n_kv_heads = n_heads, groups
        self.causal, self.rotary_base = causal, rotary_base
        self.qk_norm, self.eps = qk_norm, eps
        self.qkv = nn.Linear(d_model, d_model + 2 * groups * width, bias=bias)
        self.out = nn.Linear(d_model, d_model, bias=bias)
        if qk_norm:
            self.q_norm, self.k_norm = Gain(width), Gain(width)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "*B T D"],
        visible: Bool[Tensor, "*#B #T #S"] | None = None,
        cache: KVCache | None = None,
        saved: Saved | None = None,
    ) -> Float[Tensor, "*B T D"]:
        """attention(x, qkv, out, visible) with the choices that were made."""
        qkv, out = self.qkv, self.out
        *batch, T, _ = x.shape
        S = T if cache is None else cache.length + T
        gains = None
        if self.qk_norm:
            gains = QKNorm(self.q_norm.weight, self.k_norm.weight, self.eps)
        return attention(
            x,
            *(qkv.weight, qkv.bias, out.weight, out.bias),
            self.n_heads,
            visible,
            n_kv_heads=self.n_kv_heads,
            causal=self.causal,
            qk_norm=gains,
            rotary_base=self.rotary_base,
            drop=self.dropout.draw((*batch, self.n_heads, T, S), x.device),
            cache=cache,
            saved=saved,
        )
