"""`parameters.counts`: a pre-norm stack, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.following import follows
from block_course.checks.tables import Made, changed
from block_course.exercise import Case, Exercise, Hints, Misconception

NAMES = ("norms", "attention", "feed_forward", "stack")


def counts(D: int, F: int, L: int) -> dict[str, int]:
    """Two norms, four projections and two matrices to a block, each with its biases; one norm at the end."""
    norms = 4 * D
    attention = 4 * D * D + 4 * D
    feed_forward = 2 * D * F + F + D
    return {
        "norms": norms,
        "attention": attention,
        "feed_forward": feed_forward,
        "stack": L * (norms + attention + feed_forward) + 2 * D,
    }


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """GPT-2 small, the largest of its family, and sizes that nobody has used."""
    drawn = [
        (int(D), int(F), int(L))
        for D, F, L in zip(
            rng.integers(5, 90, 3), rng.integers(100, 400, 3), rng.integers(3, 9, 3), strict=True
        )
    ]
    return [
        Case(name=f"sizes {number}: D = {D:,}, F = {F:,}, L = {L}", arguments={"D": D, "F": F, "L": L})
        for number, (D, F, L) in enumerate([(768, 3072, 12), (1600, 6400, 48), *drawn], start=1)
    ]


_wrong = partial(changed, reference=counts, returns=NAMES)


def _part(name: str, sentence: str, **parts: Made) -> tuple[Misconception, ...]:
    """A part counted wrong: in a stack that is made from it, as a rule, or beside a right one."""

    def stack(s: SimpleNamespace) -> int:
        table = counts(s.D, s.F, s.L) | {key: made(s) for key, made in parts.items()}
        return int(s.L * sum(table[each] for each in NAMES[:3]) + 2 * s.D)  # type: ignore[misc]

    made: dict[str, Any] = {**parts}
    return (
        _wrong(name, sentence=sentence, **made, stack=stack),
        _wrong(name, sentence=sentence, **made),
    )


def _blocks(D: int, F: int) -> int:
    return counts(D, F, 1)["stack"] - 2 * D


MISCONCEPTIONS = (
    *_part(
        "one norm in a block",
        "Your norms have {mine} numbers for D = {D}. A block has two norms, each with a gain and a shift.",
        norms=lambda s: 2 * s.D,
    ),
    _wrong(
        "norms without their shift",
        sentence="Your norms have {mine} numbers for D = {D}. Two of them are right for gains alone; a "
        "layer norm has a shift of D entries as well.",
        norms=lambda s: 2 * s.D,
        stack=lambda s: s.L * (_blocks(s.D, s.F) - 2 * s.D) + s.D,
    ),
    *_part(
        "two projections of attention",
        "Your attention has {mine} numbers for D = {D}, those of two matrices. Queries, keys, "
        "values and the output have one each.",
        attention=lambda s: 2 * s.D * s.D + 2 * s.D,
    ),
    *_part(
        "three projections of attention",
        "Your attention has {mine} numbers for D = {D}: queries, keys and values. What the heads "
        "have gathered goes through a fourth matrix.",
        attention=lambda s: 3 * s.D * s.D + 3 * s.D,
    ),
    *_part(
        "biases of attention left out",
        "Your attention has {mine} numbers for D = {D}, those of its four matrices. Each has a "
        "bias of D entries.",
        attention=lambda s: 4 * s.D * s.D,
    ),
    *_part(
        "biases of the feed-forward part left out",
        "Your feed-forward part has {mine} numbers for D = {D} and F = {F}, those of two "
        "matrices. The first has a bias of F entries, the second one of D.",
        feed_forward=lambda s: 2 * s.D * s.F,
    ),
    *_part(
        "four times D whatever F is",
        "Your feed-forward part has {mine} numbers for D = {D} and F = {F}: the count for an "
        "inner width of four times D.",
        feed_forward=lambda s: 8 * s.D * s.D + 5 * s.D,
    ),
    *_part(
        "no biases at all",
        "Your attention has {mine} numbers for D = {D}, those of its four matrices, and your feed-forward "
        "part those of two. Each matrix has a bias, with an entry for each of its rows.",
        attention=lambda s: 4 * s.D * s.D,
        feed_forward=lambda s: 2 * s.D * s.F,
    ),
    _wrong(
        "parts of all blocks",
        sentence="Your norms have {mine} numbers: those of all {L} blocks. The first three entries are of "
        "one block.",
        norms=lambda s: 4 * s.D * s.L,
        attention=lambda s: s.L * counts(s.D, s.F, 1)["attention"],
        feed_forward=lambda s: s.L * counts(s.D, s.F, 1)["feed_forward"],
    ),
    _wrong(
        "no final norm",
        sentence="Your stack has {mine} numbers: {L} blocks. Behind the last block of a pre-norm stack "
        "stands one more norm.",
        stack=lambda s: s.L * _blocks(s.D, s.F),
    ),
    _wrong(
        "a final norm for each block",
        sentence="Your stack has {mine} numbers. The final norm stands once behind all {L} blocks.",
        stack=lambda s: s.L * (_blocks(s.D, s.F) + 2 * s.D),
    ),
    _wrong(
        "one block for the stack",
        sentence="Your stack has {mine} numbers: one block and the final norm. Each of the {L} blocks has "
        "parameters of its own.",
        stack=lambda s: _blocks(s.D, s.F) + 2 * s.D,
    ),
)

_PART_HINTS: Hints = (
    "Which tensors has this part, and which shapes?",
    "Attention has four D × D matrices with a bias each; the feed-forward part has F × D and D × F; each "
    "of two norms has a gain and a shift.",
    "4·D·D + 4·D; 2·D·F + F + D; 4·D.",
)
_STACK_HINTS: Hints = (
    "What stands between the last block and the output of a pre-norm stack?",
    "L blocks of three parts, and one norm of 2·D numbers behind them.",
    "L times the sum of the other three entries, plus 2·D.",
)

EXERCISE = Exercise(
    id="parameters.counts",
    answer="counts",
    title="A stack, part by part",
    level="warm-up",
    minutes=6,
    framework="numpy",
    withheld=("transformer_block",),
    reference=counts,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("norms", "the two norms of a block", 0.5, of=("norms",), hints=_PART_HINTS),
        entries("attention", "attention", 0.5, of=("attention",), hints=_PART_HINTS),
        entries("feed_forward", "the feed-forward part", 0.5, of=("feed_forward",), hints=_PART_HINTS),
        follows(
            "stack",
            "the whole stack, made from your parts",
            0.5,
            entry="stack",
            of=("norms", "attention", "feed_forward"),
            rule=lambda s, own: s.L * (own.norms + own.attention + own.feed_forward) + 2 * s.D,
            hints=_STACK_HINTS,
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Write down the tensors of a block with their shapes, as the chapter's first cell prints them.",
        "A matrix has rows times columns, a bias as many entries as the matrix has rows, a norm 2·D.",
        "Add the parts of one block, take that L times, and add the final norm.",
    ),
)
