"""The blocks that `audit.shape_is_not_enough` holds against a test, by name."""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

import numpy as np

from block_course.checks.audit.blocks import Design, Forward
from block_course.exercise import Array
from transformer_block.in_numpy.masks import causal_mask
from transformer_block.in_numpy.rms_norm import rms_norm
from transformer_block.in_numpy.scaled_dot_product import softmax

NO_MASK, NEXT = "no causal mask", "a causal mask off by one"
LENGTH = "scores divided by the root of T"
MIXED, RANDOM = "sequences mixed", "dropout left on"
IGNORED, INVERTED = "a mask of padding that nobody reads", "a mask of padding turned over"
ADDED, SECOND = "a mask added as 0 and 1", "a mask lost after the first layer"
FIRST = "one mask for all sequences"
NOT_FINITE = "NaN where nothing is visible"
DTYPE = "float32 returned as float64"
ROUNDED, SILENT = "sums in another order each time", "hidden outputs set to 0"

_NOISE = 1e-7


def right_designs() -> Mapping[str, Design]:
    """Blocks that keep every promise."""
    return {
        "pre-norm": Design(),
        "post-norm": Design(placement="post"),
        "RMSNorm": Design(norm=lambda x, gamma, beta: rms_norm(x, gamma)),
        "branches side by side": Design(placement="parallel"),
        "two layers": Design(reads=(_read, _read)),
        ROUNDED: Design(around=_rounded),
        SILENT: Design(around=_silent_where_hidden),
    }


def wrong_designs(seed: int) -> Mapping[str, Design]:
    """Blocks that break one promise each."""
    return {
        NO_MASK: Design(past=lambda T: np.ones((T, T), dtype=bool)),
        NEXT: Design(past=lambda T: np.tri(T, k=1, dtype=bool)),
        LENGTH: Design(weigh=lambda scores, seen: softmax(scores / np.sqrt(scores.shape[-1]), seen)),
        MIXED: Design(around=_mixed),
        RANDOM: Design(around=lambda forward: _dropped(forward, np.random.default_rng(seed))),
        IGNORED: Design(reads=(np.ones_like,)),
        INVERTED: Design(reads=(np.logical_not,)),
        ADDED: Design(weigh=_added),
        SECOND: Design(reads=(_read, np.ones_like)),
        FIRST: Design(reads=(lambda visible: np.broadcast_to(visible[:1], visible.shape),)),
        NOT_FINITE: Design(weigh=_without_escape),
        DTYPE: Design(keeps_dtype=False),
    }


def _read(visible: Array) -> Array:
    return visible


def _rounded(forward: Forward) -> Forward:
    """What rounds in another way for other tokens, as sums of another order would."""

    def rounded(x: Array, visible: Array) -> Array:
        rng = np.random.default_rng(crc32(x.tobytes()))
        return np.asarray(forward(x, visible) + rng.uniform(-_NOISE, _NOISE, x.shape))

    return rounded


def _silent_where_hidden(forward: Forward) -> Forward:
    return lambda x, visible: np.asarray(np.where(visible[..., None], forward(x, visible), 0.0))


def _mixed(forward: Forward) -> Forward:
    def mixed(x: Array, visible: Array) -> Array:
        mean = x.mean(axis=0, keepdims=True)
        return np.asarray(forward(x - mean, visible) + mean)

    return mixed


def _dropped(forward: Forward, rng: np.random.Generator) -> Forward:
    def dropped(x: Array, visible: Array) -> Array:
        kept = rng.random(x.shape) >= 0.2
        return np.asarray(x + (forward(x, visible) - x) * kept / 0.8)

    return dropped


def _added(scores: Array, seen: Array) -> Array:
    """Causal; a key that padding hides scores less by 1, and is weighed like any other."""
    return softmax(scores + seen, causal_mask(scores.shape[-1]))


def _without_escape(scores: Array, seen: Array) -> Array:
    lowered = np.where(seen, scores, -np.inf)
    shares = np.exp(lowered - lowered.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))
