"""Misconceptions that are told by the first number that departs from the right one, then by a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.wording import entry, shape, two_numbers
from block_course.exercise import Array, Case, Misconception, Outputs, as_outputs

_VISIBLE = 0.01

Answer = Callable[..., Array | Outputs]


def misconception(
    name: str,
    answer: Answer,
    reference: Answer,
    sentence: str,
    *,
    returns: Sequence[str] = (),
    tells: Callable[[Case], bool] | None = None,
) -> Misconception:
    """One whose message begins with the learner's first wrong shape or number, if the call gave any.

    `returns` names the outputs, `tells` is that of `Misconception`.
    """

    def message(case: Case, outputs: Outputs) -> str:
        return f"{first_departure(outputs, as_outputs(reference(**case.arguments)), returns)}{sentence}"

    return Misconception(name=name, answer=answer, message=message, tells=tells)


def first_departure(outputs: Outputs, right: Outputs, returns: Sequence[str] = ()) -> str:
    """The first output of another shape, or the first entry that differs visibly, as a sentence; else ""."""
    if len(outputs) != len(right):
        return ""
    for index, (got, wanted) in enumerate(zip(outputs, right, strict=True)):
        name = f"your {returns[index]}" if returns else "your output"
        if got.shape != wanted.shape:
            return f"{_upper(name)} has shape {shape(got.shape)} and should have {shape(wanted.shape)}. "
        mine, right_one = got.astype(np.float64), wanted.astype(np.float64)
        least = _VISIBLE * float(np.max(np.abs(right_one), initial=0.0))
        apart = np.argwhere(~(np.abs(mine - right_one) <= least))
        if len(apart):
            where = tuple(int(each) for each in apart[0])
            is_now, should_be = two_numbers(got[where], wanted[where])
            if not where:
                return f"{_upper(name)} is {is_now} and should be {should_be}. "
            return f"Entry {entry(where)} of {name} is {is_now} and should be {should_be}. "
    return ""


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]
