"""`feed_forward.forward`: the feed-forward part of 2017, with ReLU."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.feed_forward.arrays import (
    FEED_FORWARD_OF_THE_PACKAGE,
    explain_other_token,
    explain_token,
    gelu,
    matrix,
    relu,
    sizes,
    unchanged_elsewhere,
    wrong,
)
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import paired, values
from block_course.checks.ranks import any_rank
from block_course.checks.wording import shape
from block_course.exercise import Array, Case, Exercise, Hints, Outputs

EXAMPLE, BATCH, BATCH_32 = "two tokens", "a batch", "a batch in float32"
BIASES, BIASES_32, REPLACED = (
    "the batch with biases",
    "the float32 batch with biases",
    "the batch with one token replaced",
)
SEQUENCE, ONE_TOKEN = "a sequence", "one token"


def reference(x: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
    """Widen, bend, bring back, in float64."""
    x, w1, b1, w2, b2 = (each.astype(np.float64) for each in (x, w1, b1, w2, b2))
    inner = np.maximum(x @ w1.T + b1, 0.0)
    return np.asarray(inner @ w2.T + b2)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Without biases, and the same with them; a token replaced; parts of the batch."""
    B, T, D, F = sizes(rng)
    batch, w1, w2 = rng.normal(size=(B, T, D)), matrix(rng, F, D), matrix(rng, D, F)
    none, biases = (np.zeros(F), np.zeros(D)), (_bias(rng, F), _bias(rng, D))
    replaced = batch.copy()
    replaced[1, T - 2] = rng.normal(size=D)
    example = np.array([[1.0, 0.0, 0.2], [0.5, 0.3, 0.1]])
    up = np.array([[4.0, 1, 3], [-2, 5, 2], [3, -4, 1], [1, 2, -5]]) / 10
    down = np.array([[5.0, 2, -3, 1], [1, 4, 2, -2], [-2, 1, 5, 3]]) / 10
    return [
        _case(EXAMPLE, example, up, np.zeros(4), down, np.zeros(3)),
        _case(BATCH, batch, w1, none[0], w2, none[1]),
        _case(BATCH_32, batch, w1, none[0], w2, none[1], "f4"),
        _case(BIASES, batch, w1, biases[0], w2, biases[1]),
        _case(BIASES_32, batch, w1, biases[0], w2, biases[1], "f4"),
        _case(REPLACED, replaced, w1, none[0], w2, none[1]),
        _case(SEQUENCE, batch[0], w1, none[0], w2, none[1]),
        _case(ONE_TOKEN, batch[0, 0], w1, none[0], w2, none[1]),
    ]


def _bias(rng: np.random.Generator, size: int) -> Array:
    """Of either sign, none near 0."""
    return np.asarray(rng.uniform(0.3, 1.0, size) * rng.choice([-1.0, 1.0], size))


def _case(name: str, x: Array, w1: Array, b1: Array, w2: Array, b2: Array, dtype: str = "f8") -> Case:
    given = {"x": x, "w1": w1, "b1": b1, "w2": w2, "b2": b2}
    return Case(name=name, arguments={key: each.astype(dtype) for key, each in given.items()}, condition=4.0)


