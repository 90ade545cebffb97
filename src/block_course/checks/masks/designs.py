"""The blocks that `masks.is_causal` holds against a test: causal ones of many kinds, and kinds of leaks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from block_course.checks.masks.blocks import Design, Weigh
from block_course.exercise import Array
from transformer_block.in_numpy.masks import causal_mask
from transformer_block.in_numpy.rms_norm import rms_norm
from transformer_block.in_numpy.scaled_dot_product import softmax

NO_MASK, NO_MASK_POST = "pre-norm without a mask", "post-norm without a mask"
TURNED, SHIFTED = "a mask turned over", "a mask shifted by one key"
AFTER, FAINT = "a mask applied after the softmax", "hidden scores set to −10"
TILES, OPENED = "tiles without their triangle", "a mask that ends after two rows"
ITEM, STATISTICS = "a mask for the first item alone", "a norm over the positions"
WRAPPED = "a token shift that wraps around"
WINDOW, DEAF = "a window of two positions", "no attention at all"

_LOW = -10.0


def right_designs() -> Mapping[str, Design]:
    """Blocks in which no output hears a later position, by name."""
    return {
        "pre-norm": Design(),
        "post-norm": Design(placement="post"),
        "pre-norm with RMSNorm": Design(norm=lambda x, gamma, beta: rms_norm(x, gamma)),
        "branches side by side": Design(placement="parallel"),
        WINDOW: Design(weigh=lambda a: softmax(a, causal_mask(a.shape[-1], window=2))),
        DEAF: Design(weigh=None),
        "a shift by one token": Design(mix=_shifted_tokens),
    }


def wrong_designs(tile: int) -> Mapping[str, Design]:
    """Blocks that hear the future, by name: none in the same way as another."""
    return {
        NO_MASK: Design(weigh=lambda a: softmax(a)),
        NO_MASK_POST: Design(weigh=lambda a: softmax(a), placement="post"),
        TURNED: Design(weigh=lambda a: softmax(a, ~causal_mask(a.shape[-1]))),
        SHIFTED: Design(weigh=lambda a: softmax(a, np.tri(a.shape[-1], k=1, dtype=bool))),
        AFTER: Design(weigh=lambda a: np.where(causal_mask(a.shape[-1]), softmax(a), 0.0)),
        FAINT: Design(weigh=lambda a: softmax(np.where(causal_mask(a.shape[-1]), a, _LOW))),
        TILES: Design(weigh=_in_tiles(tile)),
        OPENED: Design(weigh=_open_below(2)),
        ITEM: Design(weigh=_first_item_alone),
        STATISTICS: Design(norm=_over_positions),
        WRAPPED: Design(mix=_rolled_tokens),
    }


def _in_tiles(tile: int) -> Weigh:
    """Tiles above the diagonal are skipped, those on it computed whole: with 2 · tile + 1 one ends alone."""

    def weigh(scores: Array) -> Array:
        T = scores.shape[-1]
        number = np.arange(T) // tile
        return softmax(scores, causal_mask(T) | (number[:, None] == number))

    return weigh


def _open_below(row: int) -> Weigh:
    def weigh(scores: Array) -> Array:
        T = scores.shape[-1]
        return softmax(scores, causal_mask(T) | (np.arange(T)[:, None] >= row))

    return weigh


def _first_item_alone(scores: Array) -> Array:
    visible = causal_mask(scores.shape[-1])
    if scores.ndim < 4:  # a single sequence is its own first item
        return softmax(scores, visible)
    later = np.arange(scores.shape[-4])[:, None, None, None] > 0
    return softmax(scores, np.broadcast_to(visible, scores.shape) | later)


def _over_positions(x: Array, gamma: Array, beta: Array) -> Array:
    deviation = x - x.mean(axis=-2, keepdims=True)
    return np.asarray(gamma * deviation / np.sqrt(x.var(axis=-2, keepdims=True) + 1e-5) + beta)


def _rolled_tokens(x: Array) -> Array:
    return np.asarray(x + 0.5 * np.roll(x, 1, axis=-2))


def _shifted_tokens(x: Array) -> Array:
    before = np.roll(x, 1, axis=-2)
    before[..., 0, :] = 0.0
    return np.asarray(x + 0.5 * before)
