"""Properties of counts, shapes and words: outputs, or entries of a dict that is filled in like a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.outputs import output_of
from block_course.checks.wording import amount, cut_short, two_numbers, vector
from block_course.exercise import Array, Exercise, Failure, Hints, Property, Run
from block_course.expected import expected
from block_course.plain import NAMES, TEXT, words
from block_course.tolerance import agrees, case_tolerance

_MOST_SAID = 3


def entries(
    name: str,
    title: str,
    points: float,
    *,
    of: Sequence[str],
    requires: tuple[str, ...] = (),
    hints: Hints | None = None,
) -> Property:
    """The entries named in `of`, of the exercise's `returns`, are right on every case.

    A count or a shape is compared exactly, a decimal by the case's tolerance, a word as it is written, a set
    of words in any order. A whole number may be given as a float.
    """

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        for case, seen in run:
            right = expected(exercise, case)
            for each in of:
                index = exercise.returns.index(each)
                got, complaint = output_of(exercise, case, seen, index)
                if got is None:
                    return Failure(case=case.name, message=complaint)
                kind = seen.kinds[index]
                if _reads_as_text(right[index]) != (kind in (TEXT, NAMES)):
                    wanted = "a word" if _reads_as_text(right[index]) else "a number"
                    message = f"your `{each}` is {_said(got, kind)} where {wanted} belongs"
                    return Failure(case=case.name, message=message)
                bound = case_tolerance(case, right[index], given=got)
                if not agrees(got, right[index], bound):
                    return Failure(case=case.name, message=_differs(each, got, right[index], kind))
        return None

    return Property(name=name, title=title, points=points, holds=holds, requires=requires, hints=hints)


def _reads_as_text(right: Array) -> bool:
    return right.dtype == np.uint8


def _differs(name: str, got: Array, right: Array, kind: str) -> str:
    """What is wrong, without the right value: the table's own would be the whole answer."""
    if kind == NAMES:
        return f"your `{name}` {_misfiled(set(words(got)) - {''}, set(words(right)))}"
    if kind != TEXT and got.ndim == right.ndim == 0 and got.dtype.kind == "f":
        shown = two_numbers(got, right)[0] if amount(got) == amount(right) else amount(got)
        return f"your `{name}` is {shown}{cut_short(got.item(), right.item())}"
    return f"your `{name}` is {_said(got, kind)}"


def _misfiled(given: set[str], wanted: set[str]) -> str:
    strange = sorted(given - wanted)
    if strange:
        belong = "which does not belong there" if len(strange) == 1 else "which do not belong there"
        return f"holds {', '.join(strange[:_MOST_SAID])}, {belong}"
    return f"lacks {len(wanted - given)} of {len(wanted)}"


def _said(got: Array, kind: str) -> str:
    if kind == TEXT:
        return repr(words(got)[0])
    if kind == NAMES:
        return f"{{{', '.join(words(got))}}}"
    if got.ndim == 0 and got.dtype.kind == "b":
        return str(got.item())
    if got.ndim == 0:
        return f"{got.item():,}" if got.dtype.kind in "iu" else amount(got)
    return vector(got.reshape(-1)) if got.ndim == 1 else f"an array of shape {got.shape}"
