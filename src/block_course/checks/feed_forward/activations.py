"""`feed_forward.activations`: ReLU and the two GELUs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.feed_forward.arrays import (
    FEED_FORWARD_OF_THE_PACKAGE,
    erf,
    gelu,
    logistic,
    relu,
    silu,
)
from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import Explain, values
from block_course.checks.wording import number, two_numbers
from block_course.exercise import Array, Case, Exercise, Hints, Misconception, Outputs

EXAMPLE, BATCH, BATCH_32, FAR = "a few numbers", "inner features", "inner features in float32", "far from 0"
NAMES = ("relu", "gelu", "gelu_tanh")


def reference(u: Array) -> Outputs:
    """ReLU, GELU by the error function, GELU by the tanh of a cubic, in float64."""
    u = u.astype(np.float64)
    below = (1.0 + np.vectorize(math.erf)(u / math.sqrt(2.0))) / 2.0
    cubic = math.sqrt(2.0 / math.pi) * (u + 0.044715 * u**3)
    return np.maximum(u, 0.0), u * below, 0.5 * u * (1.0 + np.tanh(cubic))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Between −4 and 4, where the bends differ; then so far out that an exponential overflows."""
    sides = 2, 3, int(rng.integers(5, 9))
    return [
        Case(name=EXAMPLE, arguments={"u": np.array([-2.7, -1.0, 0.0, 1.0, 2.7])}),
        Case(name=BATCH, arguments={"u": _spread(rng, sides)}),
        Case(name=BATCH_32, arguments={"u": _spread(rng, sides).astype(np.float32)}),
        Case(name=FAR, arguments={"u": np.array([-3e3, -90.0, 90.0, 3e3], np.float32)}, extreme=True),
    ]


def _spread(rng: np.random.Generator, sides: tuple[int, ...]) -> Array:
    """Of either sign, and never without a number near 2.5, where the two GELUs are farthest apart."""
    u = rng.uniform(-4.0, 4.0, sides)
    u[0, 0, :4] = -2.5, -0.7, 0.7, 2.5
    return u


def _explain(name: str) -> Explain:
    def explain(case: Case, index: tuple[int, ...], got: Array, right: Array) -> str:
        u = float(np.asarray(case.arguments["u"])[index])
        is_now, should_be = two_numbers(got[index], right[index])
        return f"your {name} of {number(u)} is {is_now} and should be {should_be}"

    return explain


def _tanh(u: Array, factor: float = math.sqrt(2.0 / math.pi), cubic: float = 0.044715) -> Array:
    return np.asarray(0.5 * u * (1.0 + np.tanh(factor * (u + cubic * u**3))))


def _with(**bends: Callable[[Array], Array]) -> Callable[[Array], Outputs]:
    """All three, with some exchanged."""
    chosen = {"relu": relu, "gelu": gelu, "gelu_tanh": _tanh} | bends
    return lambda u: tuple(chosen[name](u) for name in NAMES)


def _wrong(name: str, answer: Callable[[Array], Outputs], output: int, sentence: str) -> Misconception:
    """A sentence about the number where the output is farthest from right: {u}, {is_now}, {should_be}."""

    def message(case: Case, outputs: Outputs) -> str:
        u = np.asarray(case.arguments["u"], np.float64)
        right, mine = reference(u)[output], outputs[output]
        at = np.unravel_index(int(np.argmax(np.abs(mine - right))), u.shape)
        is_now, should_be = two_numbers(mine[at], right[at])
        return sentence.format(u=number(u[at]), is_now=is_now, should_be=should_be)

    return Misconception(name=name, answer=answer, message=message)


