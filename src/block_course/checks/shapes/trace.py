"""`shapes.trace`: the shape of every value on the way through a block, the heads included."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.shapes.right import trace
from block_course.checks.tables import changed
from block_course.exercise import Case, Exercise, Hints

STREAM = ("norm_1", "attention", "add_1", "norm_2", "feed_forward", "add_2")
NAMES = (*STREAM, "queries", "weights", "heads", "inner")


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """The block of 2017, that of the chapter, and two that are drawn: all sizes differ, K among them."""
    drawn = []
    for _ in range(2):
        B, T, H, K = (int(size) for size in rng.permutation(np.arange(2, 12))[:4])
        drawn.append((B, T, H * K, H, int(rng.integers(150, 300))))
    return [
        Case(
            name=f"sizes {index}: ({B}, {T}, {D}), {H} heads, F = {F:,}",
            arguments={"B": B, "T": T, "D": D, "H": H, "F": F},
        )
        for index, (B, T, D, H, F) in enumerate([(2, 5, 512, 8, 2048), (2, 4, 6, 3, 24), *drawn], start=1)
    ]


_wrong = partial(changed, reference=trace, returns=NAMES)

MISCONCEPTIONS = (
    _wrong(
        "heads behind the positions",
        sentence="Your queries have shape {mine}: positions before heads, as a reshape leaves them. They are "
        "then transposed, so that each of the {H} heads has a matrix (T, K) of its own.",
        queries=lambda s: (s.B, s.T, s.H, s.D // s.H),
        heads=lambda s: (s.B, s.T, s.H, s.D // s.H),
    ),
    _wrong(
        "every head as wide as the token",
        sentence="Your queries have shape {mine}: each head has all D = {D} features. The features are cut "
        "into {H} parts, one for each head.",
        queries=lambda s: (s.B, s.H, s.T, s.D),
        heads=lambda s: (s.B, s.H, s.T, s.D),
    ),
    _wrong(
        "one table for all heads",
        sentence="Your weights have shape {mine}, one table of positions by positions. Each of the {H} heads "
        "has a table of its own.",
        weights=lambda s: (s.B, s.T, s.T),
    ),
    _wrong(
        "weights as wide as a head",
        sentence="Your weights have shape {mine}. They relate each of T = {T} positions to each of T: the "
        "head width has been summed over, in the products of queries and keys.",
        weights=lambda s: (s.B, s.H, s.T, s.D // s.H),
    ),
    _wrong(
        "weights of features by features",
        sentence="Your weights have shape {mine}, features by features. Attention compares positions with "
        "positions, T = {T} by T.",
        weights=lambda s: (s.B, s.H, s.D // s.H, s.D // s.H),
    ),
    _wrong(
        "inner features cut into heads",
        sentence="Your inner features have shape {mine}. Heads are attention's; the feed-forward part has "
        "all F = {F} features of a token in one axis.",
        inner=lambda s: (s.B, s.H, s.T, s.F // s.H),
    ),
    _wrong(
        "heads not merged",
        sentence="Your attention update has shape {mine}: the heads stand apart. They are laid side by side "
        "again, {H} times K features, before the update is added to the stream.",
        attention=lambda s: (s.B, s.H, s.T, s.D // s.H),
    ),
    _wrong(
        "appended",
        sentence="Your stream behind the first add has shape {mine}. An update is added to the token and not "
        "set beside it: D = {D} features stay D.",
        add_1=lambda s: (s.B, s.T, 2 * s.D),
        norm_2=lambda s: (s.B, s.T, 2 * s.D),
        feed_forward=lambda s: (s.B, s.T, 2 * s.D),
        add_2=lambda s: (s.B, s.T, 4 * s.D),
    ),
    _wrong(
        "appended",
        sentence="Your stream behind the first add has shape {mine}. An update is added to the token and not "
        "set beside it: D = {D} features stay D.",
        add_1=lambda s: (s.B, s.T, 2 * s.D),
        add_2=lambda s: (s.B, s.T, 2 * s.D),
    ),
)

_HEAD_HINTS: Hints = (
    "How many features has one head, and which axis counts the heads?",
    "The D features of a token are cut into H parts of K = D/H. Each head works on a matrix (T, K), so that "
    "the axis of the heads stands before that of the positions.",
    "Put B, H, T and D // H into the tuple, for the queries and for what the heads have gathered.",
)
_WEIGHT_HINTS: Hints = (
    "What does one row of the weights belong to, and one column?",
    "A row belongs to a position that asks, a column to one that is asked; here both are T. Each head of "
    "each item has its own table.",
    "Put B, H, T and T into the tuple.",
)

EXERCISE = Exercise(
    id="shapes.trace",
    answer="trace",
    title="Every stage of a block",
    level="core",
    minutes=8,
    framework="numpy",
    reference=trace,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("heads", "what the heads ask and gather", 1.0, of=("queries", "heads"), hints=_HEAD_HINTS),
        entries("weights", "the attention weights", 1.0, of=("weights",), hints=_WEIGHT_HINTS),
        entries("inner", "the inner features", 0.5, of=("inner",)),
        entries("stream", "the six stages", 0.5, of=STREAM),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which values stand on the stream or are added to it, and which are inside a branch?",
        "All six stages have the shape of x. Inside attention there are H heads of width D/H, inside the "
        "feed-forward part F features.",
        "Six times (B, T, D); twice (B, H, T, K) with K = D/H; the weights are T by T for each head; the "
        "inner features end in F.",
    ),
)
