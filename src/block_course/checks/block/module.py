"""`block.module`: a causal pre-norm block as a PyTorch module with the course's parameter names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.block.module_misconceptions import MISCONCEPTIONS
from block_course.checks.block.module_reference import reference
from block_course.checks.block.parameters import (
    CONDITION,
    Parameters,
    Sizes,
    parameters,
    sizes,
    tokens,
    without,
)
from block_course.checks.block.wiring import Parts
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import paired, values
from block_course.checks.wording import entry, two_numbers
from block_course.exercise import Array, Case, Exercise, Hints

BATCH, BATCH_32, FUTURE = "a batch", "a batch in float32", "the batch with its last token replaced"
SILENT, ATTENTION, FEED_FORWARD = "silent branches", "attention alone", "the feed-forward part alone"
GRADIENT, TRAINING = "a gradient", "training mode"
OUT, DOWN = "attention.out", "feed_forward.down"
_CLEAR_OF_ZERO = 2e-4


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """The whole block in both precisions and modes; each branch alone; a later token changed; a gradient."""
    size = sizes(rng)
    drawn = parameters(rng, size)
    x, other = tokens(rng, size), _off_the_kink(rng, size, drawn)
    replaced = x.copy()
    replaced[:, -1] = rng.normal(size=(len(x), size.D))
    in_32 = {name: value.astype(np.float32) for name, value in parameters(rng, size).items()}
    return [
        _case(BATCH, x, size, drawn),
        _case(BATCH_32, tokens(rng, size, np.float32), size, in_32),
        _case(FUTURE, replaced, size, drawn),
        _case(SILENT, other, size, without(drawn, OUT, DOWN)),
        _case(ATTENTION, other, size, without(drawn, DOWN)),
        _case(FEED_FORWARD, other, size, without(drawn, OUT)),
        _case(TRAINING, other, size, drawn, train=True),
        _case(GRADIENT, other, size, drawn, cotangent=np.asarray(rng.normal(size=other.shape))),
    ]


def _off_the_kink(rng: np.random.Generator, size: Sizes, state: Parameters) -> Array:
    """Tokens that bring no inner feature near 0, where rounding could turn the gradient of the ReLU."""
    while True:
        x = tokens(rng, size)
        parts = Parts(size.H, state, np.tri(size.T, dtype=bool))
        read = parts.norm_2(x + parts.attention(parts.norm_1(x)))
        inner = read @ state["feed_forward.up.weight"].T + state["feed_forward.up.bias"]
        if np.min(np.abs(inner)) > _CLEAR_OF_ZERO:
            return x


def _case(
    name: str,
    x: Array,
    size: Sizes,
    state: Parameters,
    *,
    train: bool = False,
    cotangent: Array | None = None,
) -> Case:
    return Case(
        name=name,
        arguments={"x": x},
        condition=CONDITION,
        init={"d_model": size.D, "n_heads": size.H, "d_ff": size.F},
        state=state,
        train=train,
        cotangent=cotangent,
    )


def _unchanged_before_the_last(before: Case, after: Case, y: Array, y_after: Array) -> Array:
    return np.concatenate([y[:, :-1], y_after[:, -1:]], axis=1)


def _leak(case: Case, index: tuple[int, ...], got: Array, expected: Array) -> str:
    is_now, was = two_numbers(got[index], expected[index])
    return f"the last token was replaced, and entry {entry(index)}, before it, went from {was} to {is_now}"


_CAUSAL_HINTS: Hints = (
    "Which scores does your softmax see in the row of the first query?",
    "Query t may see the keys 0 to t. A score that is −∞ before the softmax gets the weight 0 behind it.",
    "Make a lower triangle of size (T, T) from the length of `x`, and fill the scores outside it with −∞ "
    "before the softmax; or let `scaled_dot_product_attention` be causal.",
)
_GRADIENT_HINTS: Hints = (
    "Does something in your forward pass leave PyTorch, or switch gradients off?",
    "`detach`, `no_grad`, `.data` and a way through NumPy cut the output off from `x`.",
    "Compute every stage with operations on tensors alone.",
)
_TRAINING_HINTS: Hints = (
    "Which module of yours behaves otherwise in training?",
    "Some modules drop a tenth of their features in training unless they are told not to.",
    "Leave dropout away, or set its rate to 0.",
)

EXERCISE = Exercise(
    id="block.module",
    answer="Block",
    title="The block as a PyTorch module",
    level="stretch",
    minutes=25,
    framework="torch",
    reference=reference,
    cases=cases,
    properties=(
        values("silent", "silent branches leave x as it is", 0.25, on=(SILENT,)),
        values("attention", "attention alone: x + MHA(LN₁(x)), causal", 1.0, on=(ATTENTION,)),
        values("feed-forward", "the feed-forward part alone: x + FFN(LN₂(x))", 1.0, on=(FEED_FORWARD,)),
        values("whole", "both branches, one after the other", 1.5, on=(BATCH, BATCH_32)),
        paired(
            "causal",
            "no position hears a later one",
            0.75,
            pairs=((BATCH, FUTURE),),
            alive=(BATCH, FUTURE),
            expect=_unchanged_before_the_last,
            explain=_leak,
            hints=_CAUSAL_HINTS,
        ),
        values("gradient", "the gradient arrives at x", 0.5, on=(GRADIENT,), output=1, hints=_GRADIENT_HINTS),
        values(
            "training",
            "training mode gives the same: nothing is dropped",
            0.5,
            on=(TRAINING,),
            requires=("whole",),
            hints=_TRAINING_HINTS,
        ),
        dtype_kept(0.25, of="x", requires=("whole",)),
        inputs_unchanged(0.25, requires=("whole",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Print `Block(12, 3, 20).state_dict().keys()`: are they the twelve names, with nothing beside them?",
        "A submodule stored under a name gives its tensors that name and a dot: two norms, and two modules "
        "that hold two linear layers each. A mask is no parameter, and follows from the length of `x`.",
        "In `forward`: norm 1, one projection cut into q, k and v, heads, causal softmax, heads side by "
        "side, `out`, add; norm 2, `up`, ReLU, `down`, add.",
    ),
    calls="module",
    withheld=("transformer_block",),
)
