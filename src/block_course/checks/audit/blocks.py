"""Blocks that keep the shape of their tokens: causal ones that take a mask of padding, right and wrong.

A block keeps nothing between two calls, so that a test meets the same one however often it has been asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from block_course.checks.masks.blocks import N_HEADS, Norm, over_features
from block_course.exercise import Array, Subject
from transformer_block.in_numpy.attention import split_qkv
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.in_numpy.heads import merge_heads
from transformer_block.in_numpy.linear import linear
from transformer_block.in_numpy.masks import causal_mask
from transformer_block.in_numpy.scaled_dot_product import softmax

Forward = Callable[[Array, Array], Array]
"""From tokens (B, T, D) in float64 and the mask (B, T) of those that are there to outputs (B, T, D)."""


def _as_it_is(visible: Array) -> Array:
    return visible


def _no_more(forward: Forward) -> Forward:
    return forward


@dataclass(frozen=True, kw_only=True)
class Design:
    """What a block is made of.

    `reads` is what it makes of the mask of padding, in each of its layers; `weigh` turns scores and what is
    visible into weights; `around` wraps the whole; `keeps_dtype` is whether float32 comes back as float32.
    """

    placement: Literal["pre", "post", "parallel"] = "pre"
    norm: Norm = over_features
    past: Callable[[int], Array] = causal_mask
    reads: tuple[Callable[[Array], Array], ...] = (_as_it_is,)
    weigh: Callable[[Array, Array], Array] = softmax
    around: Callable[[Forward], Forward] = _no_more
    keeps_dtype: bool = True


def subject(design: Design, layers: list[Mapping[str, Array]], *, right: bool) -> Subject:
    """A block as a test meets it: `block(x)` and `block(x, visible)`, with the parameters of its layers."""
    forward = design.around(_stack(design, layers))

    def answer(x: Array, visible: Array | None = None) -> Array:
        if x.ndim != 3:
            raise ValueError(f"x must have shape (B, T, D); got {x.shape}")
        there = np.ones(x.shape[:2], dtype=bool) if visible is None else visible
        if there.dtype != bool or there.shape != x.shape[:2]:
            raise ValueError(
                f"visible must be booleans of shape {x.shape[:2]}; got {there.dtype} {there.shape}"
            )
        y = forward(x.astype(np.float64), there)
        return y.astype(x.dtype) if design.keeps_dtype and x.dtype.kind == "f" else y

    return Subject(right=right, answers={"forward": answer})


def _stack(design: Design, layers: list[Mapping[str, Array]]) -> Forward:
    def forward(x: Array, visible: Array) -> Array:
        for reads, parameters in zip(design.reads, layers, strict=False):
            x = _Layer(design, parameters, reads(visible)).forward(x)
        return x

    return forward


@dataclass(frozen=True)
class _Layer:
    design: Design
    parameters: Mapping[str, Array]
    visible: Array

    def forward(self, x: Array) -> Array:
        if self.design.placement == "parallel":
            return np.asarray(x + self._attend(self._norm(x, 1)) + self._widen(self._norm(x, 2)))
        if self.design.placement == "post":
            h = self._norm(x + self._attend(x), 1)
            return self._norm(h + self._widen(h), 2)
        h = x + self._attend(self._norm(x, 1))
        return np.asarray(h + self._widen(self._norm(h, 2)))

    def _attend(self, x: Array) -> Array:
        p = self.parameters
        q, k, v = split_qkv(linear(x, p["attention.qkv.weight"], p["attention.qkv.bias"]), N_HEADS, N_HEADS)
        seen = self.design.past(x.shape[-2]) & self.visible[:, None, None, :]
        weights = self.design.weigh(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), seen)
        return linear(merge_heads(weights @ v), p["attention.out.weight"], p["attention.out.bias"])

    def _norm(self, x: Array, number: int) -> Array:
        p = self.parameters
        return self.design.norm(x, p[f"norm_{number}.weight"], p[f"norm_{number}.bias"])

    def _widen(self, x: Array) -> Array:
        p = self.parameters
        (w1, b1), (w2, b2) = (
            (p[f"feed_forward.{part}.weight"], p[f"feed_forward.{part}.bias"]) for part in ("up", "down")
        )
        return feed_forward(x, w1, b1, w2, b2)
