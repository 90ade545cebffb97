"""Rotary turns with a part exchanged: what the known wrong ones are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_course.exercise import Array, Outputs

BASE = 10000.0

Join = Callable[[Array, Array], Array]


def halves(heads: Array, angles: Array) -> Array:
    """Feature i of the first half makes a pair with feature i of the second."""
    a, b = np.split(heads, 2, axis=-1)
    cosine, sine = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cosine - b * sine, a * sine + b * cosine], axis=-1)


def neighbors(heads: Array, angles: Array) -> Array:
    """Features 2i and 2i + 1 make a pair."""
    a, b = heads[..., ::2], heads[..., 1::2]
    cosine, sine = np.cos(angles), np.sin(angles)
    return np.stack([a * cosine - b * sine, a * sine + b * cosine], axis=-1).reshape(heads.shape)


def conventions_mixed(heads: Array, angles: Array) -> Array:
    """Pairs of halves, with the angles laid out as neighbors have them."""
    a, b = np.split(heads, 2, axis=-1)
    laid_out = np.repeat(angles, 2, axis=-1)
    turned = np.concatenate([-b, a], axis=-1)
    return np.asarray(heads * np.cos(laid_out) + turned * np.sin(laid_out))


def rotated(
    *,
    at: Callable[[Array], Array] = lambda positions: positions,
    exponents: Callable[[int, int], Array] = lambda K, H: 2 * np.arange(K // 2) / K,
    base_of: Callable[[float], float] = lambda base: base,
    sign: float = 1.0,
    sign_of_keys: float = 1.0,
    turn: Join = halves,
) -> Callable[..., Outputs]:
    """Queries and keys turned; as it stands it is right. A sign of 0 turns nothing."""

    def answer(q: Array, k: Array, positions: Array, base: float = BASE) -> Outputs:
        H, _, K = q.shape
        angles = at(positions)[:, None] / base_of(base) ** exponents(K, H)
        return turn(q, sign * angles), turn(k, sign_of_keys * angles)

    return answer


_NARROW = (
    "Near position 1,000,000 a float32 angle is off by thousandths of a radian, or hundredths. Form the "
    "angles in float64, and bring their sines and cosines to the dtype of the heads."
)

WAYS = (
    (
        "neighbors paired",
        rotated(turn=neighbors),
        "Features 2i and 2i + 1 were turned as a pair. That is another convention; here feature i of the "
        "first half and feature i of the second make one.",
    ),
    (
        "angles laid out for neighbors",
        rotated(turn=conventions_mixed),
        "Halves make the pairs, but the angles are laid out θ₀ θ₀ θ₁ θ₁ …, as pairs of neighbors have "
        "them. Both features of a pair need its angle: θ₀ θ₁ … twice in a row.",
    ),
    (
        "turned backwards",
        rotated(sign=-1.0, sign_of_keys=-1.0),
        "Every pair was turned the other way. The first becomes a·cos θ − b·sin θ.",
    ),
    (
        "keys turned backwards",
        rotated(sign_of_keys=-1.0),
        "Queries were turned one way and keys the other. Both turn the same way; their product then "
        "keeps the difference of the positions.",
    ),
    (
        "keys not turned",
        rotated(sign_of_keys=0.0),
        "The keys were left as they are. Queries and keys are turned.",
    ),
    (
        "positions always from 0",
        rotated(at=lambda positions: np.arange(len(positions))),
        "The tokens were turned as if the first stood at position 0. Use `positions`.",
    ),
    (
        "positions from 1",
        rotated(at=lambda positions: positions + 1),
        "The tokens were turned one position too far. Positions are given; 0 turns nothing.",
    ),
    (
        "angles by D",
        rotated(exponents=lambda K, H: 2 * np.arange(K // 2) / (H * K)),
        "The exponents are 2i/D, over all heads. Each head is turned by itself: 2i/K.",
    ),
    (
        "exponent i/K",
        rotated(exponents=lambda K, H: np.arange(K // 2) / K),
        "The exponents are i/K, from 0 to one half. There are K/2 pairs, and the exponents 2i/K go from "
        "0 to nearly 1.",
    ),
    (
        "one angle for all pairs",
        rotated(exponents=lambda K, H: np.zeros(K // 2)),
        "All pairs were turned by the same angle. Pair i is turned by position / base^(2i/K), less and less.",
    ),
    (
        "base always 10,000",
        rotated(base_of=lambda base: BASE),
        "The base was 10,000 whatever was given. Use the argument.",
    ),
    (
        "angles in float32",
        rotated(turn=lambda heads, angles: halves(heads, angles.astype(np.float32))),
        _NARROW,
    ),
    (
        "angles in float32",
        rotated(turn=lambda heads, angles: halves(heads, angles.astype(heads.dtype))),
        _NARROW,
    ),
)