def _varied(
    bend: Callable[[Array], Array] = relu, *, first: float = 1.0, second: float = 1.0
) -> Callable[..., Array]:
    """With another bend, or a bias that counts nothing."""

    def answer(x: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
        return np.asarray(bend(x @ w1.T + first * b1) @ w2.T + second * b2)

    return answer


def _cannot_multiply(case: Case, outputs: Outputs) -> str:
    x, w1, w2 = (np.asarray(case.arguments[name]) for name in ("x", "w1", "w2"))
    return (
        f"x has shape {shape(x.shape)}, w1 {shape(w1.shape)} and w2 {shape(w2.shape)}: the matrices are "
        "(out, in), and tokens stand in rows. Multiply by the transpose, `x @ w1.T`, and so for w2. Were the "
        "matrices square, you would get no error and wrong numbers."
    )


MISCONCEPTIONS = (
    wrong(
        "no bend between the two matrices",
        _varied(lambda u: u),
        "The token {token} comes out as {y}: no negative sum was set to 0, and the two matrices are one. "
        "ReLU stands between them.",
    ),
    wrong(
        "bend after the second matrix",
        lambda x, w1, b1, w2, b2: relu((x @ w1.T + b1) @ w2.T + b2),
        "The token {token} comes out as {y}: ReLU came last, so that nothing negative is left. It stands "
        "between the matrices, on the F inner features.",
    ),
    wrong(
        "a second bend at the end",
        lambda x, w1, b1, w2, b2: relu(_varied()(x, w1, b1, w2, b2)),
        "The token {token} comes out as {y}, without a negative entry: you bend the output as well. Only the "
        "inner features are bent.",
    ),
    wrong(
        "GELU for ReLU",
        _varied(gelu),
        "The token {token} comes out as {y}: these are the numbers of GELU. Asked for is ReLU, max(u, 0).",
    ),
    wrong(
        "absolute value for ReLU",
        _varied(np.abs),
        "The token {token} comes out as {y}: negative sums became positive ones. ReLU sets them to 0.",
    ),
    wrong(
        "both biases left out",
        _varied(first=0.0, second=0.0),
        "The token {token} comes out as {y} whatever the biases are: b1 is added before the bend, b2 at the "
        "end.",
    ),
    wrong(
        "first bias left out",
        _varied(first=0.0),
        "The token {token} comes out as {y} whatever b1 is. It shifts each inner feature before the bend.",
    ),
    wrong(
        "second bias left out",
        _varied(second=0.0),
        "The token {token} comes out as {y} whatever b2 is. It is added at the end, behind w2.",
    ),
    wrong(
        "first bias after the bend",
        lambda x, w1, b1, w2, b2: (relu(x @ w1.T) + b1) @ w2.T + b2,
        "The token {token} comes out as {y}: b1 was added behind the bend. It belongs inside, max(w1·x + b1, "
        "0): it decides where a neuron switches on.",
    ),
    wrong(
        "matrices not transposed",
        lambda x, w1, b1, w2, b2: relu(x @ w1 + b1) @ w2 + b2,
        _cannot_multiply,
        lambda case: np.asarray(case.arguments["x"]).ndim == 3,
    ),
)

_BIAS_HINTS: Hints = (
    "Are both biases in your function, and on which side of the bend does each stand?",
    "The bias b1 has one entry for each of the F inner features and is added before the bend. The bias b2 "
    "has one for each of the D features and is added last.",
    "Add b1 to the product with w1 and bend the sum; add b2 to the product with w2.",
)

EXERCISE = Exercise(
    id="feed_forward.forward",
    answer="feed_forward",
    title="The feed-forward part",
    level="core",
    minutes=12,
    framework="numpy",
    withheld=FEED_FORWARD_OF_THE_PACKAGE,
    reference=reference,
    cases=cases,
    properties=(
        values(
            "output",
            "without biases: two matrices and a bend between them",
            1.5,
            on=(EXAMPLE, BATCH, BATCH_32),
            explain=explain_token,
        ),
        values(
            "biases",
            "b1 is added before the bend, b2 at the end",
            1.0,
            on=(BIASES, BIASES_32),
            explain=explain_token,
            hints=_BIAS_HINTS,
        ),
        paired(
            "tokens",
            "no token sees another",
            0.5,
            pairs=((BATCH, REPLACED),),
            alive=(BATCH, REPLACED),
            expect=unchanged_elsewhere,
            explain=explain_other_token,
            requires=("output",),
        ),
        any_rank(0.5, batch=BATCH, parts={SEQUENCE: (0,), ONE_TOKEN: (0, 0)}, requires=("output",)),
        dtype_kept(0.25, of="x", requires=("output",)),
        inputs_unchanged(0.25, requires=("output",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "What shape has the array between the two matrices, and what happens to its negative entries?",
        "Tokens stand in rows and matrices are (out, in), so that a token meets the transpose. Between the "
        "two products each of the F inner features is kept if it is positive and set to 0 otherwise.",
        "Multiply `x` by the transpose of w1, add b1, take the maximum with 0; multiply by the transpose of "
        "w2, add b2.",
    ),
)
