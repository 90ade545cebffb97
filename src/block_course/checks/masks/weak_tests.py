"""Known tests of causality that see too little or too much, each with what to tell its author."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from block_course.checks.catching import is_right, named, weak_test
from block_course.checks.masks.designs import DEAF, FAINT, ITEM, NO_MASK, OPENED, TILES
from block_course.exercise import Array
from block_course.under_test import Block

_LOOSE = 0.05

Change = Callable[[Array, int], None]
"""Writes other features into one position of a copy of x."""


def _at_random(x: Array, at: int) -> None:
    x[:, at] = np.random.default_rng(at).normal(size=x[:, at].shape)


def _by_a_constant(x: Array, at: int) -> None:
    x[:, at] += 100.0


def _moves(block: Block, x: Array, at: int, change: Change = _at_random) -> Array:
    """By how much each output (B, T) moves when one position is changed."""
    changed = x.copy()
    change(changed, at)
    return np.asarray(np.abs(block(changed) - block(x)).max(axis=-1))


def _still(
    block: Block,
    x: Array,
    *,
    at: Iterable[int],
    change: Change = _at_random,
    watch: slice | None = None,
    items: slice = slice(None),
    tolerance: float = 1e-7,
) -> bool:
    """No output before the changed position moves, of those that are watched."""
    for each in at:
        moved = _moves(block, x, each, change)[items, :each] > tolerance
        if (moved if watch is None else moved[:, watch]).any():
            return False
    return True


def _last(x: Array) -> list[int]:
    return [x.shape[1] - 1]


def _every(x: Array) -> range:
    return range(1, x.shape[1])


def _later_are_still(block: Block, x: Array) -> bool:
    return not any(_moves(block, x, at)[:, at + 1 :].any() for at in range(x.shape[1] - 1))


def _hears_its_past(block: Block, x: Array) -> bool:
    past = all(_moves(block, x, at)[:, at:].all() for at in range(x.shape[1]))
    return past and _still(block, x, at=_every(x))


def _watching_the_first(at: Callable[[Array], Iterable[int]]) -> Callable[[Block, Array], bool]:
    return lambda block, x: _still(block, x, at=at(x), watch=slice(0, 1))


MISCONCEPTIONS = (
    weak_test(
        "accepts every block",
        lambda block, x: True,
        "The block “{block}” gets through, and so do all others. Does your test return its comparison, or "
        "assert it? And does it change a copy of `x` before the second call?",
        shown=named(NO_MASK),
    ),
    weak_test(
        "rejects every block",
        lambda block, x: False,
        "Even the causal block “{block}” is rejected. Is the output at the changed position among those that "
        "you compare? It has to move, and so may those after it. Only the outputs before it must stay.",
        shown=is_right,
    ),
    weak_test(
        "True and False exchanged",
        lambda block, x: not _still(block, x, at=_every(x)),
        "Your test finds the leaks and says True where it finds one: “{block}” is called causal. True means "
        "that no output hears a later position.",
        shown=named(NO_MASK),
    ),
    weak_test(
        "the direction turned over",
        _later_are_still,
        "You judge “{block}” by the outputs after the changed position. These may hear it: that is what a "
        "causal block is for. Those before it must not.",
    ),
    weak_test(
        "asks that the past is heard",
        _hears_its_past,
        "The block “{block}” is rejected because some output does not hear an earlier token. That is no "
        "leak: causal means that the future is not heard, and asks for nothing else.",
        shown=named(DEAF),
    ),
    weak_test(
        "a change that the norm takes away",
        lambda block, x: _still(block, x, at=_last(x), change=_by_a_constant, tolerance=1e-3),
        "The block “{block}” gets through: every output hears every token, and no earlier output moves. The "
        "layer norm before attention subtracts a token's mean and divides by its spread: a number added to "
        "all its features is gone behind it, and so is a factor. Change them by different amounts, drawn at "
        "random.",
        shown=named(NO_MASK),
    ),
    weak_test(
        "changes too few positions",
        lambda block, x: _still(block, x, at=_last(x)),
        "The block “{block}” gets through: there the last position is heard by nobody else, and earlier ones "
        "are heard by some before them. Change each position in turn.",
        shown=named(TILES),
    ),
    *(
        weak_test(
            "watches the first output alone",
            _watching_the_first(at),
            "The block “{block}” gets through: its first outputs are causal and later ones leak. One row of "
            "a mask says nothing about the rest: compare all outputs before the changed position.",
            shown=named(OPENED),
        )
        for at in (_every, _last)
    ),
    weak_test(
        "looks at the first item alone",
        lambda block, x: _still(block, x, at=_every(x), items=slice(0, 1)),
        "The block “{block}” gets through: item 0 is causal there, and the other item is not. Compare the "
        "outputs of all items.",
        shown=named(ITEM),
    ),
    weak_test(
        "too wide a tolerance",
        lambda block, x: _still(block, x, at=_every(x), tolerance=_LOOSE),
        "The block “{block}” gets through: the weight of a hidden key is small there and not 0, and your "
        "tolerance is wider than what leaks. A causal block moves no earlier output at all: compare exactly.",
        shown=named(FAINT),
    ),
)
