"""`block.is_identity_with_zeroed_branches`: a test of wiring that needs no second implementation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.block import wiring
from block_course.checks.block.parameters import Parameters, Sizes, at_the_start, parameters, sizes, without
from block_course.checks.block.wiring import Parts, Wiring
from block_course.checks.catching import catches, let_through, lets_through
from block_course.exercise import Array, Case, Exercise, Misconception, Outputs, Subject
from block_course.under_test import Block

OUT, DOWN = "attention.out", "feed_forward.down"
POST, POST_START, NO_SKIP = "post-norm", "post-norm at the start of training", "no skip"
BIAS, TURNED_DOWN, LAST = "a bias left on", "attention turned down", "the last position"
DROPPED = "dropout on the stream"
FAINT = 1e-3
"""What is left of an update that was turned down: small, and far above rounding."""

Forward = Callable[[Array], Array]


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Each block once, in random order, with weights of its own; `x` as a layer norm leaves it."""
    size = sizes(rng)
    made = [(name, forward, True) for name, forward in _right_blocks(rng, size).items()]
    made += [(name, forward, False) for name, forward in _wrong_blocks(rng, size).items()]
    x = rng.normal(size=(2, size.T, size.D))
    x -= x.mean(axis=-1, keepdims=True)
    x /= x.std(axis=-1, keepdims=True)
    return [
        Case(name=name, arguments={"x": x}, subject=Subject(right=right, answers={"forward": forward}))
        for name, forward, right in (made[index] for index in rng.permutation(len(made)))
    ]


def _right_blocks(rng: np.random.Generator, size: Sizes) -> dict[str, Forward]:
    draw = _silent(rng, size)
    single = _block(wiring.right, size, draw())
    return {
        "pre-norm": _block(wiring.right, size, draw()),
        "pre-norm at the start": _block(wiring.right, size, at_the_start(draw())),
        "branches side by side": _block(wiring.side_by_side, size, draw()),
        "no second norm": _block(wiring.no_second_norm, size, draw()),
        "computed in float32": lambda x: single(x.astype(np.float32).astype(np.float64)),
    }


def _wrong_blocks(rng: np.random.Generator, size: Sizes) -> dict[str, Forward]:
    draw = _silent(rng, size)
    drawn = parameters(rng, size)
    bias = {**draw(), f"{DOWN}.bias": drawn[f"{DOWN}.bias"]}
    faint = {**draw(), f"{OUT}.weight": FAINT * drawn[f"{OUT}.weight"]}
    loud, quiet = _block(wiring.right, size, drawn), _block(wiring.right, size, draw())
    scale = np.where(rng.random((size.T, size.D)) < 0.75, 1 / 0.75, 0.0)
    scale[0], scale[2, :3] = 1.0, 0.0
    return {
        POST: _block(wiring.post_norm, size, draw()),
        POST_START: _block(wiring.post_norm, size, at_the_start(draw())),
        NO_SKIP: _block(wiring.no_skip, size, draw()),
        BIAS: _block(wiring.right, size, bias),
        TURNED_DOWN: _block(wiring.right, size, faint),
        LAST: lambda x: np.concatenate([quiet(x)[..., :-1, :], loud(x)[..., -1:, :]], axis=-2),
        DROPPED: lambda x: quiet(x) * scale[np.arange(x.shape[-2]) % size.T],
    }


def _silent(rng: np.random.Generator, size: Sizes) -> Callable[[], Parameters]:
    return lambda: without(parameters(rng, size), OUT, DOWN)


def _block(rule: Wiring, size: Sizes, drawn: Parameters) -> Forward:
    return lambda x: rule(Parts(size.H, drawn), x.astype(np.float64))


Test = Callable[[Block, Array], object]


def _louder(x: Array) -> Array:
    return 3.0 * x


def _misses(name: str, test: Test, sentence: str) -> Misconception:
    def message(case: Case, outputs: Outputs) -> str:
        what = "lets a wrong block through" if bool(outputs[0]) else "rejects a right block"
        return f"Your test {what}: {case.name}. {sentence}"

    return Misconception(name=name, answer=lambda block, x: np.array(bool(test(block, x))), message=message)


MISCONCEPTIONS = (
    _misses(
        "turned over",
        lambda block, x: not np.allclose(block(_louder(x)), _louder(x)),
        "It says True where the input has changed. A test says True when all is well.",
    ),
    _misses(
        "x as it was given",
        lambda block, x: np.allclose(block(x), x),
        "The tokens of `x` have mean 0 and variance 1 already: a norm with gain 1 and bias 0 hardly moves "
        "them. Which tokens would it move?",
    ),
    _misses(
        "bits compared",
        lambda block, x: np.array_equal(block(_louder(x)), _louder(x)),
        "It asks for equality in every bit, and this block rounds to float32. Allow for rounding, and for no "
        "more.",
    ),
    _misses(
        "bits compared",
        lambda block, x: np.array_equal(block(x), x),
        "It asks for equality in every bit, and this block rounds to float32. Allow for rounding, and for no "
        "more.",
    ),
    _misses(
        "shapes compared",
        lambda block, x: block(x).shape == x.shape,
        "A shape says nothing of the numbers: noise of the right shape would pass.",
    ),
    _misses(
        "first position alone",
        lambda block, x: np.allclose(block(_louder(x))[:, 0], _louder(x)[:, 0]),
        "It looks at the first position alone. One position proves nothing about the others.",
    ),
    _misses(
        "loose tolerance",
        lambda block, x: np.allclose(block(_louder(x)), _louder(x), atol=0.05),
        "What this block adds is about 0.001, and your tolerance takes it for rounding. In float32 features "
        "of this size round by less than 0.000001.",
    ),
    _misses(
        "means compared",
        lambda block, x: abs(float(np.mean(block(_louder(x)) - _louder(x)))) < 1e-6,
        "It compares one mean over all entries, in which differences of both signs cancel. Compare entry by "
        "entry.",
    ),
)

EXERCISE = Exercise(
    id="block.is_identity_with_zeroed_branches",
    answer="is_identity",
    title="A test: silent branches",
    level="core",
    minutes=15,
    framework="numpy",
    reference=let_through,
    cases=cases,
    properties=(
        lets_through(),
        catches(POST, "catches post-norm", 0.5),
        catches(POST_START, "catches post-norm at the start of training", 1.0),
        catches(NO_SKIP, "catches a block without skips", 0.5),
        catches(BIAS, "catches a bias that was not silenced", 0.5),
        catches(TURNED_DOWN, "catches a branch that is faint, not silent", 0.5),
        catches(LAST, "catches a branch that speaks at the last position alone", 0.5),
        catches(DROPPED, "catches dropout on the stream", 0.5),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "What do you put in, what should come out, and how close must it be?",
        "A norm with gain 1 and bias 0 leaves tokens alone that have mean 0 and variance 1. Rounding in "
        "float32 is below a millionth of a number's size.",
        "Hand in tokens whose variance is far from 1, and compare what comes out with what you put in, entry "
        "by entry, with a tolerance for float32.",
    ),
    calls="test",
)
