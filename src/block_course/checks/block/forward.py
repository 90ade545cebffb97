"""`block.forward`: the pre-norm block in NumPy, from parts that are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.block import wiring
from block_course.checks.block.forward_reference import reference
from block_course.checks.block.parameters import (
    CONDITION,
    Parameters,
    first_numbers,
    parameters,
    sizes,
    split_arguments,
    tokens,
    without,
)
from block_course.checks.block.wiring import Parts, Wiring
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.exercise import Array, Case, Exercise, Hints, Misconception, Outputs

BATCH, BATCH_32, SEQUENCE, CONSTANT = "a batch", "a batch in float32", "one sequence", "a constant token"
SILENT, ATTENTION, FEED_FORWARD = "silent branches", "attention alone", "the feed-forward part alone"
OUT, DOWN = "attention.out", "feed_forward.down"


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """The whole block in both precisions; each branch alone; one sequence; a constant token."""
    size = sizes(rng)
    drawn = parameters(rng, size)
    x, other = tokens(rng, size), tokens(rng, size)
    constant = tokens(rng, size)
    constant[1, 2] = rng.integers(4, 12) / 4.0
    in_32 = {name: value.astype(np.float32) for name, value in parameters(rng, size).items()}
    return [
        case(BATCH, x, size.H, drawn),
        case(BATCH_32, tokens(rng, size, np.float32), size.H, in_32),
        case(SILENT, other, size.H, without(drawn, OUT, DOWN)),
        case(ATTENTION, other, size.H, without(drawn, DOWN)),
        case(FEED_FORWARD, other, size.H, without(drawn, OUT)),
        case(SEQUENCE, other[1].copy(), size.H, drawn, extreme=True),
        case(CONSTANT, constant, size.H, drawn, extreme=True),
    ]


def case(name: str, x: Array, n_heads: int, drawn: Parameters, *, extreme: bool = False) -> Case:
    """A call `block(x, n_heads, *parameters)`."""
    return Case(
        name=name, arguments={"x": x, "n_heads": n_heads, **drawn}, condition=CONDITION, extreme=extreme
    )


def wired(rule: Wiring, one_head: bool = False) -> Callable[..., Array]:
    """An answer that has the right parts, in the places of a rule."""
    return lambda x, n_heads, **p: rule(Parts(1 if one_head else n_heads, p), x)


def misconception(name: str, answer: Callable[..., Array], sentence: str) -> Misconception:
    """One that is told by the first entry that differs, then by a sentence."""

    def message(case: Case, outputs: Outputs) -> str:
        x, n_heads, drawn = split_arguments(case.arguments)
        numbers = first_numbers(case, outputs, reference(x, n_heads, **drawn))
        return f"{numbers[0].upper()}{numbers[1:]}. {sentence}"

    return Misconception(name=name, answer=answer, message=message)


MISCONCEPTIONS = (
    misconception(
        "second residual begins at x",
        wired(wiring.misprint),
        "That is x + FFN(LN₂(h)): the second residual begins at x, and what attention wrote is lost from the "
        "stream. It begins at h.",
    ),
    misconception(
        "first norm reused",
        wired(wiring.one_norm),
        "The feed-forward part reads a norm with the gain and bias of `norm_1`. The block has two norms, "
        "each with its own: at the start of training they are equal, here they are not.",
    ),
    misconception(
        "norms exchanged",
        wired(wiring.norms_exchanged),
        "Attention reads `norm_2` and the feed-forward part `norm_1`. Attention comes "
        "first, behind `norm_1`.",
    ),
    misconception(
        "post-norm",
        wired(wiring.post_norm),
        "Each norm stands behind its add, as in 2017. In a pre-norm block it stands before the branch, and "
        "the stream itself is never normalized.",
    ),
    misconception(
        "residual around the normed x",
        wired(wiring.around_the_normed),
        "Each branch's update was added to what the branch had read, which is normalized. It is added to the "
        "stream as it was before the norm.",
    ),
    misconception(
        "no norm before the feed-forward part",
        wired(wiring.no_second_norm),
        "The feed-forward part reads h as it is. It reads LN₂(h).",
    ),
    misconception(
        "feed-forward part reads x",
        wired(wiring.side_by_side),
        "The feed-forward part reads LN₂(x), past attention: the two branches stand side by side. It reads "
        "LN₂(h), in which attention's update is contained.",
    ),
    misconception(
        "no skip",
        wired(wiring.no_skip),
        "The branches follow each other and nothing is added. Each adds its update to what came before it.",
    ),
    misconception(
        "one head",
        wired(wiring.right, one_head=True),
        "Attention ran with a single head. `n_heads` says in how many the queries, keys and values are cut.",
    ),
)

_SECOND_HINTS: Hints = (
    "What does your feed-forward part read, and with the parameters of which norm?",
    "With a silent attention branch h is x, and y = x + FFN(LN₂(x)): the second norm has its own gain "
    "and bias.",
    "Call the norm on `h` with `norm_2.weight` and `norm_2.bias`, the feed-forward part on that, and add "
    "`h`.",
)
_DTYPE_AND_INPUT = ("whole",)

EXERCISE = Exercise(
    id="block.forward",
    answer="block",
    title="The pre-norm block",
    level="core",
    minutes=15,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values("silent", "silent branches leave x as it is", 0.5, on=(SILENT,)),
        values("attention", "attention alone: x + MHA(LN₁(x))", 1.0, on=(ATTENTION,)),
        values(
            "feed-forward",
            "the feed-forward part alone: x + FFN(LN₂(x))",
            1.0,
            on=(FEED_FORWARD,),
            hints=_SECOND_HINTS,
        ),
        values("whole", "both branches, one after the other", 1.5, on=(BATCH, BATCH_32)),
        values("sequence", "takes one sequence (T, D) too", 0.25, on=(SEQUENCE,), requires=("whole",)),
        values("constant", "a constant token does no harm", 0.25, on=(CONSTANT,), requires=("whole",)),
        dtype_kept(0.25, of="x", requires=_DTYPE_AND_INPUT),
        inputs_unchanged(0.25, requires=_DTYPE_AND_INPUT),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which of the six stages do you compute in which line, and what does each of them read?",
        "The stream x is read by a norm, and its branch's update is added to the stream, not to what the "
        "norm gave. That happens twice, each time with the norm and the parameters of that branch.",
        "Norm 1 of `x`; attention of that; `h` is `x` plus the update. Norm 2 of `h`; feed-forward of that; "
        "return `h` plus the update.",
    ),
    withheld=(
        "transformer_block.in_numpy.block",
        "transformer_block.in_numpy.stack",
        "transformer_block.joins",
    ),
)
