"""What a case asks for, by the exercise's own functions: the right outputs, and those of a misconception."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from block_course.exercise import Case, Exercise, Misconception, Outputs, as_outputs
from block_course.plain import entry
from block_course.under_test import Block, Interview


def expected(exercise: Exercise, case: Case) -> Outputs:
    """The right outputs: of the reference, or of a test whether it should let the case's block through."""
    if case.subject is not None:
        return (np.array(case.subject.right),)
    return _given(exercise, exercise.reference, case).outputs


def claimed(exercise: Exercise, misconception: Misconception, case: Case) -> Outputs:
    """What a misconception gives."""
    if case.subject is not None:
        return _verdict(misconception.answer, case)
    return _given(exercise, misconception.answer, case).outputs


def is_table(exercise: Exercise, case: Case) -> bool:
    """Whether an answer returns a dict, with the entries that the exercise names."""
    return case.subject is None and _given(exercise, exercise.reference, case).is_table


class _Given(NamedTuple):
    outputs: Outputs
    is_table: bool


def _verdict(test: Callable[..., Any], case: Case) -> Outputs:
    """What a known test says of the case's block, which is asked once."""
    assert case.subject is not None
    if test not in case.known:
        verdict = test(Block(Interview(case.subject).ask), **case.arguments)
        case.known[test] = _unchanging((np.array(bool(verdict)),))
    outputs: Outputs = case.known[test]
    return outputs


def _given(exercise: Exercise, function: Callable[..., Any], case: Case) -> _Given:
    """What a function gives: (init, state) come first for a module, dy last where gradients are asked for."""
    key = function, exercise.returns
    if key not in case.known:
        given = (case.init, case.state) if exercise.calls == "module" else ()
        dy = {} if case.cotangent is None else {"dy": case.cotangent}
        returned = function(*given, **case.arguments, **dy)
        table = isinstance(returned, Mapping)
        entries = (entry(returned[name])[0] for name in exercise.returns) if table else ()
        outputs = tuple(entries) if table else as_outputs(returned)
        case.known[key] = _Given(_unchanging(outputs), table)
    known: _Given = case.known[key]
    return known


def _unchanging(outputs: Outputs) -> Outputs:
    """Views that can't be written to, for they are handed out again."""
    views = tuple(np.asarray(each).view() for each in outputs)
    for view in views:
        view.flags.writeable = False
    return views
