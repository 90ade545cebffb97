"""`block.compose`: what each branch wrote, read off the stream, and what the misprint makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.block.forward_reference import reference as right_block
from block_course.checks.block.parameters import parameters, sizes, tokens, without
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.wording import number
from block_course.exercise import Array, Case, Exercise, Misconception, Outputs

BATCH, BATCH_32, SILENT = "a batch", "a batch in float32", "an attention branch that is silent"
CANCELLATION = 8.0
"""How much larger the stream may be than what a branch wrote to it."""


def reference(x: Array, h: Array, y: Array) -> Outputs:
    """The two updates, and x + FFN(LN₂(h)), in float64."""
    x, h, y = (each.astype(np.float64) for each in (x, h, y))
    return h - x, y - h, x + (y - h)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """The streams of blocks that work."""
    size = sizes(rng)
    drawn = parameters(rng, size)
    return [
        _case(BATCH, tokens(rng, size), drawn, size.H),
        _case(BATCH_32, tokens(rng, size), drawn, size.H, np.float32),
        _case(SILENT, tokens(rng, size), without(drawn, "attention.out"), size.H),
    ]


def _case(
    name: str, x: Array, drawn: dict[str, Array], n_heads: int, dtype: type[np.floating] = np.float64
) -> Case:
    h = right_block(x, n_heads, **without(drawn, "feed_forward.down"))
    stream = {"x": x, "h": h, "y": right_block(x, n_heads, **drawn)}
    given = {name: value.astype(dtype) for name, value in stream.items()}
    return Case(name=name, arguments=given, condition=CANCELLATION)


def _wrong(
    name: str, answer: Callable[[Array, Array, Array], Outputs], output: int, sentence: str
) -> Misconception:
    def message(case: Case, outputs: Outputs) -> str:
        x, h, y = (number(np.asarray(case.arguments[each]).flat[0]) for each in ("x", "h", "y"))
        given = number(outputs[output].flat[0])
        return f"The first numbers of x, h and y are {x}, {h} and {y}, and you give {given}. {sentence}"

    return Misconception(name=name, answer=answer, message=message)


MISCONCEPTIONS = (
    _wrong(
        "feed-forward update from x",
        lambda x, h, y: (h - x, y - x, y - (h - x)),
        1,
        "That is y − x, what both branches wrote together. The feed-forward part added its update to h.",
    ),
    _wrong(
        "feed-forward update from x",
        lambda x, h, y: (h - x, y - x, x + (y - x)),
        1,
        "That is y − x, what both branches wrote together. The feed-forward part added its update to h.",
    ),
    _wrong(
        "signs turned",
        lambda x, h, y: (x - h, h - y, x + (h - y)),
        0,
        "An update is what has to be added: the stream behind the add, less the stream before it.",
    ),
    _wrong(
        "signs turned",
        lambda x, h, y: (x - h, h - y, x + (y - h)),
        0,
        "An update is what has to be added: the stream behind the add, less the stream before it.",
    ),
    _wrong(
        "updates exchanged",
        lambda x, h, y: (y - h, h - x, x + (y - h)),
        0,
        "That is the feed-forward part's update. Attention wrote first: its update leads from x to h.",
    ),
    _wrong(
        "misprint is the block",
        lambda x, h, y: (h - x, y - h, y),
        2,
        "That is y, the block's own output, in third place. The misprint adds the feed-forward part's update "
        "to x.",
    ),
    _wrong(
        "misprint keeps attention alone",
        lambda x, h, y: (h - x, y - h, h),
        2,
        "That is h, in third place: attention's update is in it and the feed-forward part's is not. In the "
        "misprint it is the other way round.",
    ),
    _wrong(
        "misprint without x",
        lambda x, h, y: (h - x, y - h, y - h),
        2,
        "In third place stands the update alone. The misprint adds it to x.",
    ),
    _wrong(
        "stream in place of updates",
        lambda x, h, y: (h, y, x + (y - h)),
        0,
        "That is the stream behind the add. What the branch wrote is the difference that the add has made.",
    ),
)

EXERCISE = Exercise(
    id="block.compose",
    answer="read_off",
    title="What each branch wrote",
    level="warm-up",
    minutes=5,
    framework="numpy",
    reference=reference,
    cases=cases,
    returns=("attention", "feed_forward", "misprint"),
    properties=(
        values("attention", "attention's update", 0.5, on=(BATCH, BATCH_32, SILENT), output=0),
        values("feed-forward", "the feed-forward part's update", 0.5, on=(BATCH, BATCH_32), output=1),
        values("misprint", "the misprint's output", 0.5, on=(BATCH, BATCH_32), output=2),
        dtype_kept(0.25, of="x", requires=("attention", "feed-forward", "misprint")),
        inputs_unchanged(0.25, requires=("attention", "feed-forward", "misprint")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Write the block as two lines, h = … and y = …. Which of their terms do you know?",
        "Each add makes the stream larger by one update. The misprint has the block's "
        "feed-forward update, but adds it to x.",
        "Attention's update is what leads from `x` to `h`, the feed-forward part's what leads from `h` to "
        "`y`. Add the second to `x` for the misprint.",
    ),
)
