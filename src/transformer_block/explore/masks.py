"""A mask to draw: who attends to whom, and who hears whom through several blocks."""

from collections.abc import Iterator, Mapping

import numpy as np
from jaxtyping import Bool, Float

from transformer_block.dependence import reachable
from transformer_block.explore._element import Explorable
from transformer_block.in_numpy.masks import causal_mask, padding_mask
from transformer_block.in_numpy.scaled_dot_product import softmax

_MIN_POSITIONS, _MAX_POSITIONS = 3, 6
_MAX_DEPTH = 6
_EXAMPLES = ("causal", "padding", "window", "none")
_HEAD = ("Mask and query", "Sees keys", "Attention weights", "Hears in 1 block")


def explore_masks(scores: Float[np.ndarray, "T T"], n_layers: int = 2) -> Explorable:
    """Draw a mask over the positions whose scores are given, and see what leaks.

    softmax(scores) over visible keys;  reach = (I ∨ visible)^L

    The mask begins as a causal one. A query that sees nothing gathers nothing. Without
    a script, the queries of some masks stand there with their weights and what they
    hear.

    Raises: ValueError for fewer than three positions or more than six, or for n_layers
    outside 1 … 6.
    """
    size = len(scores)
    if not 1 <= n_layers <= _MAX_DEPTH:
        raise ValueError(f"n_layers must lie in 1 … {_MAX_DEPTH}; got {n_layers}")
    if not _MIN_POSITIONS <= size <= _MAX_POSITIONS:
        raise ValueError(
            f"{_MIN_POSITIONS} to {_MAX_POSITIONS} positions are explored; got {size}"
        )
    rounded = np.round(scores, 3)
    masks = _masks(size)
    through = f"Hears in {n_layers} blocks"
    return Explorable(
        "masks",
        "Who hears whom",
        (*_HEAD, through) if n_layers > 1 else _HEAD,
        [
            row
            for name in _EXAMPLES
            for row in _rows(name, masks[name], rounded, n_layers)
        ],
        {
            "scores": rounded.tolist(),
            "masks": {name: _as_text(mask) for name, mask in masks.items()},
            "depth": n_layers,
        },
    )


def _masks(size: int) -> Mapping[str, Bool[np.ndarray, "T T"]]:
    padding = np.broadcast_to(padding_mask([size - 2], size)[0], (size, size))
    return {
        "causal": causal_mask(size),
        "padding": padding,
        "window": causal_mask(size, window=2),
        "all": np.ones((size, size), dtype=bool),
        "none": np.zeros((size, size), dtype=bool),
    }


def _rows(
    name: str,
    mask: Bool[np.ndarray, "T T"],
    scores: Float[np.ndarray, "T T"],
    n_layers: int,
) -> Iterator[tuple[str, ...]]:
    weights = softmax(scores, mask)
    depths = sorted({1, n_layers})
    heard = [reachable(mask, depth) for depth in depths]
    for t, (seen, shares) in enumerate(zip(mask, weights, strict=True)):
        yield (
            f"{name}, query {t}",
            _places(seen),
            " ".join(f"{share:.2f}" for share in shares),
            *(_places(each[t]) for each in heard),
        )


def _places(chosen: Bool[np.ndarray, "T"]) -> str:
    return " ".join(map(str, np.flatnonzero(chosen))) or "none"


def _as_text(mask: Bool[np.ndarray, "T T"]) -> list[str]:
    return ["".join(map(str, row)) for row in mask.astype(int)]
