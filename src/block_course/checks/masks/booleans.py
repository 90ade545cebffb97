"""What checks of masks have in common: a sentence about a query and a key, and the property of booleans."""

from __future__ import annotations

import numpy as np

from block_course.checks.outputs import output_name, output_of
from block_course.checks.wording import number
from block_course.exercise import Array, Case, Exercise, Failure, Hints, Property, Run
from block_course.expected import expected

MASKS_OF_THE_PACKAGE = ("transformer_block.in_numpy.masks", "transformer_block.in_torch.masks")

_BOOLEAN_HINTS: Hints = (
    "What is your mask, and of which dtype? Print `type(mask)` and `mask.dtype`.",
    "A comparison gives booleans. An array of ones and zeros is made of numbers, and where a mask is "
    "expected these would be read in another way: as indices, or as something to add to the scores.",
    "Make the mask by a comparison, or bring the ones and zeros to `bool` in the last line.",
)


def seen_or_hidden(case: Case, index: tuple[int, ...], got: Array, right: Array) -> str:
    """The first query and key about which a mask is wrong; True means visible."""
    *_, query, key = index
    given = got[index]
    if given not in (0, 1):
        return f"query {query}, key {key}: your entry is {number(given)}; a mask holds True and False"
    mine, should_be = (("hidden", "visible")[int(each)] for each in (given, right[index]))
    return f"query {query}, key {key}: {mine} in yours, and should be {should_be}"


def boolean(points: float, *, requires: tuple[str, ...], what: str = "the mask is") -> Property:
    """Every output is an array of booleans, of the exercise's framework."""

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        torch = exercise.framework == "torch"
        wanted = "torch.Tensor" if torch else "numpy."
        belongs = f"a {'torch tensor' if torch else 'NumPy array'} is asked for"
        for case, seen in run:
            outputs = len(expected(exercise, case))
            for index in range(outputs):
                got, complaint = output_of(exercise, case, seen, index)
                if got is None:
                    return Failure(case=case.name, message=complaint)
                name = output_name(exercise, index, outputs)
                if got.dtype != np.bool_:
                    return Failure(case=case.name, message=f"{name} holds {got.dtype}, not bool")
                if not seen.kinds[index].startswith(wanted):
                    return Failure(case=case.name, message=f"{name} is a {seen.kinds[index]}; {belongs}")
        return None

    title = f"{what} boolean"
    return Property(
        name="boolean", title=title, points=points, holds=holds, requires=requires, hints=_BOOLEAN_HINTS
    )
