"""`norm_placement.sandwich`: find and mend a branch between two norms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.norm_placement.right import sandwich
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints

START, START_32 = "gains 1 and biases 0", "gains 1 and biases 0, in float32"
TRAINED, TRAINED_32 = "gains and biases of their own", "gains and biases of their own, in float32"
SILENT = "a silent branch"


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """At the start of training, where reused norms don't show; then with all parameters drawn."""
    B, T, D, F = 2, 3, int(rng.integers(5, 8)), int(rng.integers(9, 12))
    x = rng.normal(size=(B, T, D)) + rng.uniform(-1.0, 1.0, (B, T, 1))
    up, down = rng.normal(size=(F, D)) / np.sqrt(D), rng.normal(size=(D, F)) / np.sqrt(F)
    start = [np.ones(D), np.zeros(D)] * 2
    trained = [rng.uniform(*ends, D) for ends in ((0.5, 0.9), (0.3, 0.8), (1.4, 1.9), (-0.8, -0.3))]
    return [
        _case(START, x, up, down, *start),
        _case(START_32, x, up, down, *start, dtype="f4"),
        _case(TRAINED, x, up, down, *trained),
        _case(TRAINED_32, x, up, down, *trained, dtype="f4"),
        _case(SILENT, x, up, 0.0 * down, *trained),
    ]


def _case(name: str, x: Array, up: Array, down: Array, *norms: Array, dtype: str = "f8") -> Case:
    gain_in, bias_in, gain_out, bias_out = norms
    given = {
        "x": x,
        "gain_in": gain_in,
        "bias_in": bias_in,
        "up": up,
        "down": down,
        "gain_out": gain_out,
        "bias_out": bias_out,
    }
    arguments = {key: each.astype(dtype) for key, each in given.items()}
    return Case(name=name, arguments=arguments, condition=30.0)


Norm = Callable[[Array], Array]
Rule = Callable[[Array, Norm, Norm, Norm], Array]


def _by(rule: Rule) -> Callable[..., Array]:
    """An answer by a rule of x, the norm before, the branch and the norm behind it."""

    def answer(
        x: Array, gain_in: Array, bias_in: Array, up: Array, down: Array, gain_out: Array, bias_out: Array
    ) -> Array:
        def norm(value: Array, gain: Array, bias: Array) -> Array:
            deviation = value - value.mean(axis=-1, keepdims=True)
            variance = np.square(deviation).mean(axis=-1, keepdims=True)
            return np.asarray(gain * deviation / np.sqrt(variance + 1e-5) + bias)

        return rule(
            x,
            lambda value: norm(value, gain_in, bias_in),
            lambda value: np.asarray(np.maximum(value @ up.T, 0.0) @ down.T),
            lambda value: norm(value, gain_out, bias_out),
        )

    return answer


_wrong = partial(misconception, reference=sandwich)

MISCONCEPTIONS = (
    _wrong(
        "as it was given",
        _by(lambda x, before, branch, after: before(x + branch(before(x)))),
        sentence="Both faults are still there: the second norm stands behind the add, and has the gain and "
        "bias of the first.",
    ),
    _wrong(
        "norm behind the add",
        _by(lambda x, before, branch, after: after(x + branch(before(x)))),
        sentence="The second norm reads the sum, and so stands on the stream. In a sandwich both norms are "
        "on the branch, and the stream goes past them.",
    ),
    _wrong(
        "first norm reused",
        _by(lambda x, before, branch, after: x + before(branch(before(x)))),
        sentence="The norm behind the branch has the gain and bias of the one before it. It has its own, "
        "`gain_out` and `bias_out`.",
    ),
    _wrong(
        "norms exchanged",
        _by(lambda x, before, branch, after: x + before(branch(after(x)))),
        sentence="`gain_out` and `bias_out` belong to the norm behind the branch, and stand before it.",
    ),
    _wrong(
        "no norm behind the branch",
        _by(lambda x, before, branch, after: x + branch(before(x))),
        sentence="That is pre-norm: the update is added as the branch gives it. In a sandwich it is "
        "normalized first.",
    ),
    _wrong(
        "no norm before the branch",
        _by(lambda x, before, branch, after: x + after(branch(x))),
        sentence="The branch reads the stream as it is. In a sandwich it reads a normalized copy.",
    ),
    _wrong(
        "both norms before the branch",
        _by(lambda x, before, branch, after: x + branch(after(before(x)))),
        sentence="Both norms stand before the branch. One of them normalizes what the branch has given.",
    ),
    _wrong(
        "residual around the normed x",
        _by(lambda x, before, branch, after: before(x) + after(branch(before(x)))),
        sentence="The update is added to the normalized copy. It is added to x.",
    ),
    _wrong(
        "nothing added",
        _by(lambda x, before, branch, after: after(branch(before(x)))),
        sentence="That is the update alone. The stream x is added to it.",
    ),
)

_OWN_HINTS: Hints = (
    "Which of the six arrays does the output not depend on? Change each at random and see.",
    "`gain_out` and `bias_out` are never read: the norm behind the branch takes those of the first.",
    "Hand `gain_out` and `bias_out` to the second norm.",
)

EXERCISE = Exercise(
    id="norm_placement.sandwich",
    answer="mended",
    title="A sandwich to mend",
    level="core",
    minutes=8,
    framework="numpy",
    reference=sandwich,
    cases=cases,
    properties=(
        values("start", "with gains 1 and biases 0", 1.0, on=(START, START_32)),
        values(
            "trained", "with gains and biases of their own", 1.5, on=(TRAINED, TRAINED_32), hints=_OWN_HINTS
        ),
        values("silent", "with a silent branch", 0.5, on=(SILENT,)),
        dtype_kept(0.5, of="x", requires=("start",)),
        inputs_unchanged(0.5, requires=("start",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Write down what each norm of the given code reads, and compare it with the equation.",
        "In the equation the second norm reads what the branch gives, and nothing stands behind the plus "
        "sign. Each norm has a gain and a bias of its own.",
        "Norm of `x` with the first pair; through the branch; norm of that with the second pair; add `x`.",
    ),
    withheld=("transformer_block.in_numpy.block", "transformer_block.joins"),
)
