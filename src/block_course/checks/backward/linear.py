"""`backward.linear`: the three gradients of a linear map, each a sum over all tokens or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints, Outputs

RETURNS = ("dx", "dweight", "dbias")
EXAMPLE, SEQUENCE, BATCH = "two tokens", "one sequence", "a batch"
BATCH_32, SQUARE = "a batch in float32", "a square weight"
_ALL = (EXAMPLE, SEQUENCE, BATCH, BATCH_32, SQUARE)


def reference(dy: Array, x: Array, weight: Array) -> Outputs:
    """Compute dx = dy · W, dW = Σ dyᵀ · x and db = Σ dy in float64."""
    dy, x, weight = (each.astype(np.float64) for each in (dy, x, weight))
    rows, tokens = dy.reshape(-1, dy.shape[-1]), x.reshape(-1, x.shape[-1])
    return dy @ weight, rows.T @ tokens, rows.sum(axis=0)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Features in and out differ but in one case, where the transposed weight fits too."""
    T, into, out = (int(each) for each in rng.permutation([3, 4, 5]))
    small = (
        [[1.0, 0.0, 0.0], [2.0, 1.0, -1.0]],
        [[1.0, 2.0], [0.0, 1.0]],
        [[1.0, 4.0], [3.0, 1.0], [0.0, 2.0]],
    )
    return [
        _case(EXAMPLE, *(np.array(each) for each in small)),
        _case(SEQUENCE, *_drawn(rng, (T,), into, out)),
        _case(BATCH, *_drawn(rng, (2, T), into, out)),
        _case(BATCH_32, *(each.astype(np.float32) for each in _drawn(rng, (2, T), into, out))),
        _case(SQUARE, *_drawn(rng, (T,), 6, 6)),
    ]


def _drawn(rng: np.random.Generator, tokens: tuple[int, ...], into: int, out: int) -> tuple[Array, ...]:
    return rng.normal(size=(*tokens, out)), rng.normal(size=(*tokens, into)), rng.normal(size=(out, into))


def _case(name: str, dy: Array, x: Array, weight: Array) -> Case:
    return Case(name=name, arguments={"dy": dy, "x": x, "weight": weight}, condition=4.0)


def _changed(**parts: Callable[[Array, Array, Array], Array]) -> Callable[..., Outputs]:
    """The right gradients with some in another form."""

    def answer(dy: Array, x: Array, weight: Array) -> Outputs:
        right = dict(zip(RETURNS, reference(dy, x, weight), strict=True))
        return tuple((right | {name: made(dy, x, weight) for name, made in parts.items()}).values())

    return answer


def _summed(dy: Array, x: Array, weight: Array) -> Array:
    return reference(dy, x, weight)[1]


_WRONG_NUMBERS = tuple(
    misconception(name, answer, reference, sentence, returns=RETURNS)
    for name, answer, sentence in (
        (
            "Wᵀ in place of W",
            _changed(dx=lambda dy, x, weight: dy @ weight.T),
            "The gradient has `out` features, and W is (out, in): dy @ W has `in`. Wᵀ fits where W is "
            "square, and is wrong there too.",
        ),
        (
            "gradient of the weight (in, out)",
            _changed(dweight=lambda dy, x, weight: _summed(dy, x, weight).T),
            "A gradient has the shape of what it belongs to: that of W is (out, in). Take the product the "
            "other way round.",
        ),
        (
            "averaged over the tokens",
            _changed(
                dweight=lambda dy, x, weight: _summed(dy, x, weight) / x[..., 0].size,
                dbias=lambda dy, x, weight: dy.mean(axis=tuple(range(dy.ndim - 1))),
            ),
            "That is a mean over the tokens. Each token used the same W and b, and what comes back from all "
            "uses is added.",
        ),
        (
            "averaged over the tokens",
            _changed(dbias=lambda dy, x, weight: dy.mean(axis=tuple(range(dy.ndim - 1)))),
            "That is a mean over the tokens. Each token used the same b, and what comes back from all uses "
            "is added.",
        ),
        (
            "one gradient for each item",
            _changed(
                dweight=lambda dy, x, weight: dy.swapaxes(-1, -2) @ x,
                dbias=lambda dy, x, weight: dy.sum(axis=-2),
            ),
            "All items of the batch used one W: their gradients are added.",
        ),
        (
            "one gradient for each item",
            _changed(dweight=lambda dy, x, weight: dy.swapaxes(-1, -2) @ x),
            "All items of the batch used one W: their gradients are added.",
        ),
        (
            "bias summed over the first axis alone",
            _changed(dbias=lambda dy, x, weight: dy.sum(axis=0)),
            "In a batch tokens lie along two axes, and all of them used b. Sum over every axis but the last.",
        ),
        (
            "bias not summed",
            _changed(dbias=lambda dy, x, weight: dy.copy()),
            "That is one gradient for each token. They all used the same b: add them.",
        ),
    )
)
MISCONCEPTIONS = (
    *_WRONG_NUMBERS,
    misconception(
        "batch turned round",
        lambda dy, x, weight: (dy @ weight, dy.T @ x, dy.reshape(-1, dy.shape[-1]).sum(axis=0)),
        reference,
        "`.T` turns all axes round: of a batch (B, T, out) it makes (out, T, B). Bring dy and x to two axes "
        "first, all tokens in one.",
        returns=RETURNS,
        tells=lambda case: np.ndim(case.arguments["x"]) == 3,  # type: ignore[arg-type]
    ),
)


_DX_HINTS: Hints = (
    "Which shapes have `dy` and `weight`, and which has `dx` to have?",
    "dy is (…, out), W is (out, in), and dx is (…, in). There is one product that gives this shape.",
    "Multiply `dy` from the right by `weight` as it is.",
)
_WEIGHT_HINTS: Hints = (
    "Which shape has the gradient of W, and over which axes do you sum?",
    "One token adds the table of all products of an entry of dy with an entry of x. The gradient is the sum "
    "of these tables over all tokens of all items.",
    "Bring `dy` and `x` to two axes, all tokens in one; then transpose `dy` and multiply by `x`.",
)
_BIAS_HINTS: Hints = (
    "How many tokens did b act on?",
    "b was added to every token once, so that its gradient is the sum of all rows of dy.",
    "Sum `dy` over every axis but the last.",
)

EXERCISE = Exercise(
    id="backward.linear",
    answer="linear_backward",
    title="A linear map, backward",
    level="warm-up",
    minutes=8,
    framework="numpy",
    reference=reference,
    cases=cases,
    returns=RETURNS,
    properties=(
        values("dx", "the gradient of x", 0.75, on=_ALL, output=0, hints=_DX_HINTS),
        values("dweight", "the gradient of the weight", 1.0, on=_ALL, output=1, hints=_WEIGHT_HINTS),
        values("dbias", "the gradient of the bias", 0.75, on=_ALL, output=2, hints=_BIAS_HINTS),
        dtype_kept(0.25, of="x", requires=RETURNS),
        inputs_unchanged(0.25, requires=RETURNS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Write down the shapes of dy, x and W, and beside them those of dx, dW and db.",
        "A gradient has the shape of what it belongs to. What all tokens share gets a sum over the tokens.",
        "dx is dy times W; dW is dy transposed times x, over all tokens; db is dy summed over all tokens.",
    ),
    withheld=("transformer_block",),
)
