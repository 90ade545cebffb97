"""`precision_and_modes.digits`: the step of a format at a number, what is stored, and what is heard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.tables import Made, changed
from block_course.exercise import Case, Exercise, Hints, Misconception

RETURNS = ("digits", "step", "stored", "heard")
TIE, LOST, HEARD = "a tie", "an update below half a step", "an update of more than half a step"
CROSSED = "a sum that only the value before it was stored would round up"
BELOW, ABOVE = "just below a power of two", "a number that has to be rounded up"
Table = Mapping[str, float | str]


def reference(value: float, update: float, p: int) -> Table:
    """With 2^(e−1) ≤ value < 2^e the step is 2^(e−p); a tie goes to the even multiple of it."""
    step = 2.0 ** (np.frexp(value)[1] - p)
    stored = np.round(value / step) * step
    step_there = 2.0 ** (np.frexp(stored)[1] - p)
    after = np.round((stored + update) / step_there) * step_there
    return {
        "digits": p * np.log10(2.0),
        "step": step,
        "stored": stored,
        "heard": "no" if after == stored else "yes",
    }


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Formats of 8 to 14 bits; numbers whose multiple of the step is even, so that a tie is not heard."""

    def drawn(name: str, off: float, share: float) -> Case:
        """A number `off` steps above an even multiple, and an update of a share of the step."""
        p, e = int(rng.integers(8, 15)), int(rng.integers(1, 13))
        step = 2.0 ** (e - p)
        even = 2 * int(rng.integers(2 ** (p - 2) + 3, 2 ** (p - 1) - 3))
        return _case(name, (even + off) * step, share * step, p)

    p, e = int(rng.integers(8, 12)), int(rng.integers(4, 9))
    close = 2.0**e * (1.0 - 2.0 ** -(p + 3))
    return [
        _case("bfloat16 at 256", 256.0, 1.0, 8),
        drawn(TIE, 0.0, 0.5),
        drawn(LOST, 0.0, float(rng.uniform(0.1, 0.4))),
        drawn(HEARD, 0.0, float(rng.uniform(0.6, 0.9))),
        drawn(ABOVE, float(rng.uniform(0.6, 0.9)), 2.0),
        drawn(CROSSED, float(rng.uniform(0.3, 0.4)), float(rng.uniform(0.3, 0.4))),
        _case(BELOW, close, 2.0 ** (e - p) * float(rng.uniform(0.6, 0.9)), p),
    ]


def _case(name: str, value: float, update: float, p: int) -> Case:
    return Case(name=name, arguments={"value": value, "update": update, "p": p})


def _wrong(
    name: str, sentence: str, *, tells: Callable[[Case], bool] | None = None, **made: Made
) -> Misconception:
    return changed(name, reference, RETURNS, sentence, tells=tells, **made)  # type: ignore[arg-type]


def _step(given: SimpleNamespace) -> float:
    return float(2.0 ** (np.frexp(given.value)[1] - given.p))


def _cut(given: SimpleNamespace) -> float:
    return float(np.floor(given.value / _step(given)) * _step(given))


def _heard_by(given: SimpleNamespace, least: Callable[[float, float], bool]) -> str:
    """Whether an update counts, by a rule on it and on the step at the number that is stored."""
    stored = reference(given.value, given.update, given.p)["stored"]
    step = _step(SimpleNamespace(value=stored, p=given.p))
    return "yes" if least(given.update, step) else "no"


def _heard_from(stored: float, given: SimpleNamespace) -> str:
    return str(reference(stored, given.update, given.p)["heard"])


def _heard_by_the_value(given: SimpleNamespace) -> str:
    """Whether the sum with the value as it was given is stored as another number than the value."""
    stored, after = (
        reference(each, 0.0, given.p)["stored"] for each in (given.value, given.value + given.update)
    )
    return "no" if after == stored else "yes"


