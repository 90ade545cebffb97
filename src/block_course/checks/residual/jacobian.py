"""`residual.jacobian`: the derivative of a residual layer whose branch has two matrices and a ReLU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import paired, values
from block_course.checks.residual.right import jacobian
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints

EXAMPLE, TOKEN, TOKEN_32 = "one neuron awake of two", "a token", "a token in float32"
AWAKE, ASLEEP, LOUDER = "all neurons awake", "all neurons asleep", "the token as it was, other biases"
_ALL = (EXAMPLE, TOKEN, TOKEN_32)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Sums that stay away from 0, so that rounding wakes nobody; all awake, all asleep."""
    D, F = int(rng.integers(4, 6)), int(rng.integers(6, 9))
    x, w1, w2 = rng.normal(size=D), rng.normal(size=(F, D)), rng.normal(size=(D, F)) / np.sqrt(F)
    signs = rng.permutation([*[1.0, 1.0, -1.0, -1.0], *rng.choice([-1.0, 1.0], F - 4)])
    sums = rng.uniform(0.4, 2.0, (4, F))
    example = (np.array([1.0, 2.0, -1.0]), np.array([[1.0, 1, 0], [2, 0, 3]]), np.array([0.5, -1.0]))
    return [
        _case(EXAMPLE, *example, np.array([[1.0, 7], [0, 5], [2, 3]])),
        _case(TOKEN, x, w1, signs * sums[0] - w1 @ x, w2),
        _case(TOKEN_32, x, w1, signs * sums[1] - w1 @ x, w2, "f4"),
        _case(AWAKE, x, w1, sums[2] - w1 @ x, w2),
        _case(ASLEEP, x, w1, -sums[3] - w1 @ x, w2),
        _case(LOUDER, x, w1, signs * sums[3] - w1 @ x, w2),
    ]


def _case(name: str, x: Array, w1: Array, b1: Array, w2: Array, dtype: str = "f8") -> Case:
    given = {"x": x, "w1": w1, "b1": b1, "w2": w2}
    return Case(name=name, arguments={key: each.astype(dtype) for key, each in given.items()}, condition=4.0)


def _same(before: Case, after: Case, first: Array, second: Array) -> Array:
    """The same neurons are awake, so that nothing changes."""
    return first


_wrong = partial(misconception, reference=jacobian)

MISCONCEPTIONS = (
    _wrong(
        "no identity",
        lambda x, w1, b1, w2: jacobian(x, w1, b1, w2) - np.eye(len(x)),
        sentence="That is the derivative of the branch. The skip adds the identity: 1 on the diagonal.",
    ),
    _wrong(
        "ones everywhere",
        lambda x, w1, b1, w2: jacobian(x, w1, b1, w2) - np.eye(len(x)) + 1.0,
        sentence="You add 1 to each entry. The derivative of x by itself is 1 on the diagonal and 0 beside "
        "it.",
    ),
    _wrong(
        "ReLU left out",
        lambda x, w1, b1, w2: np.eye(len(x)) + w2 @ w1,
        sentence="All neurons count. One whose sum is negative answers 0 whatever x does: its row of w1 and "
        "its column of w2 drop out.",
    ),
    _wrong(
        "bias left out of the sums",
        lambda x, w1, b1, w2: np.eye(len(x)) + (w2 * (w1 @ x > 0)) @ w1,
        sentence="Which neurons are awake is decided by w1 @ x + b1. Without b1 it is others.",
    ),
    _wrong(
        "the sums in place of the slope",
        lambda x, w1, b1, w2: np.eye(len(x)) + (w2 * np.maximum(w1 @ x + b1, 0)) @ w1,
        sentence="You multiply by what ReLU lets through. Its *slope* is wanted: 1 where the sum is "
        "positive, 0 where it is not.",
    ),
    _wrong(
        "asleep counted in place of awake",
        lambda x, w1, b1, w2: np.eye(len(x)) + (w2 * (w1 @ x + b1 < 0)) @ w1,
        sentence="You keep the neurons whose sum is negative. These answer 0; the others count.",
    ),
    _wrong(
        "transposed",
        lambda x, w1, b1, w2: jacobian(x, w1, b1, w2).T,
        sentence="Rows and columns are exchanged. Entry [i, j] says how output i moves with input j.",
    ),
    _wrong(
        "times the identity",
        lambda x, w1, b1, w2: np.eye(len(x)) * (jacobian(x, w1, b1, w2) - np.eye(len(x))),
        sentence="You multiply by the identity, entry by entry, which keeps the diagonal alone. The skip is "
        "a sum: its derivative is added.",
    ),
)

_AWAKE_HINTS: Hints = (
    "Which neurons answer to a small change of x?",
    "A neuron whose sum w1 @ x + b1 is positive passes a change on as it is; one whose sum is negative "
    "passes nothing on.",
    "Multiply w2, column by column, by 1 for the neurons that are awake and 0 for the others, then by w1.",
)

EXERCISE = Exercise(
    id="residual.jacobian",
    answer="jacobian",
    title="The derivative of a residual layer",
    level="core",
    minutes=12,
    framework="numpy",
    reference=jacobian,
    cases=cases,
    properties=(
        values("asleep", "with all neurons asleep, the identity", 0.5, on=(ASLEEP,)),
        values("awake", "with all neurons awake", 1.0, on=(AWAKE,)),
        values("some", "with some awake and some asleep", 1.5, on=_ALL, hints=_AWAKE_HINTS),
        paired(
            "slope",
            "the same neurons awake, the same derivative",
            0.5,
            pairs=((TOKEN, LOUDER),),
            alive=(TOKEN, AWAKE),
            expect=_same,
        ),
        dtype_kept(0.25, of="x", requires=("some",)),
        inputs_unchanged(0.25, requires=("some",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Move x a little. What moves behind w1, behind the ReLU, behind w2, and behind the add?",
        "The derivative of x + w2 ReLU(w1 x + b1) is the identity, plus w2 times w1 with the neurons between "
        "them that are awake.",
        "Find the neurons with w1 @ x + b1 above 0; keep their columns of w2 and their rows of w1; multiply; "
        "add the identity.",
    ),
)
