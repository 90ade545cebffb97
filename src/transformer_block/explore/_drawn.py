"""Weights that Python and the page draw alike, to the last bit.

The page has none of NumPy's generators. These numbers come from whole numbers of 32
bits alone, and the n-th from the seed and n alone.
"""

import math

import numpy as np
from jaxtyping import Float

from transformer_block.config import BlockConfig
from transformer_block.parameters import Parameters, stack_shapes

_MATRICES = (
    "attention.qkv",
    "attention.out",
    "feed_forward.up",
    "feed_forward.down",
)
_PLACE = 2**16  # numbers that are set aside for one matrix


def uniform(seed: int, start: int, count: int) -> Float[np.ndarray, "count"]:
    """Numbers in [0, 1): those from start on of the sequence that seed names.

    Raises: ValueError for a seed that does not fit into 32 bits.
    Source: the finalizer of Appleby's MurmurHash3, on seed + n · 0x9E3779B1.
    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"seed must lie in 0 … {2**32 - 1}; got {seed}")
    n = np.arange(start, start + count, dtype=np.uint64)
    h = (np.uint64(seed) + n * np.uint64(0x9E3779B1)).astype(np.uint32)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return (h ^ (h >> np.uint32(16))) / 2.0**32


def drawn(
    seed: int, place: int, rows: int, columns: int, bound: float
) -> Float[np.ndarray, "rows columns"]:
    """A matrix of entries in (−bound, bound), from the place that belongs to it."""
    numbers = uniform(seed, place * _PLACE, rows * columns)
    return (bound * (2 * numbers - 1)).reshape(rows, columns)


def drawn_stack(config: BlockConfig, seed: int, gain: float = 1.0) -> Parameters:
    """Parameters of a stack: Xavier's uniform matrices times gain, biases 0, gains 1.

    W ~ gain · uniform(−a, a), a = √(6 / (in + out))
    """
    values = {}
    for name, shape in stack_shapes(config).items():
        part, _, kind = name.rpartition(".")
        if len(shape) == 2:
            _, block, matrix = part.split(".", 2)
            place = 1 + 4 * int(block) + _MATRICES.index(matrix)
            values[name] = drawn(seed, place, *shape, gain * math.sqrt(6 / sum(shape)))
        else:
            values[name] = np.full(shape, float(kind == "weight"))
    return values