MISCONCEPTIONS = (
    _wrong(
        "one GELU twice: the exact one",
        _with(gelu_tanh=gelu),
        2,
        "Your tanh GELU of {u} is {is_now}; it should be {should_be}. You give the exact GELU in both "
        "places. The difference is small, and weights trained with one belong with that one.",
    ),
    _wrong(
        "one GELU twice: the one by tanh",
        _with(gelu=_tanh),
        1,
        "Your exact GELU of {u} is {is_now}; it should be {should_be}. You give the tanh GELU in both "
        "places. The exact one needs the error function, `math.erf`.",
    ),
    _wrong(
        "the two GELUs exchanged",
        _with(gelu=_tanh, gelu_tanh=gelu),
        1,
        "Your second output at {u} is {is_now}; it should be {should_be}. The exact GELU comes second, the "
        "one by tanh third.",
    ),
    _wrong(
        "√2 left out of the error function",
        _with(gelu=lambda u: u * (1.0 + erf(u)) / 2.0),
        1,
        "Your GELU of {u} is {is_now}; it should be {should_be}. The chance that a standard normal number "
        "falls below u is (1 + erf(u/√2))/2; you have erf(u).",
    ),
    _wrong(
        "error function for the normal distribution",
        _with(gelu=lambda u: u * erf(u / math.sqrt(2.0))),
        1,
        "Your GELU of {u} is {is_now}; it should be {should_be}. The error function runs from −1 to 1, a "
        "chance from 0 to 1: Φ(u) = (1 + erf(u/√2))/2.",
    ),
    _wrong(
        "a logistic function for the normal distribution",
        _with(gelu=lambda u: u * logistic(u.dtype.type(1.702) * u)),
        1,
        "Your GELU of {u} is {is_now}; it should be {should_be}. u·σ(1.702 u) is a third, rougher "
        "approximation. The exact one needs the error function.",
    ),
    _wrong(
        "SiLU for GELU",
        _with(gelu=silu),
        1,
        "Your GELU of {u} is {is_now}; it should be {should_be}. You weigh u by the logistic function, which "
        "makes it SiLU. GELU weighs it by Φ(u).",
    ),
    _wrong(
        "√(2/π) left out",
        _with(gelu_tanh=lambda u: _tanh(u, factor=1.0)),
        2,
        "Your tanh GELU of {u} is {is_now}; it should be {should_be}. The cubic in the tanh is multiplied by "
        "√(2/π) = 0.798.",
    ),
    _wrong(
        "cubic term left out",
        _with(gelu_tanh=lambda u: _tanh(u, cubic=0.0)),
        2,
        "Your tanh GELU of {u} is {is_now}; it should be {should_be}. Beside u there is 0.044715·u³ in the "
        "tanh.",
    ),
)

_GELU_HINTS: Hints = (
    "By what is u multiplied in GELU, and between which two numbers does that factor lie?",
    "The factor is Φ(u), the chance that a standard normal number falls below u: 0 far to the left, ½ at 0, "
    "1 far to the right. In terms of the error function it is (1 + erf(u/√2))/2.",
    "Apply `math.erf` to each entry of u/√2, for instance by `np.vectorize`; add 1, halve, multiply by u.",
)
_TANH_HINTS: Hints = (
    "Which factor stands before the bracket in the tanh, and which in it?",
    "GELU by tanh is ½ u (1 + tanh(√(2/π)(u + 0.044715 u³))): half of 1 + tanh stands where Φ(u) was.",
    "Make the cubic u + 0.044715 u³ first, multiply it by the root of 2/π, and take `np.tanh` of that.",
)

EXERCISE = Exercise(
    id="feed_forward.activations",
    answer="bends",
    title="Three bends",
    level="core",
    minutes=15,
    framework="numpy",
    withheld=FEED_FORWARD_OF_THE_PACKAGE,
    reference=reference,
    cases=cases,
    returns=NAMES,
    properties=(
        *(
            values(
                name,
                title,
                points,
                on=(EXAMPLE, BATCH, BATCH_32),
                output=output,
                explain=_explain(name),
                hints=hints,
            )
            for output, (name, title, points, hints) in enumerate(
                (
                    ("relu", "ReLU", 0.5, None),
                    ("gelu", "the exact GELU, by the error function", 1.25, _GELU_HINTS),
                    ("gelu_tanh", "the GELU by tanh", 1.25, _TANH_HINTS),
                )
            )
        ),
        *(
            values(
                f"{name} far out",
                f"{name} far from 0 is finite and right",
                0.25,
                on=(FAR,),
                output=output,
                explain=_explain(name),
                requires=(name,),
            )
            for output, name in enumerate(NAMES)
            if name != "relu"
        ),
        dtype_kept(0.25, of="u", requires=("relu", "gelu", "gelu_tanh")),
        inputs_unchanged(0.25, requires=("relu", "gelu", "gelu_tanh")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which function of u multiplies u in each of the three? For ReLU it is 0 on the left and 1 on the "
        "right.",
        "ReLU is max(u, 0). GELU is u·Φ(u) with Φ(u) = (1 + erf(u/√2))/2. Its other form puts ½(1 + tanh of "
        "a cubic) in the place of Φ.",
        "Write each as `u` times a factor, and bring the results back to the dtype of `u` with `astype`.",
    ),
)