MISCONCEPTIONS = (
    _wrong(
        "bits for digits",
        "You say {mine} digits, which is the number of bits. A bit is worth log₁₀ 2 = 0.301 decimal digits.",
        digits=lambda given: given.p,
    ),
    _wrong(
        "the step at 1",
        "You say that {value} has the step {mine}, which is that of the numbers from 1 to 2. The step grows "
        "with the number: from 256 on it is 256 times as large.",
        step=lambda given: 2.0 ** (1 - given.p),
    ),
    _wrong(
        "a bit too few",
        "You give the step {mine}, twice what it is. Between two powers of two, 2^(e−1) and 2^e, there are "
        "2^(p−1) steps, so that each is 2^(e−p).",
        step=lambda given: 2.0 * _step(given),
    ),
    _wrong(
        "cut off",
        "You store {value} as {mine}, the multiple of the step below it. It is rounded to the nearest.",
        stored=_cut,
        heard=lambda given: _heard_from(_cut(given), given),
    ),
    _wrong(
        "value as it is",
        "You store {value} as {mine}. Only multiples of the step exist.",
        stored=lambda given: given.value,
    ),
    _wrong(
        "heard from a whole step on",
        "You say “{mine}”. A sum goes to the nearest multiple: more than half a step is enough.",
        heard=lambda given: _heard_by(given, lambda update, step: update >= step),
    ),
    _wrong(
        "a tie is heard",
        "You say “{mine}”. A sum that lies halfway goes to the even multiple, and where the number is "
        "that, it stays there.",
        heard=lambda given: _heard_by(given, lambda update, step: 2.0 * update >= step),
    ),
    _wrong(
        "the step of the number before it was stored",
        "You say “{mine}” for {value}, which is stored as the power of two above it. From there on the step "
        "is twice as large, and the update less than half of it.",
        heard=lambda given: "yes" if 2.0 * given.update > _step(given) else "no",
    ),
    _wrong(
        "added to the value before it was stored",
        "You say “{mine}” for {value} and an update of {update}. The update meets the number that is stored, "
        "and what was cut off by storing is gone.",
        tells=lambda case: case.name == CROSSED,
        heard=_heard_by_the_value,
    ),
    _wrong(
        "always heard",
        "You say “{mine}” for an update of {update} to {value}. An update of less than half a step is gone.",
        heard=lambda given: "yes",
    ),
)

_HEARD_HINTS: Hints = (
    "What is the exact sum, and which two numbers of the format lie around it?",
    "The sum of the stored number and the update is rounded to the nearest multiple of the step. If that is "
    "the stored number, nothing was heard. A tie goes to the even multiple.",
    "Round (stored + update) to multiples of the step at `stored` with `np.round`, which sends ties to the "
    "even one, and compare with `stored`.",
)
_STEP_HINTS: Hints = (
    "Between which two powers of two does the number lie?",
    "From 2^(e−1) to 2^e a format with p bits has 2^(p−1) steps. `np.frexp(value)` gives e as its second "
    "result.",
    "The step is two to the power of e − p.",
)

EXERCISE = Exercise(
    id="precision_and_modes.digits",
    answer="number_format",
    title="What a format has",
    level="warm-up",
    minutes=10,
    framework="numpy",
    reference=reference,  # type: ignore[arg-type]
    cases=cases,
    returns=RETURNS,
    properties=(
        entries("digits", "the decimal digits", 0.5, of=("digits",)),
        entries("step", "the step at a number", 1.0, of=("step",), hints=_STEP_HINTS),
        entries("stored", "the number that is stored", 0.75, of=("stored",), hints=_STEP_HINTS),
        entries("heard", "whether an update is heard", 0.75, of=("heard",), hints=_HEARD_HINTS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "How many decimal digits is a bit worth?",
        "2^p = 10^(p · log₁₀ 2): p bits are p · log₁₀ 2 decimal digits.",
        "Multiply p by `np.log10(2)`.",
    ),
    withheld=("transformer_block",),
)
