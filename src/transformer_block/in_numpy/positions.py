"""Positions: sines that are added to the stream, or turns of the queries and keys."""

import numpy as np
from jaxtyping import Float
from numpy.typing import DTypeLike

from transformer_block._attention_invariants import require_tokens
from transformer_block._invariants import require_at_least, require_even


def sinusoidal(
    length: int,
    d_model: int,
    offset: int = 0,
    base: float = 10000.0,
    dtype: DTypeLike = np.float64,
) -> Float[np.ndarray, "T D"]:
    """Write each position as sines and cosines of ever longer wavelengths.

    p[t, 2i] = sin((offset + t) / base^(2i/D)),  p[t, 2i + 1] = cos(the same)

    The first row is the position `offset`: that of the first token that is not in a
    cache yet.

    Raises: ValueError for an odd d_model, or a negative length or offset.
    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762,
    section 3.5.
    """
    require_even("d_model", d_model)
    angles = _angles(length, d_model, offset, base)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return pairs.reshape(length, d_model).astype(dtype)


def rotary(
    x: Float[np.ndarray, "*B T K"], offset: int = 0, base: float = 10000.0
) -> Float[np.ndarray, "*B T K"]:
    """Turn each pair of features by an angle that grows with the token's position.

    (a, b) → (a · cos θ − b · sin θ, a · sin θ + b · cos θ),
    θ = (offset + t) / base^(2i/K)

    Feature i of the first half makes a pair with feature i of the second. A query at t
    and a key at s that are turned so have a product that depends on t − s alone. The
    sines are formed in float64; the dtype of x is kept.

    Raises: ValueError for an odd head width or a negative offset; TypeError for a dtype
    that is not floating.
    Source: Su et al., RoFormer, 2021, arXiv:2104.09864; the pairing is that of GPT-NeoX
    and Llama.
    """
    return _turn(x, _turns_of(x, offset, base))


def rotary_backward(
    dy: Float[np.ndarray, "*B T K"], offset: int = 0, base: float = 10000.0
) -> Float[np.ndarray, "*B T K"]:
    """Gradient with respect to x: a turn's transpose is the turn back.

    (da, db) = (dya · cos θ + dyb · sin θ, −dya · sin θ + dyb · cos θ)
    """
    return _turn(dy, -_turns_of(dy, offset, base))


def _turns_of(x: np.ndarray, offset: int, base: float) -> np.ndarray:
    require_tokens("rotary", x)
    require_even("head width", x.shape[-1])
    return _angles(x.shape[-2], x.shape[-1], offset, base)


def _turn(x: np.ndarray, angles: np.ndarray) -> np.ndarray:
    cosine, sine = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate(
        [first * cosine - second * sine, first * sine + second * cosine], axis=-1
    )


def _angles(length: int, width: int, offset: int, base: float) -> np.ndarray:
    require_at_least("length", length, 0)
    require_at_least("offset", offset, 0)
    positions = np.arange(offset, offset + length)
    return positions[:, None] / base ** (np.arange(0, width, 2) / width)
