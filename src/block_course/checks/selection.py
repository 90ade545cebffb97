"""A property that looks at some of the cases alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from block_course.exercise import Case, Exercise, Failure, Property, Run


def on(keep: Callable[[Case], bool], property: Property) -> Property:
    """The same property, of the cases alone that `keep` keeps; None of them being left is an error."""

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        kept = [(case, seen) for case, seen in run if keep(case)]
        if not kept:
            raise ValueError(f"no case of {exercise.id} is left for {property.name!r}")
        return property.holds(exercise, kept)

    return replace(property, holds=holds)


def among(*names: str) -> Callable[[Case], bool]:
    """Whether a case is one of those of these names."""
    return lambda case: case.name in names
