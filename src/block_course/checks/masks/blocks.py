"""Small blocks for a test of causality to judge: the causal pre-norm block with one part exchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from block_course.exercise import Array, Subject
from block_course.under_test import TooMuch
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.attention import split_qkv
from transformer_block.in_numpy.block import Block
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.in_numpy.heads import merge_heads
from transformer_block.in_numpy.layer_norm import layer_norm
from transformer_block.in_numpy.linear import linear
from transformer_block.in_numpy.masks import causal_mask
from transformer_block.in_numpy.scaled_dot_product import softmax
from transformer_block.parameters import Parameters, initialize, perturb, shapes

Forward = Callable[[Array], Array]
Weigh = Callable[[Array], Array]
"""From the scores (..., H, T, T) of a block to its attention weights."""
Norm = Callable[[Array, Array, Array], Array]
"""From tokens, gamma and beta to what a branch reads."""

N_HEADS = 2
NORM_DIGITS = 6
"""What a norm gives is rounded to so many decimals: a shift that it takes away is then gone to the last bit,
and a test that adds a constant can't pass or fail by the luck of rounding."""
_STEP = 1e-4
_MOST_NUMBERS = 512
"""Gradients by differences of more of them would take seconds, and their steps gigabytes."""


def causal(scores: Array) -> Array:
    """The right weights."""
    return softmax(scores, causal_mask(scores.shape[-1]))


def over_features(x: Array, gamma: Array, beta: Array) -> Array:
    """Layer norm."""
    return layer_norm(x, gamma, beta)


@dataclass(frozen=True, kw_only=True)
class Design:
    """What a block is made of. `mix` changes the tokens before the block reads them."""

    weigh: Weigh | None = causal
    placement: Literal["pre", "post", "parallel"] = "pre"
    norm: Norm = over_features
    mix: Forward = field(default=lambda x: x)


def drawn(rng: np.random.Generator, D: int, F: int) -> Parameters:
    """Parameters under which every part matters: scores of size 1, no bias 0, no gain 1."""
    config = BlockConfig(d_model=D, n_heads=N_HEADS, d_ff=F)
    return {name: _entries(rng, name, sides) for name, sides in shapes(config).items()}


def modern(rng: np.random.Generator, D: int, **choices: Any) -> Block:
    """The package's own block, as large language models have it."""
    config = BlockConfig(
        d_model=D,
        n_heads=N_HEADS,
        d_ff=D + 4,
        causal=True,
        norm="rms_norm",
        activation="swiglu",
        positions="rotary",
        **choices,
    )
    seed = int(rng.integers(2**31))
    return Block(config, perturb(initialize(config, seed), seed))


def _entries(rng: np.random.Generator, name: str, sides: tuple[int, ...]) -> Array:
    if len(sides) == 2:
        return np.asarray(rng.normal(size=sides) / np.sqrt(sides[1]))
    gain = name.startswith("norm") and name.endswith("weight")
    return rng.normal(float(gain), 0.2, sides)


def subject(design: Design, parameters: Parameters, *, right: bool) -> Subject:
    """The block as a test meets it: it answers with its output, and with gradients by differences."""
    return subject_of(
        forward_of(design, parameters, NORM_DIGITS),
        right=right,
        smooth=forward_of(design, parameters, None),
    )


def subject_of(forward: Forward, *, right: bool, smooth: Forward | None = None) -> Subject:
    """Any function of tokens as a subject. `smooth` is what gradients are taken of, where it is another."""
    answers: dict[str, Callable[..., Array]] = {
        "forward": _in_its_dtype(forward),
        "gradients": _by_differences(smooth or forward),
    }
    return Subject(right=right, answers=answers)


def forward_of(design: Design, parameters: Parameters, digits: int | None) -> Forward:
    """The block as a function of its tokens (..., T, D), all in float64."""
    p = parameters

    def normed(x: Array, number: int) -> Array:
        y = design.norm(x, p[f"norm_{number}.weight"], p[f"norm_{number}.bias"])
        return y if digits is None else y.round(digits)

    def attended(x: Array) -> Array:
        return np.zeros_like(x) if design.weigh is None else _attention(p, x, design.weigh)

    def widened(x: Array) -> Array:
        (w1, b1), (w2, b2) = (
            (p[f"feed_forward.{part}.weight"], p[f"feed_forward.{part}.bias"]) for part in ("up", "down")
        )
        return feed_forward(x, w1, b1, w2, b2)

    def forward(x: Array) -> Array:
        x = design.mix(x)
        if design.placement == "parallel":
            return np.asarray(x + attended(normed(x, 1)) + widened(normed(x, 2)))
        if design.placement == "post":
            h = normed(x + attended(x), 1)
            return normed(h + widened(h), 2)
        h = x + attended(normed(x, 1))
        return np.asarray(h + widened(normed(h, 2)))

    return forward


def _attention(p: Parameters, x: Array, weigh: Weigh) -> Array:
    projected = linear(x, p["attention.qkv.weight"], p["attention.qkv.bias"])
    q, k, v = split_qkv(projected, N_HEADS, N_HEADS)
    weights = weigh(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    return linear(merge_heads(weights @ v), p["attention.out.weight"], p["attention.out.bias"])


def _in_its_dtype(forward: Forward) -> Forward:
    def answer(x: Array) -> Array:
        dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
        return forward(x.astype(np.float64)).astype(dtype)

    return answer


def _by_differences(forward: Forward) -> Callable[[Array, Array], Array]:
    """Gradients of Σ y·dy by x, central: exactly 0 where an output doesn't hear an input."""

    def answer(x: Array, dy: Array) -> Array:
        if dy.shape != x.shape:
            raise ValueError(f"dy must have the shape of x, {x.shape}; got {dy.shape}")
        if x.size > _MOST_NUMBERS:
            raise TooMuch(f"a call may ask for the gradients by {_MOST_NUMBERS} numbers; got {x.size:,}")
        gradients = np.empty(x.size)
        for place in range(x.size):
            step = np.zeros(x.size)
            step[place] = _STEP
            step = step.reshape(x.shape)
            rise = (forward(x + step) - forward(x - step)) / (2.0 * _STEP)
            gradients[place] = (rise * dy).sum()
        return gradients.reshape(x.shape)

    return answer
