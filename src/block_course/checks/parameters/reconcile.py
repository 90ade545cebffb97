"""`parameters.reconcile`: the inner width that a published total gives away."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.following import follows
from block_course.checks.tables import changed
from block_course.exercise import Case, Exercise, Hints, Misconception

NAMES = ("in_blocks", "one_block", "feed_forward", "F")


def reconcile(total: int, V: int, D: int, L: int) -> dict[str, int]:
    """Two tables and a gain taken off; a block of the rest; what attention and gains leave of it."""
    in_blocks = total - 2 * V * D - D
    one_block = in_blocks // L
    feed_forward = one_block - 4 * D * D - 2 * D
    return {
        "in_blocks": in_blocks,
        "one_block": one_block,
        "feed_forward": feed_forward,
        "F": feed_forward // (3 * D),
    }


def total(V: int, D: int, L: int, F: int) -> int:
    """What such a model has in all."""
    return 2 * V * D + D + L * (4 * D * D + 3 * D * F + 2 * D)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Llama 7B and 13B, and models that nobody has trained."""
    known = [(32_000, 4096, 32, 11_008), (32_000, 5120, 40, 13_824)]
    for _ in range(3):
        V, D, L, F = (
            int(rng.integers(low, high)) for low, high in ((500, 900), (11, 40), (3, 9), (100, 300))
        )
        known.append((V, D, L, F))
    return [
        Case(
            name=f"model {number}: {total(V, D, L, F):,} in all, V = {V:,}, D = {D:,}, L = {L}",
            arguments={"total": total(V, D, L, F), "V": V, "D": D, "L": L},
        )
        for number, (V, D, L, F) in enumerate(known, start=1)
    ]


_wrong = partial(changed, reference=reconcile, returns=NAMES)


def _from(
    in_blocks: Any,
    attention: Any = lambda s: 4 * s.D * s.D,
    gains: int = 2,
    matrices: int = 3,
    over: Any = operator.floordiv,
) -> Any:
    """The four entries, should the blocks hold so much and a block be made so."""

    def one(s: Any) -> Any:
        return over(in_blocks(s), s.L)

    def wide(s: Any) -> Any:
        return one(s) - attention(s) - gains * s.D

    return {
        "in_blocks": in_blocks,
        "one_block": one,
        "feed_forward": wide,
        "F": lambda s: over(wide(s), matrices * s.D),
    }


def _outside(name: str, sentence: str, in_blocks: Any) -> tuple[Misconception, ...]:
    """A slip in what stands outside the blocks, divided on to whole numbers or to decimals."""
    divided = (_from(in_blocks, over=over) for over in (operator.floordiv, operator.truediv))
    return tuple(_wrong(name, sentence=sentence, **entries) for entries in divided)


def _in_blocks(s: Any) -> int:
    return int(s.total - 2 * s.V * s.D - s.D)


MISCONCEPTIONS = (
    *_outside(
        "one table",
        "Your blocks hold {mine}. One table of {V} tokens is taken off; the output is untied and "
        "has another.",
        lambda s: s.total - s.V * s.D - s.D,
    ),
    *_outside(
        "no table",
        "Your blocks hold {mine}. The tables of {V} tokens, two of them, are still in it.",
        lambda s: s.total - s.D,
    ),
    *_outside(
        "the final norm left in",
        "Your blocks hold {mine}. The gain of the final norm, {D} numbers, is still in it.",
        lambda s: s.total - 2 * s.V * s.D,
    ),
    *_outside(
        "a final norm with a shift",
        "Your blocks hold {mine}: 2·D are taken off for the final norm. An RMS norm has a gain and no shift.",
        lambda s: s.total - 2 * s.V * s.D - 2 * s.D,
    ),
    _wrong(
        "two matrices",
        sentence="Your F is {mine}, for a feed-forward part of two matrices. A gated one has three.",
        shown="F",
        **_from(_in_blocks, matrices=2),
    ),
    _wrong(
        "three projections of attention",
        sentence="Your feed-forward part holds {mine}. Three matrices of attention are taken off the block; "
        "there are four.",
        shown="feed_forward",
        **_from(_in_blocks, attention=lambda s: 3 * s.D * s.D),
    ),
    _wrong(
        "attention left in",
        sentence="Your feed-forward part holds {mine}. The block's attention, four matrices of {D} × {D}, is "
        "still in it.",
        shown="feed_forward",
        **_from(_in_blocks, attention=lambda s: 0),
    ),
    *(
        _wrong(
            "the gains left in",
            sentence="Your feed-forward part holds {mine}. The gains of the block's two norms, {D} numbers "
            "each, are still in it.",
            shown="feed_forward",
            **_from(_in_blocks, gains=0, over=over),
        )
        for over in (operator.floordiv, operator.truediv)
    ),
    _wrong(
        "all blocks for one",
        sentence="Your block holds {mine}: that is all {L} of them.",
        one_block=_in_blocks,
        feed_forward=lambda s: _in_blocks(s) - 4 * s.D * s.D - 2 * s.D,
        F=lambda s: (_in_blocks(s) - 4 * s.D * s.D - 2 * s.D) // (3 * s.D),
    ),
)


def _either(mine: float, above: float, below: int) -> float:
    """The quotient, or its whole part if that is what was taken."""
    return above // below if mine == above // below else above / below


_BLOCKS_HINTS: Hints = (
    "What stands outside the blocks of such a model, and how often?",
    "Two tables of V·D, since the output is untied, and the gain of one RMS norm, D.",
    "total − 2·V·D − D.",
)
_PART_HINTS: Hints = (
    "Which parts of a block don't depend on F?",
    "Attention has 4·D·D, and the two norms have a gain each.",
    "Take 4·D·D and 2·D off the block.",
)
_WIDTH_HINTS: Hints = (
    "How many matrices has the feed-forward part, and how large is each?",
    "Three of F × D.",
    "Divide what the feed-forward part holds by 3·D.",
)

EXERCISE = Exercise(
    id="parameters.reconcile",
    answer="reconcile",
    title="A width from a total",
    level="stretch",
    minutes=8,
    framework="numpy",
    withheld=("transformer_block",),
    reference=reconcile,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("in_blocks", "what is in the blocks", 1.0, of=("in_blocks",), hints=_BLOCKS_HINTS),
        follows(
            "one_block",
            "one block, made from what is in yours",
            0.5,
            entry="one_block",
            of=("in_blocks",),
            rule=lambda s, own: _either(own.one_block, own.in_blocks, s.L),
        ),
        follows(
            "feed_forward",
            "its feed-forward part, made from your block",
            0.75,
            entry="feed_forward",
            of=("one_block",),
            rule=lambda s, own: own.one_block - 4 * s.D * s.D - 2 * s.D,
            hints=_PART_HINTS,
        ),
        follows(
            "F",
            "the inner width, made from your feed-forward part",
            0.75,
            entry="F",
            of=("feed_forward",),
            rule=lambda s, own: _either(own.F, own.feed_forward, 3 * s.D),
            hints=_WIDTH_HINTS,
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Go through the lines of Llama 7B in the chapter from the total backward.",
        "Take off what stands outside the blocks, divide by L, take off what doesn't depend on F.",
        "F is (block − 4·D·D − 2·D) / (3·D), a whole number.",
    ),
)
