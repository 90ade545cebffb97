"""Properties of an answer that is a test: it lets every right block through, and catches wrong ones.

What a test earns is the share of wrong blocks that it catches, one property for each, and only if it rejects
none of the right ones. So neither a test that accepts everything nor one that rejects everything earns a
thing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_course.checks.outputs import output_of
from block_course.checks.wording import shape
from block_course.exercise import (
    Array,
    Case,
    Exercise,
    Failure,
    Misconception,
    Observation,
    Property,
    Run,
)
from block_course.under_test import Block

LETS_THROUGH = "lets right blocks through"


def let_through(x: Array) -> Array:
    """What a right block deserves, for a reference: a case with a block says itself whether it is right."""
    return np.array(True)


def lets_through() -> Property:
    """The test accepts every right block of the run. Worth nothing alone: what it catches counts."""

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        for case, seen in run:
            if case.subject is None or not case.subject.right:
                continue
            verdict, complaint = _verdict(exercise, case, seen)
            if verdict is None:
                return Failure(case=case.name, message=complaint)
            if not verdict:
                return Failure(case=case.name, message="your test rejects this block, which is right")
        return None

    return Property(name=LETS_THROUGH, title="lets every right block through", points=0.0, holds=holds)


def catches(fault: str, title: str, points: float) -> Property:
    """The test rejects each wrong block whose case is named `fault`, or that with more after a comma."""

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        met = [(case, seen) for case, seen in run if case.name.partition(",")[0] == fault]
        if not met:
            raise ValueError(f"no case of {exercise.id} has the fault {fault!r}")
        for case, seen in met:
            verdict, complaint = _verdict(exercise, case, seen)
            if verdict is None:
                return Failure(case=case.name, message=complaint)
            if verdict:
                return Failure(case=case.name, message="your test lets this block through, which is wrong")
        return None

    return Property(name=fault, title=title, points=points, holds=holds, requires=(LETS_THROUGH,))


def weak_test(
    name: str,
    accepts: Callable[[Block, Array], bool],
    message: str,
    shown: Callable[[Case], bool] | None = None,
) -> Misconception:
    """A known test that sees too little or too much; {block} in the message is the block that shows it.

    `shown` says of which block the message speaks: by itself of the first with a wrong verdict.
    """
    return Misconception(
        name=name,
        answer=lambda block, x: np.array(accepts(block, x)),
        message=lambda case, outputs: message.format(block=case.name),
        tells=shown,
    )


def named(name: str) -> Callable[[Case], bool]:
    """Whether a case is the one of this name."""
    return lambda case: case.name == name


def is_right(case: Case) -> bool:
    """Whether the block of a case is right."""
    return case.subject is not None and case.subject.right


def _verdict(exercise: Exercise, case: Case, seen: Observation) -> tuple[bool | None, str]:
    got, complaint = output_of(exercise, case, seen, 0)
    if got is None:
        return None, complaint
    return _truth(got)


def _truth(got: Array) -> tuple[bool | None, str]:
    if got.shape != ():
        return None, f"a test says True or False; yours returned an array of shape {shape(got.shape)}"
    return bool(got), ""
