"""`backward.block`: a residual branch with its norm walked back, x + ReLU(LN(x) · W₁ᵀ) · W₂ᵀ."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints, Outputs

RETURNS = ("dx", "dw1", "dw2")
SEQUENCE, BATCH, BATCH_32, SILENT = "one sequence", "a batch", "a batch in float32", "a silent branch"
_ALL = (SEQUENCE, BATCH, BATCH_32)
CONDITION = 30.0
"""No token's spread is small beside its features, and a norm and two products magnify no error by more."""
_CLEAR_OF_ZERO = 1e-3


def reference(dy: Array, x: Array, w1: Array, w2: Array) -> Outputs:
    """Walk back through the add, w2, the ReLU, w1 and the norm in float64."""
    dy, x, w1, w2 = (each.astype(np.float64) for each in (dy, x, w1, w2))
    scale = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    n = (x - x.mean(axis=-1, keepdims=True)) / scale
    u = n @ w1.T
    du = np.where(u > 0.0, dy @ w2, 0.0)
    dn = du @ w1
    centered = dn - dn.mean(axis=-1, keepdims=True)
    dx = dy + (centered - n * (dn * n).mean(axis=-1, keepdims=True)) / scale
    return dx, _summed(du, n), _summed(dy, np.where(u > 0.0, u, 0.0))


def _summed(gradient: Array, read: Array) -> Array:
    """The gradient of a matrix: the sum over all tokens of the products of both tokens' entries."""
    return gradient.reshape(-1, gradient.shape[-1]).T @ read.reshape(-1, read.shape[-1])


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """A sequence, batches, and a branch whose last matrix is 0: there the skip is all that is left."""
    T, D, F = 3, int(rng.integers(5, 7)), int(rng.integers(7, 10))
    silent = _drawn(rng, (T,), D, F)
    silent[3] = np.zeros_like(silent[3])
    return [
        _case(SEQUENCE, _drawn(rng, (T,), D, F)),
        _case(BATCH, _drawn(rng, (2, T), D, F)),
        _case(BATCH_32, [each.astype(np.float32) for each in _drawn(rng, (2, T), D, F)]),
        _case(SILENT, silent),
    ]


def _drawn(rng: np.random.Generator, tokens: tuple[int, ...], D: int, F: int) -> list[Array]:
    """A gradient, tokens, two matrices; no inner feature so near 0 that rounding could turn its ReLU."""
    while True:
        dy, x = rng.normal(size=(*tokens, D)), rng.normal(1.0, 2.0, (*tokens, D))
        w1, w2 = rng.normal(size=(F, D)) / np.sqrt(D), rng.normal(size=(D, F)) / np.sqrt(F)
        spread = x.std(axis=-1, keepdims=True)
        inner = (x - x.mean(axis=-1, keepdims=True)) / spread @ w1.T
        if np.min(np.abs(inner)) > _CLEAR_OF_ZERO and np.min(spread) > 0.5:
            return [dy, x, w1, w2]


def _case(name: str, given: Sequence[Array]) -> Case:
    arguments = dict(zip(("dy", "x", "w1", "w2"), given, strict=True))
    return Case(name=name, arguments=arguments, condition=CONDITION)


Norm = Callable[[Array, Array, Array], Array]


def _normed_back(dn: Array, n: Array, scale: Array) -> Array:
    inner = dn - dn.mean(axis=-1, keepdims=True) - n * (dn * n).mean(axis=-1, keepdims=True)
    return np.asarray(inner / scale)


