"""`feed_forward.collapse`: one affine map from two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.feed_forward.arrays import matrix, wrong
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.wording import number, shape, vector
from block_course.exercise import Array, Case, Exercise, Hints, Outputs

EXAMPLE, MAPS, MAPS_32, NARROW = (
    "two small maps",
    "wide inside",
    "wide inside, in float32",
    "narrow inside",
)


_ALL = (EXAMPLE, MAPS, MAPS_32, NARROW)


def reference(w1: Array, b1: Array, w2: Array, b2: Array) -> Outputs:
    """The matrix and the bias of w2·(w1·x + b1) + b2, in float64."""
    w1, b1, w2, b2 = (each.astype(np.float64) for each in (w1, b1, w2, b2))
    weight = np.matmul(w2, w1)
    bias = np.matmul(w2, b1) + b2
    return weight, bias


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """From D features through F to E, pairwise distinct, so that no product fits by accident."""
    D, E, F = (int(size) for size in rng.permutation([3, 4, 5]))
    wide = int(rng.integers(7, 11))
    small = (
        np.array([[1.0, 0, 2], [0, 3, 1]]),
        np.array([1.0, -1]),
        np.array([[2.0, 1], [1, 1], [0, 4], [1, 0]]),
    )
    return [
        _case(EXAMPLE, (*small, np.array([0.0, 0, 5, 1]))),
        _case(MAPS, _maps(rng, D, wide, E)),
        _case(MAPS_32, _maps(rng, D, wide, E), "f4"),
        _case(NARROW, _maps(rng, D, F, E)),
    ]


def _maps(rng: np.random.Generator, D: int, F: int, E: int) -> tuple[Array, ...]:
    return matrix(rng, F, D), rng.uniform(0.5, 1.5, F), matrix(rng, E, F), rng.uniform(0.5, 1.5, E)


def _case(name: str, maps: Sequence[Array], dtype: str = "f8") -> Case:
    given = dict(zip(("w1", "b1", "w2", "b2"), maps, strict=True))
    return Case(name=name, arguments={key: each.astype(dtype) for key, each in given.items()}, condition=4.0)


def _shapes(case: Case, outputs: Outputs) -> str:
    (F, D), (E, _) = (np.asarray(case.arguments[name]).shape for name in ("w1", "w2"))
    return (
        f"w1 leads from {D} features to {F}, w2 from {F} to {E}: the one matrix leads from {D} to {E}, (out, "
        f"in) = {shape((E, D))}. w1 acts first, so that it stands on the right: w2 @ w1."
    )


def _bias_said(sentence: str) -> Callable[[Case, Outputs], str]:
    def message(case: Case, outputs: Outputs) -> str:
        right = reference(**{name: np.asarray(each) for name, each in case.arguments.items()})[1]
        return sentence.format(given=vector(outputs[1]), right=vector(right), first=number(right[0]))

    return message


MISCONCEPTIONS = (
    wrong(
        "the product (in, out)",
        lambda w1, b1, w2, b2: ((w2 @ w1).T, w2 @ b1 + b2),
        _shapes,
    ),
    wrong(
        "the matrices in the wrong order",
        lambda w1, b1, w2, b2: (w1 @ w2, w2 @ b1 + b2),
        _shapes,
        lambda case: True,
    ),
    wrong(
        "first bias left out",
        lambda w1, b1, w2, b2: (w2 @ w1, b2.copy()),
        _bias_said("Your bias is {given}; it should be {right}. b1 is there too, and w2 has acted on it."),
    ),
    wrong(
        "second bias left out",
        lambda w1, b1, w2, b2: (w2 @ w1, w2 @ b1),
        _bias_said("Your bias is {given}; it should be {right}. b2 is added to w2·b1."),
    ),
    wrong(
        "first bias carried over by no matrix",
        lambda w1, b1, w2, b2: (w2 @ w1, b1 + b2),
        lambda case, outputs: (
            f"b1 has {np.asarray(case.arguments['b1']).size} entries and b2 has "
            f"{np.asarray(case.arguments['b2']).size}: b1 lies on the inner side, and w2 carries it over, "
            "w2 @ b1."
        ),
        lambda case: True,
    ),
)

_WEIGHT_HINTS: Hints = (
    "Which of the two matrices acts on x first, and on which side of the product does it stand?",
    "In w2·(w1·x + b1) + b2 the part with x is w2·w1·x. Matrices are (out, in), here too.",
    "Multiply w2 from the right by w1.",
)
_BIAS_HINTS: Hints = (
    "What does the map give for x = 0?",
    "At x = 0 the first map gives b1. The second one multiplies that by w2 and adds b2.",
    "Multiply w2 by b1 and add b2.",
)

EXERCISE = Exercise(
    id="feed_forward.collapse",
    answer="collapse",
    title="Two maps that are one",
    level="core",
    minutes=8,
    framework="numpy",
    reference=reference,
    cases=cases,
    returns=("weight", "bias"),
    properties=(
        values("weight", "the matrix of the one map", 1.25, on=_ALL, output=0, hints=_WEIGHT_HINTS),
        values("bias", "its bias", 1.25, on=_ALL, output=1, hints=_BIAS_HINTS),
        dtype_kept(0.25, of="w1", requires=("weight", "bias")),
        inputs_unchanged(0.25, requires=("weight", "bias")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Write w2·(w1·x + b1) + b2 without brackets. Which terms hold x, and which do not?",
        "The term with x is w2·w1·x, and the others are w2·b1 and b2.",
        "Return the product of w2 and w1, and the product of w2 and b1 plus b2.",
    ),
)
