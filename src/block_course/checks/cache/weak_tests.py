"""Known tests of a cache that see too little or too much, each with what to tell its author."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_course.checks.catching import is_right, named, weak_test
from block_course.exercise import Array
from block_course.under_test import Block

_TIGHT, _FAIR, _LOOSE = 1e-9, 1e-5, 0.3


def _gap(block: Block, x: Array, lengths: list[int]) -> Array:
    """How far each output (N, T) of the reading in chunks is from the whole."""
    return np.asarray(np.abs(block(x, np.array(lengths)) - block(x)).max(axis=-1))


def _uneven(x: Array) -> list[int]:
    return [2, 1, 3, x.shape[1] - 6]


def _ones(x: Array) -> list[int]:
    return [1] * x.shape[1]


def _prompt(x: Array) -> list[int]:
    return [3] + [1] * (x.shape[1] - 3)


def _early(x: Array) -> list[int]:
    return [2, 1, x.shape[1] - 3]


def _same_bits(block: Block, x: Array) -> bool:
    return not _gap(block, x, _uneven(x)).any()


def _within(
    tolerance: float,
    lengths: Callable[[Array], list[int]] = _uneven,
    look: Callable[[Array], Array] = lambda gap: gap,
) -> Callable[[Block, Array], bool]:
    return lambda block, x: bool((look(_gap(block, x, lengths(x))) <= tolerance).all())


_LATER = named("no mask behind the first chunk")
_STALE = named("a cache that is not emptied")

MISCONCEPTIONS = (
    weak_test(
        "accepts every block",
        lambda block, x: True,
        "The block “{block}” gets through, and so do all others. Does your test return its comparison, or "
        "assert it? And does it read in chunks at all, `block(x, lengths)`?",
    ),
    weak_test(
        "rejects every block",
        lambda block, x: False,
        "Even the right block “{block}” is rejected. Do the two readings that you compare have the same "
        "shape, and are they of the same sequences?",
        is_right,
    ),
    weak_test(
        "True and False exchanged",
        lambda block, x: not _within(_FAIR)(block, x),
        "Your test finds the differences and says True where it finds one: “{block}” is called right. True "
        "means that the two readings agree.",
    ),
    *(
        weak_test(
            "asks for the same bits",
            accepts,
            "The block “{block}” is rejected, and it is right: its outputs differ by less than 1e-6. A "
            "reading in chunks adds the same numbers in another order, and a cache may hold them in single "
            "precision. Compare with a tolerance.",
            is_right,
        )
        for accepts in (_same_bits, _within(_TIGHT))
    ),
    weak_test(
        "one token at a time alone",
        _within(_FAIR, _ones),
        "The block “{block}” gets through: its chunks lack their mask. A chunk of one token has no future "
        "that could leak. Read in chunks of several as well.",
        _LATER,
    ),
    weak_test(
        "a prompt, then one token at a time",
        _within(_FAIR, _prompt),
        "The block “{block}” gets through: your first chunk has its mask there, and behind it you read "
        "single tokens, which need none. Read a chunk of several behind another.",
        _LATER,
    ),
    weak_test(
        "no chunk behind many tokens",
        _within(_FAIR, _early),
        "The block “{block}” gets through: it has room for four tokens, and your last chunk begins before "
        "more than those are held. Read a later chunk as well.",
        named("the oldest tokens lost when the cache is full"),
    ),
    weak_test(
        "looks at the first sequence alone",
        _within(_FAIR, look=lambda gap: gap[:1]),
        "The block “{block}” gets through: its first sequence is read right, and those after it see the one "
        "before. Compare all sequences.",
        _STALE,
    ),
    weak_test(
        "looks at the last output alone",
        _within(_FAIR, look=lambda gap: gap[:, -1:]),
        "The block “{block}” gets through: the last token of a chunk may see everything, so that a missing "
        "mask doesn't show there. Compare the outputs of all positions.",
        _LATER,
    ),
    weak_test(
        "too wide a tolerance",
        _within(_LOOSE),
        "The block “{block}” gets through: your tolerance is wider than its errors. Rounding explains less "
        "than 1e-6.",
        named("keys held in half precision"),
    ),
)
