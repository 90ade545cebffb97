"""`norm_placement.post`: the block of 2017 from the parts of a pre-norm block."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from block_course.checks.block import wiring
from block_course.checks.block.forward import (
    ATTENTION,
    BATCH,
    BATCH_32,
    DOWN,
    FEED_FORWARD,
    OUT,
    SEQUENCE,
    SILENT,
    case,
    wired,
)
from block_course.checks.block.parameters import parameters, sizes, tokens, without
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.norm_placement import wirings
from block_course.checks.norm_placement.post_reference import post_block
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Case, Exercise, Hints


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """The whole block in both precisions, each branch alone, none; and one sequence."""
    size = sizes(rng)
    drawn = parameters(rng, size)
    x, other = tokens(rng, size), tokens(rng, size)
    in_32 = {name: value.astype(np.float32) for name, value in parameters(rng, size).items()}
    return [
        case(BATCH, x, size.H, drawn),
        case(BATCH_32, tokens(rng, size, np.float32), size.H, in_32),
        case(SILENT, other, size.H, without(drawn, OUT, DOWN)),
        case(ATTENTION, other, size.H, without(drawn, DOWN)),
        case(FEED_FORWARD, other, size.H, without(drawn, OUT)),
        case(SEQUENCE, other[1].copy(), size.H, drawn, extreme=True),
    ]


_wrong = partial(misconception, reference=post_block)

MISCONCEPTIONS = (
    _wrong(
        "pre-norm",
        wired(wiring.right),
        sentence="Each norm stands before its branch, which is pre-norm. In a post-norm block the branch "
        "reads the stream as it is, and the norm stands behind the add.",
    ),
    _wrong(
        "norms exchanged",
        wired(wirings.norms_exchanged),
        sentence="The first add is followed by `norm_2` and the second by `norm_1`; it is the other way "
        "round.",
    ),
    _wrong(
        "first norm reused",
        wired(wirings.one_norm),
        sentence="Both norms have the gain and bias of `norm_1`. The second has its own.",
    ),
    _wrong(
        "update normalized in place of the sum",
        wired(wirings.updates_normalized),
        sentence="Each norm stands between a branch and its add, so that only the update is normalized. It "
        "stands behind the add, on the stream.",
    ),
    _wrong(
        "second residual begins at x",
        wired(wirings.second_skip_from_x),
        sentence="The second residual begins at x. It begins behind the first norm, at h, which is also what "
        "the feed-forward part reads.",
    ),
    _wrong(
        "second residual begins before the norm",
        wired(wirings.skip_past_the_norm),
        sentence="The second residual begins at the sum x + MHA(x), past the first norm. In a post-norm "
        "block nothing goes past a norm: h is the normalized sum.",
    ),
    _wrong(
        "no skips",
        wired(wirings.no_skips),
        sentence="Branches and norms follow each other and nothing is added. Each branch's update is added "
        "to what the branch has read.",
    ),
    _wrong(
        "one norm, at the end",
        wired(wirings.norm_at_the_end_alone),
        sentence="The sum behind attention is not normalized. There is a norm behind each of the two adds.",
    ),
)

_SILENT_HINTS: Hints = (
    "What is left of the two equations when both branches give 0?",
    "h = LN₁(x) and y = LN₂(h): a post-norm block with silent branches still normalizes.",
    "Return the second norm of the first norm of `x`, there.",
)

EXERCISE = Exercise(
    id="norm_placement.post",
    answer="post_block",
    title="Post-norm from the same parts",
    level="core",
    minutes=12,
    framework="numpy",
    reference=post_block,
    cases=cases,
    properties=(
        values("silent", "silent branches: LN₂(LN₁(x))", 0.5, on=(SILENT,), hints=_SILENT_HINTS),
        values("attention", "attention alone", 1.0, on=(ATTENTION,)),
        values("feed-forward", "the feed-forward part alone", 1.0, on=(FEED_FORWARD,)),
        values("whole", "both branches", 1.5, on=(BATCH, BATCH_32)),
        values("sequence", "takes one sequence (T, D) too", 0.25, on=(SEQUENCE,), requires=("whole",)),
        dtype_kept(0.5, of="x", requires=("whole",)),
        inputs_unchanged(0.25, requires=("whole",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "In each half of the block: what does the branch read, and what does the norm read?",
        "The branch reads the stream, its update is added to the stream, and the norm reads the sum. What "
        "the norm gives is the stream of the next half.",
        "`h` is norm 1 of `x` plus attention of `x`; the result is norm 2 of `h` plus feed-forward of `h`.",
    ),
    withheld=(
        "transformer_block.in_numpy.block",
        "transformer_block.in_numpy.stack",
        "transformer_block.joins",
    ),
)
