"""Which known misconception an answer equals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from block_course.exercise import Case, Exercise, Misconception, Outputs, Run, as_outputs
from block_course.tolerance import agrees, case_tolerance


class JudgingError(Exception):
    """A check itself failed: a fault of the course, never of the learner, and never a zero."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The misconception that an answer equals; `message` speaks of the learner's own numbers."""

    name: str
    message: str | None


def diagnose(exercise: Exercise, run: Run) -> Diagnosis | None:
    """The first misconception of the exercise that the answer equals, or None.

    On the regular cases the answer must equal it wherever it is defined, and one of those cases must tell it
    from the reference. A misconception that agrees with the reference on all regular cases, such as a
    one-pass variance, shows in the extreme ones alone, and there its rounding depends on the order of
    operations: it is named if the answer agrees with the reference on all regular cases and departs from it
    on exactly those extreme cases on which the misconception departs. A misconception that raises ValueError
    or IndexError on a case (an axis that a single token doesn't have) is not defined there.

    Raises JudgingError if a reference, a misconception or its message raises anything else.
    """
    regular = [(case, seen) for case, seen in run if not case.extreme]
    extreme = [(case, seen) for case, seen in run if case.extreme]
    for misconception in exercise.misconceptions:
        claims = list(_claims(exercise, misconception, regular))
        if any(_departs(claim) for claim in claims):
            telling = _telling(claims)
        else:
            telling = _telling_extreme(regular, exercise, list(_claims(exercise, misconception, extreme)))
        if telling is not None:
            return Diagnosis(name=misconception.name, message=_message(exercise, misconception, telling))
    return None


@dataclass(frozen=True, eq=False)
class _Claim:
    """What the learner, the misconception and the reference give on one case."""

    case: Case
    seen: Outputs
    claimed: Outputs
    right: Outputs


def _claims(exercise: Exercise, misconception: Misconception, run: Run) -> Iterator[_Claim]:
    for case, observation in run:
        try:
            claimed = as_outputs(misconception.answer(**case.arguments))
        except (ValueError, IndexError):
            continue
        except Exception as exception:
            raise JudgingError(f"{exercise.id}, {misconception.name!r}: {exception!r}") from exception
        yield _Claim(case, observation.outputs, claimed, _reference(exercise, case))


def _departs(claim: _Claim) -> bool:
    return not _same(claim.case, claim.claimed, claim.right)


def _departs_visibly(claim: _Claim) -> bool:
    return _shapes(claim.claimed) != _shapes(claim.right) or any(
        not agrees(claimed, right, 0.01 * float(np.max(np.abs(right), initial=0.0)))
        for claimed, right in zip(claim.claimed, claim.right, strict=True)
    )


def _telling(claims: list[_Claim]) -> _Claim | None:
    """The case to show, if the answer follows the misconception on all: one where a leading digit differs."""
    if not all(_same(claim.case, claim.seen, claim.claimed) for claim in claims):
        return None
    return next(filter(_departs_visibly, claims), None) or next(filter(_departs, claims))


def _telling_extreme(regular: Run, exercise: Exercise, claims: list[_Claim]) -> _Claim | None:
    if not all(_same(case, seen.outputs, _reference(exercise, case)) for case, seen in regular):
        return None
    departing = [claim for claim in claims if _departs(claim)]
    for claim in claims:
        follows = not _same(claim.case, claim.seen, claim.right) and _shapes(claim.seen) == _shapes(
            claim.claimed
        )
        if follows is not (claim in departing):
            return None
    return departing[0] if departing else None


def _shapes(outputs: Outputs) -> list[tuple[int, ...]]:
    return [each.shape for each in outputs]


def _reference(exercise: Exercise, case: Case) -> Outputs:
    try:
        return as_outputs(exercise.reference(**case.arguments))
    except Exception as exception:
        raise JudgingError(f"{exercise.id}, reference on {case.name!r}: {exception!r}") from exception


def _message(exercise: Exercise, misconception: Misconception, claim: _Claim) -> str:
    try:
        return misconception.message(claim.case, claim.seen)
    except Exception as exception:
        raise JudgingError(f"{exercise.id}, message of {misconception.name!r}: {exception!r}") from exception


def _same(case: Case, left: Outputs, right: Outputs) -> bool:
    return len(left) == len(right) and all(
        agrees(mine, other, case_tolerance(case, other)) for mine, other in zip(left, right, strict=True)
    )
