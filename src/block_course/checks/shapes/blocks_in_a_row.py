"""`shapes.blocks_in_a_row`: predictions of what a row of blocks takes, hands on, and would come to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.shapes.right import row
from block_course.checks.tables import changed
from block_course.exercise import Case, Exercise, Hints

NAMES = ("stream", "orders", "takes", "appended")


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """The twelve blocks of the chapter, and rows of other lengths."""
    depths = rng.permutation(np.arange(2, 8))[:3]
    drawn = [(*rng.permutation(np.arange(2, 20))[:3], depth) for depth in depths]
    return [
        Case(name=f"{L} blocks for D = {D}", arguments={"B": B, "T": T, "D": D, "L": L})
        for B, T, D, L in ([int(size) for size in sizes] for sizes in ((2, 4, 6, 12), *drawn))
    ]


_wrong = partial(changed, reference=row, returns=NAMES)

MISCONCEPTIONS = (
    _wrong(
        "a doubling for each block",
        sentence="Your width for D = {D} and {L} blocks is {mine}: one doubling a block. A block has two "
        "branches, attention and feed-forward, and each would append.",
        appended=lambda s: s.D * 2**s.L,
    ),
    _wrong(
        "width grows by steps",
        sentence="Your width for D = {D} and {L} blocks is {mine}: D more for each branch. A branch would "
        "append as many features as it has read, and it reads what the earlier ones have appended.",
        appended=lambda s: s.D * (1 + 2 * s.L),
    ),
    _wrong(
        "one doubling in all",
        sentence="Your width for D = {D} and {L} blocks is {mine}. The doublings multiply: there are two for "
        "each of the {L} blocks.",
        appended=lambda s: s.D * 4 * s.L,
    ),
    _wrong(
        "length is fixed",
        sentence="You expect a row of blocks to refuse another length. No T stands in the shapes of a "
        "block's parameters: the same ones serve any number of positions.",
        takes=lambda s: {"more items"},
    ),
    _wrong(
        "length is fixed",
        sentence="You expect a row of blocks to refuse a longer sequence. No T stands in the shapes of a "
        "block's parameters: the same ones serve any number of positions.",
        takes=lambda s: {"more items", "one token"},
    ),
    _wrong(
        "any width",
        sentence="You expect a row of blocks to take twice D = {D} features. Its matrices have D columns, "
        "and its gains D entries.",
        takes=lambda s: {"longer", "more items", "one token", "wider"},
    ),
    _wrong(
        "a width of 1 is stretched",
        sentence="You expect a row of blocks to take one feature in place of {D}. NumPy would stretch it "
        "where something is added; but a block begins with a norm, whose gain has D entries, and with "
        "matrices of D columns.",
        takes=lambda s: {"longer", "more items", "one token", "narrow"},
    ),
    _wrong(
        "axes may be exchanged",
        sentence="You expect a row of blocks to take (B, D, T). The last axis is that of the features, and "
        "it must be {D} long.",
        takes=lambda s: {"longer", "more items", "one token", "turned"},
    ),
    _wrong(
        "one order",
        sentence="You count one order. Each block hands on the shape that it takes, so that any of the {L} "
        "fits behind any other. (It would be another function.)",
        orders=lambda s: 1,
    ),
    _wrong(
        "pairs in place of orders",
        sentence="You count {mine} orders of {L} blocks. The first place can be taken by any of the {L}, the "
        "next by any of the rest, and so on; multiply.",
        orders=lambda s: s.L**2,
    ),
    _wrong(
        "stream as wide as what is inside",
        sentence="Your stream has shape {mine} behind {L} blocks. The width is free inside a branch; at its "
        "end it is D = {D} again.",
        stream=lambda s: (s.B, s.T, 4 * s.D),
    ),
)

_TAKES_HINTS: Hints = (
    "Which letters stand in the shapes of a block's parameters, and which do not?",
    "There are D and F, and no B and no T. Only the last axis of what is handed in has to fit.",
    "Of the six, three have D as their last axis: those with another T or another B.",
)
_APPENDED_HINTS: Hints = (
    "How wide would a token be behind the first branch, and how wide behind the second?",
    "Each branch would double the width, and a block has two branches.",
    "Multiply D by 2 as often as there are branches, twice the number of blocks.",
)

EXERCISE = Exercise(
    id="shapes.blocks_in_a_row",
    answer="predict",
    title="Blocks in a row",
    level="core",
    minutes=8,
    framework="numpy",
    reference=row,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("stream", "the shape that is handed on", 0.5, of=("stream",)),
        entries("orders", "the orders in which the blocks run", 0.75, of=("orders",)),
        entries("takes", "what the row takes", 0.75, of=("takes",), hints=_TAKES_HINTS),
        entries("appended", "the width, if branches appended", 1.0, of=("appended",), hints=_APPENDED_HINTS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "What does each block need of what it is given, and what does it promise of what it hands on?",
        "A block needs D features in the last axis and hands on the shape that came. So any block fits "
        "behind any other of the same D.",
        "The shape stays; L blocks stand in L! orders; whatever ends in D is taken; two doublings a block.",
    ),
)
