"""Blocks whose attention is wrong."""

import math

import torch
from torch import Tensor

from transformer_block.audit.broken.plain import Attention, Block, Turned


class _UntransposedAttention(Attention):
    def merge(self, heads: Tensor) -> Tensor:
        batch, n_heads, length, width = heads.shape
        return heads.reshape(batch, length, n_heads * width)


class HeadsNotTransposedBack(Block):
    """A reshape where a transpose was needed: the shape is right."""

    make_attention = _UntransposedAttention


class _OverQueriesAttention(Attention):
    def weights(self, scores: Tensor, seen: Tensor) -> Tensor:
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(~seen, lowest).softmax(-2)
        return weights.masked_fill(~seen, 0)


class SoftmaxOverQueries(Block):
    """softmax(dim=-2): each key shares itself out."""

    make_attention = _OverQueriesAttention


class _MaskBehindAttention(Attention):
    def weights(self, scores: Tensor, seen: Tensor) -> Tensor:
        return scores.softmax(-1).masked_fill(~seen, 0)


class MaskBehindSoftmax(Block):
    """What is hidden gets the weight 0 after the softmax has shared all out."""

    make_attention = _MaskBehindAttention


class _NoEscapeAttention(Attention):
    def weights(self, scores: Tensor, seen: Tensor) -> Tensor:
        return scores.masked_fill(~seen, -math.inf).softmax(-1)


class MaskedRowNotFinite(Block):
    """A row of −∞ has no softmax."""

    make_attention = _NoEscapeAttention


class _EvalAttention(Attention):
    def past(self, seen: Tensor, held: int) -> Tensor:
        return seen.tril(held) if self.training else seen


class CausalMaskDroppedInEval(Block):
    """Its causal mask stands in a branch that only training takes."""

    make_attention = _EvalAttention


class _OffByOneAttention(Attention):
    def past(self, seen: Tensor, held: int) -> Tensor:
        return seen.tril(held + 1)


class CausalMaskOffByOne(Block):
    """tril(1): each token sees the next one, which it has to predict."""

    make_attention = _OffByOneAttention


class _InvertedAttention(Attention):
    def seen(self, scores: Tensor, held: int, visible: Tensor | None) -> Tensor:
        return super().seen(scores, held, None if visible is None else ~visible)


class MaskInverted(Block):
    """True hides, as in nn.MultiheadAttention."""

    make_attention = _InvertedAttention


class MaskIgnored(Block):
    """The mask is an argument, and nobody reads it."""

    def forward(
        self,
        x: Tensor,
        visible: Tensor | None = None,
        cache: dict[str, Tensor] | None = None,
    ) -> Tensor:
        """Pass no mask on."""
        return super().forward(x, None, cache)


class _UncausalAttention(Attention):
    causal = False


class CausalMaskMissing(Block):
    """It says that it is causal, and hides nothing."""

    causal = True
    make_attention = _UncausalAttention


class _BehindAttention(Turned):
    def position(self, held: int) -> int:
        return max(held - 1, 0)


class CacheOffsetOffByOne(Block):
    """Behind a cache, the first new token takes the place of the last one held."""

    make_attention = _BehindAttention


class _MisalignedAttention(Attention):
    def past(self, seen: Tensor, held: int) -> Tensor:
        return seen.tril()


class CacheMaskMisaligned(Block):
    """Behind a cache, its causal mask starts at key 0."""

    make_attention = _MisalignedAttention


class WithRotaryPositions(Block):
    """Nothing is wrong with it either."""

    make_attention = Turned
