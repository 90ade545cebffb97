"""`shapes.branches`: what shapes a block's two branches have at their ends and between them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.shapes.right import branches
from block_course.checks.tables import changed
from block_course.exercise import Case, Exercise, Hints

NAMES = ("attention", "inner", "feed_forward", "up", "down", "y")


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """The batch of the lesson, GPT-2 small on one sentence, and sizes that nobody has used."""
    drawn = [tuple(int(size) for size in rng.permutation(np.arange(2, 40))[:4]) for _ in range(2)]
    return [
        Case(name=f"sizes {index}: ({B}, {T}, {D}) and F = {F:,}", arguments={"B": B, "T": T, "D": D, "F": F})
        for index, (B, T, D, F) in enumerate([(8, 64, 512, 2048), (1, 10, 768, 3072), *drawn], start=1)
    ]


_wrong = partial(changed, reference=branches, returns=NAMES)

MISCONCEPTIONS = (
    _wrong(
        "no widening",
        sentence="Your inner features have shape {mine}. Between its two matrices the feed-forward part has "
        "F = {F} features for each token.",
        inner=lambda s: (s.B, s.T, s.D),
    ),
    _wrong(
        "never brought back",
        sentence="Your feed-forward update has shape {mine}, as wide as the inner features. It is to be "
        "added to a stream of D = {D} features: the second matrix brings it back.",
        feed_forward=lambda s: (s.B, s.T, s.F),
    ),
    _wrong(
        "never brought back",
        sentence="Your feed-forward update has shape {mine}, as wide as the inner features. It is to be "
        "added to a stream of D = {D} features: the second matrix brings it back.",
        feed_forward=lambda s: (s.B, s.T, s.F),
        y=lambda s: (s.B, s.T, s.F),
    ),
    _wrong(
        "appended",
        sentence="Your block hands on {mine}: the update stands beside the token. It is added to it, feature "
        "by feature, and D = {D} features stay D features.",
        y=lambda s: (s.B, s.T, 2 * s.D),
    ),
    _wrong(
        "appended",
        sentence="Your block hands on {mine}: the updates stand beside the token. They are added to it, "
        "feature by feature, and D = {D} features stay D features.",
        y=lambda s: (s.B, s.T, 3 * s.D),
    ),
    _wrong(
        "matrices (in, out)",
        sentence="Your `up` has shape {mine}, (in, out). Here matrices are (out, in): `up` leads from D = "
        "{D} features to F = {F}, so that F comes first.",
        up=lambda s: (s.D, s.F),
        down=lambda s: (s.F, s.D),
    ),
    _wrong(
        "batch and positions in one axis",
        sentence="Your attention update has shape {mine}: batch items and positions are in one axis. A block "
        "keeps them apart, and the stream has three axes.",
        attention=lambda s: (s.B * s.T, s.D),
        inner=lambda s: (s.B * s.T, s.F),
        feed_forward=lambda s: (s.B * s.T, s.D),
        y=lambda s: (s.B * s.T, s.D),
    ),
    _wrong(
        "four times D whatever F is",
        sentence="Your inner features have shape {mine}: four times D = {D}. That is a custom, and F is {F} "
        "here.",
        inner=lambda s: (s.B, s.T, 4 * s.D),
        up=lambda s: (4 * s.D, s.D),
        down=lambda s: (s.D, 4 * s.D),
    ),
    _wrong(
        "attention hands on its table",
        sentence="Your attention update has shape {mine}, a table of positions by positions. Those are the "
        "weights, inside. What the branch hands on is added to tokens of D = {D} features.",
        attention=lambda s: (s.B, s.T, s.T),
    ),
)

_INNER_HINTS: Hints = (
    "How many neurons does each token meet between the two matrices?",
    "The feed-forward part works on each token by itself: B and T stay, and D features become F.",
    "Put B, T and F into the tuple.",
)
_MATRIX_HINTS: Hints = (
    "From how many features does each of the matrices lead, and to how many?",
    "Stored (out, in), a matrix has a row for each feature that comes out. `up` leads from D to F, `down` "
    "from F to D.",
    "`up` has F rows and D columns, `down` D rows and F columns.",
)

EXERCISE = Exercise(
    id="shapes.branches",
    answer="branches",
    title="The ends of a branch",
    level="warm-up",
    minutes=6,
    framework="numpy",
    reference=branches,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("inner", "the inner features", 0.75, of=("inner",), hints=_INNER_HINTS),
        entries("matrices", "the two matrices", 0.75, of=("up", "down"), hints=_MATRIX_HINTS),
        entries("ends", "both updates, and what is handed on", 0.5, of=("attention", "feed_forward", "y")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "What is done with the result of a branch, and which shape must it have for that?",
        "An update is added to the stream, number by number: it has the stream's shape, and so has the sum. "
        "Inside a branch the width is free.",
        "Three of the six are the shape of x. The inner features have F in place of D; the matrices lead "
        "from D to F and from F to D.",
    ),
)
