"""Which known misconception an answer equals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from block_course.exercise import Case, Exercise, Misconception, Observation, Outputs, Run
from block_course.expected import claimed as claimed_outputs
from block_course.expected import expected, is_table
from block_course.faults import one_line
from block_course.plain import NAMES, TEXT, refusal
from block_course.tolerance import agrees, case_tolerance

NO_RETURN = "no return"

_VISIBLE = 0.01
_SHAPE = re.compile(r"\([\d,]*\)")
_SIZE = re.compile(r"\d+")


class JudgingError(Exception):
    """A check itself failed: a fault of the course, never of the learner, and never a zero."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The misconception that an answer equals; `message` speaks of the learner's own numbers."""

    name: str
    message: str | None


def diagnose(exercise: Exercise, run: Run) -> Diagnosis | None:
    """The first misconception of the exercise that the answer equals, or None.

    An answer that departs from the reference on a regular case must equal the misconception on every regular
    case on which that is defined, and one of those must tell it from the reference. A misconception that
    raises ValueError or IndexError on a case (an axis that a single token doesn't have) is not defined there;
    but an answer that raises the same there equals it in that, too.

    An answer that agrees with the reference on all regular cases, such as one with a one-pass variance, shows
    in the extreme ones alone, and there its rounding depends on the order of operations. It is named if the
    misconception, too, agrees with the reference on the regular cases, and both depart from it on the same
    extreme ones.

    Learners make several mistakes at a time. Of an answer that equals none as a whole, the first is named
    that it follows in part: on all cases that the misconception is about, if it says so; in a table, in the
    entry that its message speaks of, or else in each that it changes.

    Any exercise knows one more: an answer that always returns None.

    Raises JudgingError if a reference, a misconception or its message raises anything else.
    """
    if all(_returned_none(observation) for _, observation in run):
        message = f"`{exercise.answer}` returned None: is the `return` missing?"
        return Diagnosis(name=NO_RETURN, message=message)
    seen = [_Seen(case, observation, _reference(exercise, case)) for case, observation in run]
    regular = [each for each in seen if not each.case.extreme]
    extreme = [each for each in seen if each.case.extreme]
    shows_in_regular = not all(each.is_right for each in regular)
    for misconception in exercise.misconceptions:
        if shows_in_regular:
            telling = _telling(exercise, misconception, regular)
        else:
            telling = _telling_extreme(exercise, misconception, regular, extreme)
        if telling is not None:
            return Diagnosis(name=misconception.name, message=_message(exercise, misconception, telling))
    for misconception in exercise.misconceptions if shows_in_regular else ():
        telling = _telling_in_part(exercise, misconception, regular)
        if telling is not None:
            return Diagnosis(name=misconception.name, message=_message(exercise, misconception, telling))
    return None


@dataclass(frozen=True, eq=False)
class _Seen:
    """What the learner's answer and the reference give on one case."""

    case: Case
    observation: Observation
    right: Outputs
    entries: tuple[int, ...] | None = None

    @property
    def given(self) -> Outputs:
        """The outputs; of a table only the `entries` that are looked at, if they are named."""
        return self.of_interest(self.observation.outputs)

    def of_interest(self, outputs: Outputs) -> Outputs:
        if self.entries is None or len(outputs) != len(self.right):
            return outputs
        return tuple(outputs[index] for index in self.entries)

    @property
    def is_right(self) -> bool:
        return _same(self.case, self.given, self.of_interest(self.right))

    @property
    def is_whole(self) -> bool:
        """Whether each output is of the kind that the reference gives: a number, an array, or words."""
        seen = self.observation
        return len(seen.outputs) == len(self.right) and all(
            refusal(kind) is None
            and got.ndim == right.ndim
            and (kind in (TEXT, NAMES)) == (right.dtype == np.uint8)
            for got, kind, right in zip(seen.outputs, seen.kinds, self.right, strict=True)
        )

    def raised_like(self, exception: Exception) -> bool:
        """The same kind of exception, about the same shapes or else sizes, in whichever order."""
        kind, _, text = self.observation.message.partition(": ")
        return (
            self.observation.status == "raised"
            and kind == type(exception).__name__
            and _about(text) == _about(one_line(str(exception)))
        )

    def departs(self, claimed: Outputs) -> bool:
        return not _same(self.case, claimed, self.of_interest(self.right))

    def departs_visibly(self, claimed: Outputs) -> bool:
        """In a leading digit, so that a message with three decimals can show it."""
        wanted = self.of_interest(self.right)
        return _shapes(claimed) != _shapes(wanted) or any(
            not agrees(mine, right, _VISIBLE * float(np.max(np.abs(right), initial=0.0)))
            for mine, right in zip(claimed, wanted, strict=True)
        )


