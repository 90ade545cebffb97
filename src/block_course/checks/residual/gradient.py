"""`residual.gradient`: what arrives at the first layer, without skips and with them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.residual.right import gradient
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints, Outputs

EXAMPLE, STACK, STACK_32, ONE_LAYER, NONE = (
    "two layers of two features",
    "a stack",
    "a stack in float32",
    "one layer",
    "no layer",
)
_ALL = (EXAMPLE, STACK, STACK_32, ONE_LAYER)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """The example; stacks of random layers, none symmetric; one layer, and none."""
    L, D = int(rng.integers(3, 5)), int(rng.integers(5, 8))
    example = np.array([[[0.5, 0.0], [1.0, 0.0]], [[0.0, 2.0], [0.0, 0.5]]])
    return [
        _case(EXAMPLE, np.array([1.0, 0.0]), example),
        _case(STACK, rng.normal(size=D), _layers(rng, L, D)),
        _case(STACK_32, rng.normal(size=D), _layers(rng, L, D), "f4"),
        _case(ONE_LAYER, rng.normal(size=D), _layers(rng, 1, D)),
        _case(NONE, rng.normal(size=D), np.zeros((0, D, D))),
    ]


def _layers(rng: np.random.Generator, L: int, D: int) -> Array:
    return np.asarray(rng.normal(size=(L, D, D)) / np.sqrt(D))


def _case(name: str, dy: Array, jacobians: Array, dtype: str = "f8") -> Case:
    given = {"dy": dy.astype(dtype), "jacobians": jacobians.astype(dtype)}
    return Case(name=name, arguments=given, condition=40.0)


def _upward(dy: Array, jacobians: Array) -> Outputs:
    return gradient(dy, jacobians[::-1])


def _turned(dy: Array, jacobians: Array) -> Outputs:
    return gradient(dy, np.swapaxes(jacobians, 1, 2))


def _one_skip(dy: Array, jacobians: Array) -> Outputs:
    without = gradient(dy, jacobians)[0]
    return without, dy + without


def _each_once(dy: Array, jacobians: Array) -> Outputs:
    return gradient(dy, jacobians)[0], dy + dy @ jacobians.sum(axis=0)


def _skips_twice(dy: Array, jacobians: Array) -> Outputs:
    without = both = dy.astype(np.float64)
    for J in jacobians[::-1]:
        without, both = J.T @ without, dy + J.T @ both
    return without, both


def _exchanged(dy: Array, jacobians: Array) -> Outputs:
    without, both = gradient(dy, jacobians)
    return both, without


def _one_left_out(dy: Array, jacobians: Array) -> Outputs:
    return gradient(dy, jacobians[1:])


_wrong = partial(misconception, reference=gradient, returns=("without", "with_skips"))

MISCONCEPTIONS = (
    _wrong(
        "from the bottom up",
        _upward,
        sentence="The layers are passed in the order of the forward pass. A gradient enters at the top: the "
        "last layer's derivative comes first.",
    ),
    _wrong(
        "Jacobian not transposed",
        _turned,
        sentence="You multiply by J, which carries a change of the input upward. A gradient comes down by "
        "its transpose: dy @ J, or J.T @ dy.",
    ),
    _wrong(
        "both mistakes at once",
        lambda dy, jacobians: gradient(dy, np.swapaxes(jacobians[::-1], 1, 2)),
        sentence="You carry dy upward, through the layers in the order of the forward pass and without a "
        "transpose. A gradient enters at the top and comes down by J.T.",
    ),
    _wrong(
        "one skip around all layers",
        _one_skip,
        sentence="That is dy plus what comes without skips: a single skip around the whole stack. Each layer "
        "has its own, so that each factor is I + J.",
    ),
    _wrong(
        "each branch once",
        _each_once,
        sentence="That is dy plus what each branch alone sends back. A gradient that has gone through one "
        "branch meets the layers below, and their branches too.",
    ),
    _wrong(
        "skip from the top",
        _skips_twice,
        sentence="At each layer you add dy itself. The skip of a layer hands on the gradient that has "
        "arrived at that layer.",
    ),
    _wrong(
        "exchanged",
        _exchanged,
        sentence="Your two results are in each other's place: without skips first.",
    ),
    _wrong(
        "first layer left out",
        _one_left_out,
        sentence="The gradient stops above layer 0. What is asked for is the gradient by that layer's input, "
        "so that its derivative counts too.",
    ),
)

_WITH_HINTS: Hints = (
    "By which two ways does a gradient pass one layer that has a skip?",
    "Past the branch it is handed on unchanged, through the branch it is multiplied by the transpose of J; "
    "the two are added.",
    "Going from the last layer to the first, replace the gradient by itself plus J.T times itself.",
)

EXERCISE = Exercise(
    id="residual.gradient",
    answer="at_the_first",
    title="What arrives at the first layer",
    level="core",
    minutes=10,
    framework="numpy",
    reference=gradient,
    cases=cases,
    returns=("without", "with_skips"),
    properties=(
        values("without", "without skips", 1.0, on=_ALL, output=0),
        values("with", "with a skip around each layer", 1.5, on=_ALL, output=1, hints=_WITH_HINTS),
        values("none", "with no layer, dy itself", 0.5, on=(NONE,), output=1, requires=("with",)),
        dtype_kept(0.5, of="dy", requires=("without", "with")),
        inputs_unchanged(0.5, requires=("without", "with")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which layer does the gradient meet first, and what does it become there?",
        "It enters at the top. Passing a layer y = f(x) it becomes J.T times itself; with a skip, y = x + "
        "f(x), it is itself plus that.",
        "Loop over the layers from the last to the first, with two gradients that both begin as dy.",
    ),
)
