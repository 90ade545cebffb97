"""`root_mean_square.of_each_token`: the loudness of a token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.wording import number
from block_course.exercise import (
    Array,
    Case,
    Exercise,
    Misconception,
    Outputs,
)

EXAMPLE, TOKENS, BATCH = "two tokens", "float32 tokens", "a batch"


def reference(x: Array) -> Array:
    """The root of the mean square over the features, in float64."""
    squares = x.astype(np.float64) ** 2
    return np.sqrt(squares.mean(axis=-1))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Sizes are pairwise distinct, so that a wrong axis can't pass."""
    B, T, D = (int(size) for size in rng.permutation([3, 4, 5]))
    example = np.array([[3.0, 4.0, 0.0], [1.0, -1.0, 1.0]])
    small = rng.normal(1.0, 2.0, (T, D)).astype(np.float32)
    return [
        Case(name=EXAMPLE, arguments={"x": example}),
        Case(name=TOKENS, arguments={"x": small}),
        Case(name=BATCH, arguments={"x": rng.normal(2.0, 3.0, (B, T, D))}),
    ]


def _spread(case: Case, outputs: Outputs) -> str:
    mean = np.asarray(case.arguments["x"])[..., 0, :].mean()
    return (
        "You measure each token around its mean. The root mean square "
        f"keeps the mean in: that of the first token is {number(mean)}."
    )


EXERCISE = Exercise(
    id="root_mean_square.of_each_token",
    answer="of_each_token",
    title="The loudness of a token",
    level="warm-up",
    minutes=5,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values("tokens", "right for tokens", 1, on=(EXAMPLE, TOKENS)),
        values("batch", "right for a batch", 0.5, on=(BATCH,)),
        dtype_kept(0.25, of="x", requires=("tokens",)),
        inputs_unchanged(0.25, requires=("tokens",)),
    ),
    misconceptions=(
        Misconception(
            name="spread around the mean",
            answer=lambda x: x.std(axis=-1),
            message=_spread,
        ),
        Misconception(
            name="sum in place of mean",
            answer=lambda x: np.sqrt((x**2).sum(axis=-1)),
            message=lambda case, outputs: (
                "You add the squares up; divide by the number of features."
            ),
        ),
    ),
    hints=(
        "Over which axis is the mean taken, and of what?",
        "Square the features, average over the last axis, take the root.",
        "The root of the mean over axis −1 of x squared.",
    ),
)
