"""Blocks with a cache for a test to judge: each reads sequences whole, or in chunks, through one cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from block_course.checks.masks.blocks import N_HEADS
from block_course.exercise import Array, Subject
from transformer_block.in_numpy.attention import split_qkv
from transformer_block.in_numpy.block import Block
from transformer_block.in_numpy.cache import KVCache
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.in_numpy.heads import merge_heads
from transformer_block.in_numpy.layer_norm import layer_norm
from transformer_block.in_numpy.linear import linear
from transformer_block.in_numpy.masks import causal_mask
from transformer_block.in_numpy.positions import rotary
from transformer_block.in_numpy.scaled_dot_product import softmax
from transformer_block.parameters import Parameters

Mask = Callable[[int, int], Array]
"""From T new tokens and S keys to what each sees."""
Held = tuple[Array, Array]
Read = Callable[[Array, list[int]], Array]
"""From sequences (N, T, D) and the lengths of chunks to the outputs."""
Keep = Callable[[Held, int], Held]
"""What is left of keys and values (..., S, K) after a chunk of so many tokens."""


def causal(T: int, S: int) -> Array:
    """The last T rows of the triangle."""
    return causal_mask(T, S)


@dataclass(frozen=True, kw_only=True)
class Design:
    """How a block reads in chunks. Whole, all designs of one placement are the same function.

    `offset` turns a chunk's start into the position that its first token is given; `keep` makes what is held
    of what has been read. A cache forgets a sequence before the next, after the first chunk of it, or never.
    """

    offset: Callable[[int], int] = lambda start: start
    mask: Mask = causal
    keep: Keep = lambda held, length: held
    forgets: Literal["before", "late", "never"] = "before"
    placement: Literal["pre", "post"] = "pre"


def subject(design: Design, parameters: Parameters, *, right: bool) -> Subject:
    """A small block of this design: `block(x)` reads whole, `block(x, lengths)` in chunks."""
    plain = Design(placement=design.placement)
    whole, in_chunks = (_Reader(each, parameters) for each in (plain, design))
    return _subject(whole.read, in_chunks.read, right=right)


def reading_again(parameters: Parameters) -> Subject:
    """A right block without a cache: asked for chunks, it reads the whole."""
    whole = _Reader(Design(), parameters).read
    return _subject(whole, lambda x, lengths: whole(x, [x.shape[1]]), right=True)


def subject_of(block: Block, *, right: bool) -> Subject:
    """The package's own block, behind its own cache."""

    def read(x: Array, lengths: list[int]) -> Array:
        outputs = []
        for sequence in x.astype(np.float64):
            cache, start = KVCache(capacity=x.shape[1]), 0
            for length in lengths:
                outputs.append(block(sequence[start : start + length], cache=cache))
                start += length
        return np.concatenate(outputs).reshape(x.shape).astype(x.dtype)

    return _subject(read, read, right=right)


def _subject(whole: Read, in_chunks: Read, *, right: bool) -> Subject:
    def forward(x: Array, lengths: Array | None = None) -> Array:
        if x.ndim != 3:
            raise ValueError(f"x must have shape (N, T, D); got {x.shape}")
        if lengths is None:
            return whole(x, [x.shape[1]])
        if lengths.dtype.kind not in "iu" or lengths.ndim != 1 or (lengths < 1).any():
            raise ValueError(f"the lengths of chunks are whole numbers from 1; got {lengths.tolist()}")
        if lengths.sum() != x.shape[1]:
            raise ValueError(f"the lengths of the chunks must sum to {x.shape[1]}; got {lengths.sum()}")
        return in_chunks(x, lengths.tolist())

    return Subject(right=right, answers={"forward": forward})


@dataclass(frozen=True)
class _Reader:
    design: Design
    parameters: Parameters

    def read(self, x: Array, lengths: list[int]) -> Array:
        nothing = np.zeros((N_HEADS, 0, x.shape[-1] // N_HEADS))
        held, outputs = (nothing, nothing), []
        for sequence in x.astype(np.float64):
            if self.design.forgets == "before":
                held = nothing, nothing
            start = 0
            for length in lengths:
                y, held = self._chunk(sequence[start : start + length], held, start)
                if self.design.forgets == "late" and not start:
                    held = held[0][:, -length:], held[1][:, -length:]
                held = self.design.keep(held, length)
                outputs.append(y)
                start += length
        return np.concatenate(outputs).reshape(x.shape).astype(x.dtype)

    def _chunk(self, x: Array, held: Held, start: int) -> tuple[Array, Held]:
        if self.design.placement == "post":
            attended, held = self._attend(x, held, start)
            h = self._norm(x + attended, 1)
            return self._norm(h + self._widen(h), 2), held
        attended, held = self._attend(self._norm(x, 1), held, start)
        h = x + attended
        return np.asarray(h + self._widen(self._norm(h, 2))), held

    def _attend(self, x: Array, held: Held, start: int) -> tuple[Array, Held]:
        p = self.parameters
        projected = linear(x, p["attention.qkv.weight"], p["attention.qkv.bias"])
        q, k, v = split_qkv(projected, N_HEADS, N_HEADS)
        offset = self.design.offset(start)
        q, k = rotary(q, offset), rotary(k, offset)
        keys, values = (np.concatenate(pair, axis=-2) for pair in zip(held, (k, v), strict=True))
        scores = q @ keys.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        weights = softmax(scores, self.design.mask(len(x), keys.shape[-2]))
        merged = merge_heads(weights @ values)
        out = linear(merged, p["attention.out.weight"], p["attention.out.bias"])
        return out, (keys, values)

    def _norm(self, x: Array, number: int) -> Array:
        p = self.parameters
        return layer_norm(x, p[f"norm_{number}.weight"], p[f"norm_{number}.bias"])

    def _widen(self, x: Array) -> Array:
        p = self.parameters
        (w1, b1), (w2, b2) = (
            (p[f"feed_forward.{part}.weight"], p[f"feed_forward.{part}.bias"]) for part in ("up", "down")
        )
        return feed_forward(x, w1, b1, w2, b2)
