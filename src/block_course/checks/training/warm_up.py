"""`training.warm_up`: learning rates that rise to a peak and stay there, or fall again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.properties import values
from block_course.checks.telling import misconception
from block_course.exercise import Array, Case, Exercise, Hints

CONSTANT, FALLING, NONE = "up, then constant", "up, then falling", "no warm-up"
SHORT, LATER = "fewer steps than the warm-up has", "no warm-up, falling"


def reference(steps: int, peak: float, warmup: int, falls: bool) -> Array:
    """Compute peak · min(1, n/w), or with √(w/n) for 1 behind the warm-up; n = 1 … steps, w at least 1."""
    n, w = np.arange(1, steps + 1), max(warmup, 1)
    after = np.sqrt(w / n) if falls else np.ones(steps)
    return np.asarray(peak * np.minimum(n / w, after))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Both kinds with a warm-up, without, and with one that never ends."""
    w, more = int(rng.integers(4, 8)), int(rng.integers(5, 9))
    peak = float(rng.choice([0.002, 0.008, 0.03, 0.5]))
    return [
        _case(CONSTANT, w + more, peak, w, False),
        _case(FALLING, w + more, peak, w, True),
        _case(NONE, more, peak, 0, False),
        _case(LATER, more + 1, peak, 0, True),
        _case(SHORT, more, peak, more + w, False),
    ]


def _case(name: str, steps: int, peak: float, warmup: int, falls: bool) -> Case:
    return Case(name=name, arguments={"steps": steps, "peak": peak, "warmup": warmup, "falls": falls})


Rise = Callable[[Array, int], Array]


def _schedule(
    *,
    rise: Rise = lambda n, w: n / w,
    fall: Rise = lambda n, w: np.sqrt(w / n),
    capped: bool = True,
    first: int = 1,
) -> Callable[..., Array]:
    def answer(steps: int, peak: float, warmup: int, falls: bool) -> Array:
        n, w = np.arange(first, steps + first), max(warmup, 1)
        with np.errstate(divide="ignore"):
            after = fall(n, w) if falls else np.ones(steps)
        return np.asarray(peak * (np.minimum(rise(n, w), after) if capped or falls else rise(n, w)))

    return answer


def _without(warmup_of_0: float) -> Callable[..., Array]:
    def answer(steps: int, peak: float, warmup: int, falls: bool) -> Array:
        if warmup == 0 and not falls:
            return np.full(steps, warmup_of_0)
        if warmup == 0:
            raise ValueError("no rule for a fall that nothing came before")
        return reference(steps, peak, warmup, falls)

    return answer


MISCONCEPTIONS = tuple(
    misconception(name, answer, reference, sentence)
    for name, answer, sentence in (
        (
            "first rate 0",
            _schedule(first=0),
            "Your first step has n = 0 and moves nothing, and the peak comes one step late. Steps count from "
            "1: the first rate is a w-th of the peak.",
        ),
        (
            "rises for ever",
            _schedule(capped=False),
            "The rate goes on rising behind the warm-up. It stays at the peak from step w on.",
        ),
        (
            "falls like 1/n",
            _schedule(fall=lambda n, w: w / n),
            "Behind the warm-up the rate falls with √(w/n): at four times w steps it is half the peak, and "
            "yours is a quarter.",
        ),
        (
            "fall that forgets the warm-up",
            _schedule(fall=lambda n, w: 1.0 / np.sqrt(n)),
            "The fall begins at the peak, at step w: √(w/n) is 1 there, and 1/√n is less.",
        ),
        (
            "never falls",
            _schedule(fall=lambda n, w: np.ones(len(n))),
            "Where `falls` is True, the rate falls with √(w/n) behind the warm-up.",
        ),
        (
            "no warm-up, no rate",
            _without(0.0),
            "Without a warm-up all steps have the peak.",
        ),
    )
)

_NONE_HINTS: Hints = (
    "What does your function divide by if `warmup` is 0?",
    "No warm-up is the same as one of a single step: the first rate is the peak.",
    "Put the larger of `warmup` and 1 for w.",
)
_FALL_HINTS: Hints = (
    "At which step does the fall begin, and what is √(w/n) there?",
    "At n = w both n/w and √(w/n) are 1. Before that the first is smaller, and behind it the second.",
    "Take the smaller of n/w and √(w/n) at each step, times the peak.",
)

EXERCISE = Exercise(
    id="training.warm_up",
    answer="rates",
    title="Warm-up",
    level="warm-up",
    minutes=8,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values("constant", "up to the peak, then constant", 1.0, on=(CONSTANT,)),
        values("falling", "up to the peak, then falling", 1.0, on=(FALLING,), hints=_FALL_HINTS),
        values("none", "no warm-up", 0.75, on=(NONE, LATER), hints=_NONE_HINTS),
        values("short", "a warm-up longer than the run", 0.25, on=(SHORT,), requires=("constant",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which n has the first step, and which the last of the warm-up?",
        "The rate of step n = 1 … N is n/w of the peak up to n = w, and the peak from there on.",
        "Make the numbers 1 to N, divide by w, take the smaller of that and 1, and multiply by the peak.",
    ),
    withheld=("transformer_block",),
)