def _walk(
    *,
    skip: float = 1.0,
    early: bool = False,
    gate: Callable[[Array, Array], Array] = lambda u, dr: np.where(u > 0, dr, 0.0),
    norm: Norm = _normed_back,
    read: Callable[[Array, Array], Array] = lambda x, n: n,
) -> Callable[..., Outputs]:
    """The walk back with one step changed; `early` adds the skip before the norm."""

    def answer(dy: Array, x: Array, w1: Array, w2: Array) -> Outputs:
        scale = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
        n = (x - x.mean(axis=-1, keepdims=True)) / scale
        u = n @ w1.T
        du = gate(u, dy @ w2)
        dn = du @ w1
        dx = norm(dn + dy, n, scale) if early else skip * dy + norm(dn, n, scale)
        return dx, _summed(du, read(x, n)), _summed(dy, np.maximum(u, 0.0))

    return answer


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence, returns=RETURNS)
    for name, answer, sentence in (
        (
            "skip forgotten",
            _walk(skip=0.0),
            "That is what comes back through the branch. x went two ways to y, and dy comes back by the skip "
            "as well: add it.",
        ),
        (
            "branch twice, skip not at all",
            _walk(early=True),
            "The gradient of the skip was added before the norm was walked back, so that it went through "
            "the norm too. The skip leads past the norm: add dy last.",
        ),
        (
            "norm passed over",
            _walk(norm=lambda dn, n, scale: dn),
            "The gradient behind the norm was taken for the one before it. Send it through "
            "`layer_norm_backward`.",
        ),
        (
            "norm as a division by the spread",
            _walk(norm=lambda dn, n, scale: dn / scale),
            "The norm was walked back as a division by the spread. Mean and spread depend on x, too.",
        ),
        (
            "ReLU passed over",
            _walk(gate=lambda u, dr: dr),
            "What came back through w2 went on to w1 in full. The ReLU lets it pass where its input was "
            "above 0, and nowhere else.",
        ),
        (
            "the value in place of the slope",
            _walk(gate=lambda u, dr: dr * np.maximum(u, 0.0)),
            "What came back was multiplied by what the ReLU let through. Its slope is wanted: 1 where its "
            "input was above 0, and 0 elsewhere.",
        ),
        (
            "ReLU of the gradient",
            _walk(gate=lambda u, dr: np.maximum(dr, 0.0)),
            "The gradient itself was cut at 0. It is the input on the way there, not the gradient, that "
            "opens the door.",
        ),
        (
            "w1 read x, not the norm",
            _walk(read=lambda x, n: x),
            "For dw1 you take x. What w1 multiplied was LN(x).",
        ),
    )
)

_X_HINTS: Hints = (
    "By how many ways does x reach y, and what comes back on each?",
    "Two: the skip sends back dy itself; the branch sends it through w2, the ReLU, w1 and the norm. What "
    "comes back from both is added.",
    "Add `dy` to the first thing that `layer_norm_backward` returns for what came back behind the norm.",
)
_SKIP_HINTS: Hints = (
    "With w2 = 0, what is y, and what is its gradient by x?",
    "Then y is x and dx is dy. A branch that is silent sends nothing back to x.",
    "Add `dy` last, after the norm has been walked back.",
)
_W1_HINTS: Hints = (
    "Which gradient reaches w1, and what did w1 multiply on the way there?",
    "dy·w2, shut where the ReLU was shut. And w1 multiplied LN(x).",
    "Sum over all tokens the products of that gradient's entries with those of LN(x): shape (F, D).",
)
_W2_HINTS: Hints = (
    "What did w2 multiply on the way there?",
    "The inner features behind the ReLU, r. w2 is (D, F), as its gradient is.",
    "Sum over all tokens the products of dy's entries with those of r.",
)

EXERCISE = Exercise(
    id="backward.block",
    answer="branch_backward",
    title="A branch and its skip",
    level="core",
    minutes=15,
    framework="numpy",
    reference=reference,
    cases=cases,
    returns=RETURNS,
    properties=(
        values("dw2", "the gradient of w2", 0.75, on=_ALL, output=2, hints=_W2_HINTS),
        values("dw1", "the gradient of w1", 1.0, on=_ALL, output=1, hints=_W1_HINTS),
        values("skip", "a silent branch: the skip alone", 0.5, on=(SILENT,), output=0, hints=_SKIP_HINTS),
        values("dx", "the gradient of x", 1.25, on=_ALL, output=0, hints=_X_HINTS),
        dtype_kept(0.25, of="x", requires=RETURNS),
        inputs_unchanged(0.25, requires=RETURNS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Write the way there in one line for each step, n, u, r, y. Each has one line on the way back.",
        "dr = dy·w2; du is dr where u > 0, else 0; dn = du·w1; the norm's backward; and dy by the skip. Each "
        "matrix gets a sum over all tokens.",
        "Keep n, u and r; then walk: `dy @ w2`, the door of the ReLU, `@ w1`, `layer_norm_backward`, plus "
        "`dy`.",
    ),
    withheld=(
        "transformer_block.in_numpy.block",
        "transformer_block.in_numpy.feed_forward",
        "transformer_block.in_numpy.linear",
        "transformer_block.joins",
        "transformer_block.in_torch",
    ),
)
