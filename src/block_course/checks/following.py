"""A property of an entry that is made from others of the same table: judged by the learner's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from block_course.checks.outputs import output_of
from block_course.checks.wording import amount, cut_short
from block_course.exercise import Array, Case, Exercise, Failure, Hints, Observation, Property, Run
from block_course.plain import NAMES, TEXT
from block_course.tolerance import tolerance

Rule = Callable[[SimpleNamespace, SimpleNamespace], float]
"""From the arguments of a case and the learner's own entries to the entry that follows from them."""


def follows(
    name: str,
    title: str,
    points: float,
    *,
    entry: str,
    of: Sequence[str],
    rule: Rule,
    requires: tuple[str, ...] = (),
    hints: Hints | None = None,
) -> Property:
    """The number `entry` follows by `rule` from the learner's own entries `of`, right or wrong.

    So a slip in one of those costs its own points alone. They must be positive, so that a table of zeros
    earns nothing. Where they are right, and another property sees to that, the entry is right.
    """

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        for case, seen in run:
            message = _differs(exercise, case, seen, entry, of, rule)
            if message:
                return Failure(case=case.name, message=message)
        return None

    return Property(name=name, title=title, points=points, holds=holds, requires=requires, hints=hints)


def _differs(
    exercise: Exercise, case: Case, seen: Observation, entry: str, of: Sequence[str], rule: Rule
) -> str:
    own: dict[str, Any] = {}
    for each in (*of, entry):
        index = exercise.returns.index(each)
        got, complaint = output_of(exercise, case, seen, index)
        if got is None:
            return complaint
        if got.ndim or got.dtype.kind not in "iuf" or seen.kinds[index] in (TEXT, NAMES):
            return f"your `{each}` is no number"
        if not np.isfinite(got) or (each in of and got <= 0):
            return f"your `{each}` is {_said(got)}"
        own[each] = got.item()
    wanted = rule(SimpleNamespace(**case.arguments), SimpleNamespace(**own))
    if math.isfinite(wanted) and abs(own[entry] - wanted) <= _bound(wanted):
        return ""
    parts = " and ".join(f"your `{each}` of {_said(np.asarray(own[each]))}" for each in of)
    if rounded := cut_short(own[entry], wanted):
        return f"your `{entry}` is {_said(np.asarray(own[entry]))}{rounded}"
    return f"your `{entry}` is {_said(np.asarray(own[entry]))}, which does not follow from {parts}"


def _bound(wanted: float) -> float:
    return 0.0 if isinstance(wanted, int) else tolerance(np.float64, terms=1, scale=abs(wanted))


def _said(got: Array) -> str:
    return f"{got.item():,}" if got.dtype.kind in "iu" else amount(got)
