"""Tests of a block that look at some of its promises: what each promise is, and known tests that lack one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from block_course.checks.audit.designs import (
    DTYPE,
    FIRST,
    IGNORED,
    LENGTH,
    NO_MASK,
    NOT_FINITE,
    RANDOM,
    ROUNDED,
)
from block_course.checks.catching import is_right, named, weak_test
from block_course.exercise import Array
from block_course.under_test import Block

Check = Callable[[Block, Array], bool]
_FAIR = 1e-5


def _agree(one: Array, other: Array, tolerance: float = _FAIR) -> bool:
    return bool(np.all(np.abs(one - other) <= tolerance))


def _noise(x: Array, at: Array) -> Array:
    """Other tokens where `at`, of shape (B, T), is True."""
    drawn = np.asarray(np.random.default_rng(1).normal(size=x.shape), x.dtype)
    return np.where(at[..., None], drawn, x)


def _last(x: Array) -> Array:
    return np.broadcast_to(np.arange(x.shape[1]) == x.shape[1] - 1, x.shape[:2])


def _hidden(x: Array, *, differ: bool = True) -> Array:
    """Where a token is hidden: at another place in each sequence, or at 1 in all."""
    places = np.arange(len(x)) % (x.shape[1] - 2) + 1 if differ else np.ones(len(x), dtype=int)
    return np.asarray(np.arange(x.shape[1]) == places[:, None])


def causal(block: Block, x: Array, tolerance: float = _FAIR) -> bool:
    """The last token changes, no output before it does."""
    return _agree(block(_noise(x, _last(x)))[:, :-1], block(x)[:, :-1], tolerance)


def _causal_by_a_constant(block: Block, x: Array) -> bool:
    return _agree(block(x + 100.0 * _last(x)[..., None])[:, :-1], block(x)[:, :-1], 1e-3)


def prefix(block: Block, x: Array) -> bool:
    """What comes after a token can be left out."""
    whole = block(x)
    return all(_agree(block(x[:, :t]), whole[:, :t]) for t in (1, 2, x.shape[1] - 1))


def alone(block: Block, x: Array) -> bool:
    """A sequence alone gives what it gives in a batch."""
    return _agree(block(x[:1]), block(x)[:1])


def padding(block: Block, x: Array, *, differ: bool = True, watch_hidden: bool = False) -> bool:
    """Hidden tokens change, no visible output does."""
    hidden = _hidden(x, differ=differ)
    moved = np.abs(block(_noise(x, hidden), ~hidden) - block(x, ~hidden)).max(axis=-1)
    return bool((moved[np.full_like(hidden, True) if watch_hidden else ~hidden] <= _FAIR).all())


def _padding_same_mask(block: Block, x: Array) -> bool:
    return padding(block, x, differ=False)


def _padding_everywhere(block: Block, x: Array) -> bool:
    return padding(block, x, watch_hidden=True)


def empty_row(block: Block, x: Array) -> bool:
    """Where nothing is visible, numbers come out."""
    return bool(np.isfinite(block(x, np.zeros(x.shape[:2], dtype=bool))).all())


def dtype(block: Block, x: Array) -> bool:
    """Single precision goes in and comes out."""
    return block(x.astype(np.float32)).dtype == np.float32


WHOLE = (causal, prefix, alone, padding, empty_row, dtype)


def all_of(checks: Iterable[Check]) -> Check:
    """Whether all of them hold."""
    chosen = tuple(checks)
    return lambda block, x: all(each(block, x) for each in chosen)


def but(*left_out: Check, instead: tuple[Check, ...] = ()) -> Check:
    """The whole test without some of its checks, and with others in their place."""
    return all_of((*(each for each in WHOLE if each not in left_out), *instead))


def _exact(block: Block, x: Array) -> bool:
    return causal(block, x, 0.0) and but(causal)(block, x)


MISCONCEPTIONS = (
    weak_test(
        "accepts every block",
        lambda block, x: True,
        "The block “{block}” gets through, and so do all others: all keep the shape. Does your test return "
        "its comparison, or assert it?",
        named(NO_MASK),
    ),
    weak_test(
        "rejects every block",
        lambda block, x: False,
        "Even the right block “{block}” is rejected. Which of your comparisons fails on it?",
        is_right,
    ),
    weak_test(
        "True and False exchanged",
        lambda block, x: not all_of(WHOLE)(block, x),
        "Your test finds what is wrong and says True where it finds it: “{block}” is called right. True "
        "means that all promises are kept.",
        named(NO_MASK),
    ),
    weak_test(
        "asks for the same bits",
        _exact,
        "The block “{block}” is rejected, and it is right: what differs is rounding, below 1e-6. Compare "
        "with a tolerance of 1e-5.",
        named(ROUNDED),
    ),
    weak_test(
        "compares hidden outputs",
        but(padding, instead=(_padding_everywhere,)),
        "The block “{block}” is rejected, and it is right. An output at a hidden position may move with its "
        "own token, for nobody reads it. Compare the outputs at visible positions alone.",
        is_right,
    ),
    weak_test(
        "causality alone",
        causal,
        "The block “{block}” gets through. You test one promise of several: go through the list, and change "
        "what each says should not matter.",
        named(IGNORED),
    ),
    weak_test(
        "a change that the norm takes away",
        but(causal, prefix, instead=(_causal_by_a_constant,)),
        "The block “{block}” gets through. You add the same number to all features of a token, and the norm "
        "takes that away before attention reads it. Change the features at random.",
        named(NO_MASK),
    ),
    weak_test(
        "one length",
        but(prefix),
        "The block “{block}” gets through: no output hears the content of a later token, and still each "
        "knows how many there are. Hand in a part of the sequence and compare.",
        named(LENGTH),
    ),
    weak_test(
        "one mask for all",
        but(padding, instead=(_padding_same_mask,)),
        "The block “{block}” gets through: it reads the first sequence's mask for all of them, and yours are "
        "equal. Hide other positions in each sequence.",
        named(FIRST),
    ),
    weak_test(
        "never hides a token",
        but(padding, empty_row),
        "The block “{block}” gets through: no test of yours hands in a mask. Hide a token, change it, and "
        "look at the visible ones.",
        named(IGNORED),
    ),
    weak_test(
        "no row without a key",
        but(empty_row),
        "The block “{block}” gets through. Hide a whole sequence, and look whether numbers come out.",
        named(NOT_FINITE),
    ),
    weak_test(
        "one dtype",
        but(dtype),
        "The block “{block}” gets through. Hand in float32, and look at the dtype of what comes out.",
        named(DTYPE),
    ),
    weak_test(
        "asks twice and no more",
        lambda block, x: _agree(block(x), block(x)),
        "The block “{block}” gets through: it gives the same twice, and it is wrong each time. Change what "
        "should not matter between the two calls.",
        lambda case: case.name not in (RANDOM,) and not is_right(case),
    ),
)