def _claims(
    exercise: Exercise, misconception: Misconception, seen: list[_Seen]
) -> Iterator[tuple[_Seen, Outputs | None]]:
    """What a misconception gives on each case on which it is defined; None where both raised the same."""
    for each in seen:
        try:
            with np.errstate(all="ignore"):
                claimed = claimed_outputs(exercise, misconception, each.case)
        except (ValueError, IndexError) as raised:
            if each.raised_like(raised):
                yield each, None
            continue
        except Exception as exception:
            raise JudgingError(f"{exercise.id}, {misconception.name!r}: {exception!r}") from exception
        yield each, each.of_interest(claimed)


def _telling_in_part(exercise: Exercise, misconception: Misconception, regular: list[_Seen]) -> _Seen | None:
    """The case to show, if the answer follows the misconception wherever that is about something."""
    about = [each for each in regular if misconception.about and misconception.about(each.case)]
    if not about:
        shown = misconception.shows
        entries = (exercise.returns.index(shown),) if shown else _changed(exercise, misconception, regular)
        whole = all(len(each.observation.outputs) == len(each.right) for each in regular)
        about = [replace(each, entries=entries) for each in regular] if entries and whole else []
    telling = _telling(exercise, misconception, about)
    # a message that speaks of more than one entry may need those that are wrong in another way
    return telling if telling and (misconception.shows or telling.is_whole) else None


def _changed(exercise: Exercise, misconception: Misconception, regular: list[_Seen]) -> tuple[int, ...]:
    """The entries of a table in which a misconception departs from the reference on any case."""
    if not all(is_table(exercise, each.case) for each in regular):
        return ()
    return tuple(
        index
        for index in range(len(exercise.returns))
        if any(
            not _same(each.case, claimed[index : index + 1], each.right[index : index + 1])
            for each, claimed in _returned(exercise, misconception, regular)
        )
    )


def _telling(exercise: Exercise, misconception: Misconception, regular: list[_Seen]) -> _Seen | None:
    """The case to show, if the answer follows the misconception on all: one where a leading digit differs."""
    telling, visible, told = [], [], []
    for each, claimed in _claims(exercise, misconception, regular):
        if claimed is not None and not _same(each.case, each.given, claimed):
            return None
        if (
            misconception.tells
            and misconception.tells(each.case)
            and (claimed is None or each.departs(claimed))
        ):
            told.append(each)
        if claimed is not None and each.departs(claimed):
            telling.append(each)
            visible += [each] if each.departs_visibly(claimed) else []
    return next(iter((*told, *visible, *telling)), None)


def _telling_extreme(
    exercise: Exercise, misconception: Misconception, regular: list[_Seen], extreme: list[_Seen]
) -> _Seen | None:
    if any(each.departs(claimed) for each, claimed in _returned(exercise, misconception, regular)):
        return None
    telling = None
    for each, claimed in _returned(exercise, misconception, extreme):
        follows = not each.is_right and _shapes(each.given) == _shapes(claimed)
        if follows is not each.departs(claimed):
            return None
        telling = telling or (each if follows else None)
    return telling


def _returned(
    exercise: Exercise, misconception: Misconception, seen: list[_Seen]
) -> Iterator[tuple[_Seen, Outputs]]:
    for each, claimed in _claims(exercise, misconception, seen):
        if claimed is not None:
            yield each, claimed


def _about(text: str) -> tuple[str, list[str]]:
    """What an exception is about: the shapes in it; in one that names none, its sizes and its words."""
    shapes = sorted(_SHAPE.findall(text))
    return ("", shapes) if shapes else (_SIZE.sub("", text), sorted(_SIZE.findall(text)))


def _returned_none(seen: Observation) -> bool:
    return seen.status == "returned" and [refusal(kind) for kind in seen.kinds] == ["None"]


def _shapes(outputs: Outputs) -> list[tuple[int, ...]]:
    return [each.shape for each in outputs]


def _reference(exercise: Exercise, case: Case) -> Outputs:
    try:
        return expected(exercise, case)
    except Exception as exception:
        raise JudgingError(f"{exercise.id}, reference on {case.name!r}: {exception!r}") from exception


def _message(exercise: Exercise, misconception: Misconception, telling: _Seen) -> str:
    try:
        return misconception.message(telling.case, telling.observation.outputs)
    except Exception as exception:
        raise JudgingError(f"{exercise.id}, message of {misconception.name!r}: {exception!r}") from exception


def _same(case: Case, left: Outputs, right: Outputs) -> bool:
    return len(left) == len(right) and all(
        agrees(mine, other, case_tolerance(case, other, given=mine))
        for mine, other in zip(left, right, strict=True)
    )
