"""A small block that is right, cut so that each of its steps can be replaced."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from transformer_block.config import BlockConfig
from transformer_block.in_torch.positions import rotary
from transformer_block.in_torch.scaled_dot_product import softmax

CONFIG = BlockConfig(d_model=24, n_heads=3, d_ff=40, causal=True)
"""What Block is, and what all the broken ones were meant to be."""


class Norm(nn.Module):
    """Layer norm, step by step."""

    def __init__(self, eps: float = CONFIG.eps) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(CONFIG.d_model))
        self.bias = nn.Parameter(torch.zeros(CONFIG.d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Standardize each token, then give it the gain and the bias."""
        return self.weight * self.standardized(x) + self.bias

    def standardized(self, x: Tensor) -> Tensor:
        """(x − mean) / √(variance + eps) over the features of each token."""
        centered = x - x.mean(-1, keepdim=True)
        variance = centered.square().mean(-1, keepdim=True)
        return centered / (variance + self.eps).sqrt()


class Attention(nn.Module):
    """Causal multi-head attention, step by step, with a cache for who wants one."""

    causal = CONFIG.causal
    turned = False

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(CONFIG.d_model, 3 * CONFIG.d_model)
        self.out = nn.Linear(CONFIG.d_model, CONFIG.d_model)

    def forward(
        self, x: Tensor, visible: Tensor | None, cache: dict[str, Tensor] | None
    ) -> Tensor:
        """Let each token gather from those that it sees."""
        q, k, v = (self.split(part) for part in self.qkv(x).chunk(3, dim=-1))
        held = 0 if not cache else cache["k"].shape[-2]
        if self.turned:
            q, k = (rotary(each, self.position(held)) for each in (q, k))
        if cache is not None:
            if held:
                k = torch.cat([cache["k"], k], dim=-2)
                v = torch.cat([cache["v"], v], dim=-2)
            cache.update(k=k, v=v)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        weights = self.weights(scores, self.seen(scores, held, visible))
        return self.out(self.merge(weights @ v))  # type: ignore[no-any-return]

    def split(self, x: Tensor) -> Tensor:
        """(B, T, D) → (B, H, T, K)."""
        return x.reshape(*x.shape[:-1], CONFIG.n_heads, -1).transpose(1, 2)

    def merge(self, heads: Tensor) -> Tensor:
        """(B, H, T, K) → (B, T, D)."""
        return heads.transpose(1, 2).flatten(2)

    def position(self, held: int) -> int:
        """Where the first of the new tokens stands."""
        return held

    def seen(self, scores: Tensor, held: int, visible: Tensor | None) -> Tensor:
        """Which keys each query sees, by the order of time and by the mask."""
        *_, new, keys = scores.shape
        seen = torch.ones(new, keys, dtype=torch.bool)
        if self.causal:
            seen = self.past(seen, held)
        return seen if visible is None else seen & visible[:, None]

    def past(self, seen: Tensor, held: int) -> Tensor:
        """Query t sees key s if s ≤ t + held."""
        return seen.tril(held)

    def weights(self, scores: Tensor, seen: Tensor) -> Tensor:
        """Share out each query's attention over the keys that it sees."""
        return softmax(scores, seen)


class FeedForward(nn.Module):
    """Widen, bend, narrow."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(CONFIG.d_model, CONFIG.d_ff)
        self.down = nn.Linear(CONFIG.d_ff, CONFIG.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """ReLU between two linear maps."""
        return self.down(self.up(x).relu())  # type: ignore[no-any-return]


class Block(nn.Module):
    """A causal pre-norm block of width 24: nothing is wrong with it."""

    make_norm: Callable[[], nn.Module] = Norm
    make_attention: Callable[[], nn.Module] = Attention

    def __init__(self) -> None:
        super().__init__()
        kind = type(self)
        self.norm_1, self.norm_2 = kind.make_norm(), kind.make_norm()
        self.attention, self.feed_forward = kind.make_attention(), FeedForward()

    def forward(
        self,
        x: Tensor,
        visible: Tensor | None = None,
        cache: dict[str, Tensor] | None = None,
    ) -> Tensor:
        """Add what each branch makes of the normalized stream."""
        h = x + self.attention(self.norm_1(x), visible, cache)
        return h + self.feed_forward(self.norm_2(h))  # type: ignore[no-any-return]

    def new_cache(self) -> dict[str, Any]:
        """An empty cache."""
        return {}


class Turned(Attention):
    """Attention with rotary positions."""

    turned = True
