"""`block.mend`: a block with two faults that nothing shows at the start of training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.block import wiring
from block_course.checks.block.forward import case, misconception, wired
from block_course.checks.block.forward_reference import reference
from block_course.checks.block.parameters import at_the_start, parameters, sizes, tokens, without
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import Explain, paired, values
from block_course.checks.wording import entry, two_numbers
from block_course.exercise import Array, Case, Exercise, Hints

START, TRAINED, TRAINED_32 = "at the start of training", "later", "later, in float32"
NORMS, NO_BIAS, BIAS, OTHER = "norms that differ", "without biases of out", "biases of out", "another batch"
OUT_BIAS, DOWN = "attention.out.bias", "feed_forward.down"


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """The start, at which the broken block is right; one fault alone, then the other; all of it."""
    size = sizes(rng)
    drawn = parameters(rng, size)
    x, other = tokens(rng, size), tokens(rng, size)
    in_32 = {name: value.astype(np.float32) for name, value in drawn.items()}
    no_bias = without(drawn, OUT_BIAS, DOWN)
    return [
        case(START, x, size.H, at_the_start(drawn)),
        case(NORMS, x, size.H, without(drawn, OUT_BIAS)),
        case(NO_BIAS, x, size.H, no_bias),
        case(BIAS, x, size.H, without(drawn, DOWN)),
        case(OTHER, other, size.H, no_bias),
        case(TRAINED, other, size.H, drawn),
        case(TRAINED_32, tokens(rng, size, np.float32), size.H, in_32),
    ]


def _plus_bias(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    return np.asarray(y + np.asarray(after.arguments[OUT_BIAS]))


def _said(sentence: str) -> Explain:
    def explain(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str:
        is_now, should_be = two_numbers(got[index], expected[index])
        return sentence.format(entry=entry(index), is_now=is_now, should_be=should_be)

    return explain


def _without_bias(answer: Callable[..., Array]) -> Callable[..., Array]:
    return lambda x, n_heads, **p: answer(x, n_heads, **without(p, OUT_BIAS))


def _transposed(answer: Callable[..., Array]) -> Callable[..., Array]:
    """With the output matrix the wrong way round."""
    weight = "attention.out.weight"
    return lambda x, n_heads, **p: answer(x, n_heads, **{**p, weight: p[weight].T})


def _bias_twice(answer: Callable[..., Array]) -> Callable[..., Array]:
    return lambda x, n_heads, **p: answer(x, n_heads, **{**p, OUT_BIAS: 2 * p[OUT_BIAS]})


MISCONCEPTIONS = (
    misconception(
        "nothing mended",
        _without_bias(wired(wiring.one_norm)),
        "This is the broken block. At the start of training it is right; change a gain or a bias, and it is "
        "not.",
    ),
    misconception(
        "first norm still reused",
        wired(wiring.one_norm),
        "Attention's bias is there now. The feed-forward part still reads a norm with the parameters of "
        "`norm_1`.",
    ),
    misconception(
        "bias of out still left out",
        _without_bias(wired(wiring.right)),
        "The second norm has its own parameters now. One more parameter is read nowhere: compare the twelve "
        "names with what the code takes from `p`.",
    ),
    misconception(
        "norms exchanged",
        wired(wiring.norms_exchanged),
        "Attention reads `norm_2` and the feed-forward part `norm_1`. It is the other way round.",
    ),
    misconception(
        "norms exchanged",
        _without_bias(wired(wiring.norms_exchanged)),
        "Attention reads `norm_2` and the feed-forward part `norm_1`. It is the other way round. And one "
        "parameter is read nowhere.",
    ),
    misconception(
        "second norm taken out",
        wired(wiring.no_second_norm),
        "The feed-forward part reads h itself: the reused norm is gone and none has come in its place.",
    ),
    misconception(
        "second residual begins at x",
        wired(wiring.misprint),
        "The second residual begins at x now. That part was right: it begins at h.",
    ),
    misconception(
        "out transposed",
        _transposed(wired(wiring.right)),
        "`attention.out.weight` is (out, in), like every matrix here; you hand over its transpose.",
    ),
    misconception(
        "bias of out added twice",
        _bias_twice(wired(wiring.right)),
        "`attention.out.bias` was added twice: inside `attention` and again outside.",
    ),
)

_NORM_HINTS: Hints = (
    "Which of the twelve parameters does the broken block never read?",
    "A norm that is bound to one gain and one bias stays the same function wherever it is called.",
    "Normalize `h` with `norm_2.weight` and `norm_2.bias`.",
)
_BIAS_HINTS: Hints = (
    "Which of the twelve parameters does the broken block never read?",
    "Where `attention` gets None it adds no bias behind the output matrix.",
    "Hand `attention.out.bias` to `attention` in place of None.",
)

EXERCISE = Exercise(
    id="block.mend",
    answer="mended",
    title="A block that was right yesterday",
    level="core",
    minutes=10,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values(
            "norm",
            "each branch reads the norm of its own",
            1.25,
            on=(NORMS,),
            hints=_NORM_HINTS,
        ),
        paired(
            "bias",
            "a bias that the broken block ignores is added",
            1.0,
            pairs=((NO_BIAS, BIAS),),
            alive=(NO_BIAS, OTHER),
            expect=_plus_bias,
            explain=_said("with the feed-forward part silent, entry {entry} is {is_now} and not {should_be}"),
            hints=_BIAS_HINTS,
        ),
        values(
            "both",
            "the whole block is right, at the start and later",
            1.25,
            on=(START, TRAINED, TRAINED_32),
            requires=("norm", "bias"),
        ),
        dtype_kept(0.25, of="x", requires=("both",)),
        inputs_unchanged(0.25, requires=("both",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which of the twelve parameters does the broken block never read?",
        "At the start all gains are 1 and all biases 0. What multiplies by the wrong gain, or leaves a bias "
        "out, can't be seen then.",
        "Let the second norm read `norm_2`, and hand over each bias.",
    ),
    withheld=(
        "transformer_block.in_numpy.block",
        "transformer_block.in_numpy.stack",
        "transformer_block.joins",
    ),
)
