"""What a case asks for, by the exercise's own functions: the right outputs, and those of a misconception."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from block_course.exercise import Case, Exercise, Misconception, Outputs, as_outputs
from block_course.plain import entry
from block_course.under_test import Block, Interview


def expected(exercise: Exercise, case: Case) -> Outputs:
    """The right outputs: of the reference, or of a test whether it should let the case's block through."""
    if case.subject is not None:
        return (np.array(case.subject.right),)
    return _outputs(exercise, exercise.reference, case)


def claimed(exercise: Exercise, misconception: Misconception, case: Case) -> Outputs:
    """What a misconception gives."""
    if case.subject is not None:
        verdict = misconception.answer(Block(Interview(case.subject).ask), **case.arguments)
        return (np.array(bool(verdict)),)
    return _outputs(exercise, misconception.answer, case)


def is_table(exercise: Exercise, case: Case) -> bool:
    """Whether an answer returns a dict, with the entries that the exercise names."""
    return case.subject is None and isinstance(_returned(exercise, exercise.reference, case), Mapping)


def _outputs(exercise: Exercise, function: Callable[..., Any], case: Case) -> Outputs:
    returned = _returned(exercise, function, case)
    if isinstance(returned, Mapping):
        return tuple(entry(returned[name])[0] for name in exercise.returns)
    return as_outputs(returned)


def _returned(exercise: Exercise, function: Callable[..., Any], case: Case) -> Any:
    """What a function gives: (init, state) come first for a module, dy last where gradients are asked for."""
    given = (case.init, case.state) if exercise.calls == "module" else ()
    dy = {} if case.cotangent is None else {"dy": case.cotangent}
    return function(*given, **case.arguments, **dy)
