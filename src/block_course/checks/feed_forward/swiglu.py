"""`feed_forward.swiglu`: a misprinted gate, to find and mend."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.feed_forward.arrays import (
    FEED_FORWARD_OF_THE_PACKAGE,
    explain_token,
    gelu,
    logistic,
    matrix,
    relu,
    silu,
    sizes,
    wrong,
)
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.ranks import any_rank
from block_course.exercise import Array, Case, Exercise, Hints

BATCH, BATCH_32, LARGE = "a batch", "a batch in float32", "a batch with large tokens"
SEQUENCE, ONE_TOKEN, FAR = "a sequence", "one token", "sums near ±1,000 in float32"


def reference(x: Array, gate: Array, up: Array, down: Array) -> Array:
    """SiLU of one sum times the other, in float64."""
    x, gate, up, down = (each.astype(np.float64) for each in (x, gate, up, down))
    opened = x @ gate.T
    bent = opened * np.exp(-np.logaddexp(0.0, -opened))
    return np.asarray((bent * (x @ up.T)) @ down.T)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Tokens of size 1 and of size 10, parts of a batch, and one whose sums are very large."""
    B, T, D, F = sizes(rng)
    x, matrices = rng.normal(size=(B, T, D)), (matrix(rng, F, D), matrix(rng, F, D), matrix(rng, D, F))
    far = 1e3 * rng.choice([-1.0, 1.0], (B, T, D)) * rng.uniform(0.8, 1.2, (B, T, D))
    return [
        _case(BATCH, x, matrices),
        _case(BATCH_32, x, matrices, "f4"),
        _case(LARGE, 10.0 * x, matrices),
        _case(SEQUENCE, x[0], matrices),
        _case(ONE_TOKEN, x[0, 0], matrices),
        _case(FAR, far, matrices, "f4", extreme=True),
    ]


def _case(
    name: str, x: Array, matrices: Sequence[Array], dtype: str = "f8", *, extreme: bool = False
) -> Case:
    given = dict(zip(("x", "gate", "up", "down"), (x, *matrices), strict=True))
    arguments = {key: each.astype(dtype) for key, each in given.items()}
    return Case(name=name, arguments=arguments, condition=8.0, extreme=extreme)


def _gated(
    bend: Callable[[Array], Array], of_up: Callable[[Array], Array] = lambda u: u
) -> Callable[..., Array]:
    def answer(x: Array, gate: Array, up: Array, down: Array) -> Array:
        return np.asarray((bend(x @ gate.T) * of_up(x @ up.T)) @ down.T)

    return answer


MISCONCEPTIONS = (
    wrong(
        "the gate as misprinted",
        _gated(lambda u: u, logistic),
        "The token {token} comes out as {y}, as in the cell above: W_1·x ⊙ σ(W_3·x) is GLU. In SwiGLU the "
        "sum with `gate` goes through SiLU, u·σ(u), and the one with `up` through nothing.",
    ),
    wrong(
        "the logistic function for SiLU",
        _gated(logistic),
        "The token {token} comes out as {y}: the right sum is bent, by σ. SiLU(u) is u·σ(u); the factor u is "
        "missing.",
    ),
    wrong(
        "gate and up exchanged",
        _gated(lambda u: u, silu),
        "The token {token} comes out as {y}: SiLU bends the sum with `up`. It belongs on the sum with "
        "`gate`, and multiplies the other.",
    ),
    wrong(
        "GELU for SiLU",
        _gated(gelu),
        "The token {token} comes out as {y}: these are the numbers of GEGLU. SwiGLU has SiLU, u·σ(u), in its "
        "gate.",
    ),
    wrong(
        "ReLU for SiLU",
        _gated(relu),
        "The token {token} comes out as {y}: the gate is a ReLU. SwiGLU has SiLU, u·σ(u), in its gate.",
    ),
    wrong(
        "SiLU on both sums",
        _gated(silu, silu),
        "The token {token} comes out as {y}: both sums went through SiLU. Only the gate is bent.",
    ),
    wrong(
        "no bend at all",
        _gated(lambda u: u),
        "The token {token} comes out as {y}: the two sums are multiplied as they are. The one with `gate` "
        "goes through SiLU first.",
    ),
)

_FAR_HINTS: Hints = (
    "What does your SiLU give for −1000 and for 1000, in float32?",
    "The logistic function of −1000 is 0 and that of 1000 is 1. Written as eᵘ/(1 + eᵘ) it becomes ∞/∞ on the "
    "right.",
    "Write it as 1/(1 + e⁻ᵘ): where the exponential overflows, 1 divided by it is 0, as it should be.",
)

EXERCISE = Exercise(
    id="feed_forward.swiglu",
    answer="swiglu",
    title="A gate to mend",
    level="core",
    minutes=8,
    framework="numpy",
    withheld=FEED_FORWARD_OF_THE_PACKAGE,
    reference=reference,
    cases=cases,
    properties=(
        values(
            "output",
            "SiLU of the gate's sum times the other sum",
            1.75,
            on=(BATCH, BATCH_32, LARGE),
            explain=explain_token,
        ),
        any_rank(0.5, batch=BATCH, parts={SEQUENCE: (0,), ONE_TOKEN: (0, 0)}, requires=("output",)),
        values(
            "far",
            "sums near ±1,000 do no harm in float32",
            0.25,
            on=(FAR,),
            explain=explain_token,
            requires=("output",),
            hints=_FAR_HINTS,
        ),
        dtype_kept(0.25, of="x", requires=("output",)),
        inputs_unchanged(0.25, requires=("output",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which of the two sums is bent in the cell, by which function, and which in the definition?",
        "SiLU(u) = u·σ(u). In SwiGLU it bends the sum with `gate`; the sum with `up` is multiplied by the "
        "result as it is.",
        "Let `u` be x times the transpose of `gate`; multiply u, the logistic function of u, and x times the "
        "transpose of `up`; then the transpose of `down`.",
    ),
)
