"""What a gallery holds, and what is measured on it.

`tests/gallery/<stem>/<exercise>.py` has RIGHT, WRONG and TRIVIAL: answers as learners write them, apart from
the check's own code. Right ones must earn everything, wrong ones must fail and be told why, trivial ones earn
little.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from block_course.calling import observe
from block_course.exercise import Case, Exercise
from block_course.verdict import Verdict, judge

Answer = Callable[..., Any]

MOST_FOR_NOTHING = 0.25
"""The largest share of the points that an answer may earn that does none of the exercise's work."""


@dataclass(frozen=True)
class Wrong:
    """A wrong answer with the name of its misconception, or None if no message is promised for it."""

    answer: Answer
    diagnosis: str | None


@dataclass(frozen=True)
class Gallery:
    right: dict[str, Answer]
    wrong: dict[str, Wrong]
    trivial: dict[str, Answer]


def gallery(exercise: Exercise) -> Gallery:
    """The gallery of an exercise. Raises ModuleNotFoundError if nobody has made one."""
    module = importlib.import_module(f"tests.gallery.{exercise.id}")
    return Gallery(module.RIGHT, module.WRONG, module.TRIVIAL)


def verdict(exercise: Exercise, answer: Answer, cases: Sequence[Case]) -> Verdict:
    return judge(exercise, [(case, observe(answer, case, exercise.manner)) for case in cases])


def hidden_cases(exercise: Exercise, seed: int) -> Sequence[Case]:
    """Cases as the grader draws them, from a seed that no check cell uses."""
    return exercise.cases(np.random.default_rng([seed, 2026]))


def in_both_dtypes(cases: Sequence[Case]) -> dict[str, Sequence[Case]]:
    """The cases as drawn, and with every floating argument in float32 and in float64."""
    cast = {dtype.__name__: [_cast(case, dtype) for case in cases] for dtype in (np.float32, np.float64)}
    return {"as drawn": cases, **cast}


def _cast(case: Case, dtype: type[np.floating[Any]]) -> Case:
    cotangent = None if case.cotangent is None else case.cotangent.astype(dtype)
    arguments, state = ({k: _in(dtype, v) for k, v in each.items()} for each in (case.arguments, case.state))
    return replace(case, arguments=arguments, state=state, cotangent=cotangent)


def _in(dtype: type[np.floating[Any]], value: Any) -> Any:
    return value.astype(dtype) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value
