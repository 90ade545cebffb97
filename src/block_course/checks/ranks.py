"""The property of answers that take a batch, a sequence and a single token alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from block_course.checks.outputs import informative, on_cases, output_name, output_of, wrong_shape
from block_course.checks.wording import entry, shape, two_numbers
from block_course.exercise import Array, Case, Exercise, Failure, Observation, Property, Run
from block_course.expected import expected as right_outputs
from block_course.tolerance import case_tolerance, first_difference


def any_rank(
    points: float,
    *,
    batch: str,
    parts: Mapping[str, tuple[int, ...]],
    adjust: Callable[[Array, Array], Array] = lambda got, expected: got,
    requires: tuple[str, ...] = (),
) -> Property:
    """On a part of the batch the answer gives that part of what it gives on the whole.

    `parts` says by case which part of the case `batch` it is: `(0,)` its first sequence, `(0, 0)` the first
    token of that. `adjust` is that of `values`.
    """

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        [(whole_case, whole_seen)] = on_cases(run, [batch])
        whole, complaint = informative(exercise, whole_case, whole_seen, adjust)
        if whole is None:
            return Failure(case=batch, message=complaint)
        for case, seen in on_cases(run, parts):
            message = _part_differs(
                exercise, (whole_case, whole_seen), (case, seen), parts[case.name], adjust
            )
            if message:
                return Failure(case=case.name, message=f"{_works_on(whole_case, case)}: {message}")
        return None

    title = "takes a sequence (T, D) and a single token (D,) as well as a batch"
    return Property(
        name="ranks", title=title, points=points, holds=holds, requires=requires, hints=_RANK_HINTS
    )


_RANK_HINTS = (
    "Which lines of your function count the axes of `x` from the front, or expect three of them?",
    "The features are the last axis of `x`, whether two axes stand before it, one or none. Counted from the "
    "end it is always axis −1, and in an index `...` stands for however many axes come first.",
    "Use axis −1 in each mean, with `keepdims=True` in place of `[:, :, None]`, and neither unpack `x.shape` "
    "into three names nor loop over its axes.",
)


def _part_differs(
    exercise: Exercise,
    whole: tuple[Case, Observation],
    part: tuple[Case, Observation],
    where: tuple[int, ...],
    adjust: Callable[[Array, Array], Array],
) -> str:
    right, right_whole = (right_outputs(exercise, case) for case, _ in (part, whole))
    for index, expected in enumerate(right):
        of_whole, complaint_of_whole = output_of(exercise, *whole, index)
        got, complaint = output_of(exercise, *part, index)
        if got is None or of_whole is None:
            return complaint or complaint_of_whole
        wanted, got = adjust(of_whole, right_whole[index])[where], adjust(got, expected)
        if got.shape != wanted.shape:
            return wrong_shape(exercise, got, expected, index, len(right))
        condition = max(part[0].condition, whole[0].condition)
        coarser = min(got, of_whole, key=lambda output: output.itemsize)
        bound = 2.0 * case_tolerance(part[0], expected, condition=condition, given=coarser)
        differs = first_difference(got, wanted, bound)
        if differs is not None:
            is_now, alone = two_numbers(wanted[differs], got[differs])
            name = output_name(exercise, index, len(right))
            return f"entry {entry(differs)} of {name} was {is_now} in the batch and is {alone} here"
    return ""


def _works_on(whole: Case, part: Case) -> str:
    """Both shapes of the argument that has lost axes."""
    arrays = (
        (np.asarray(whole.arguments[name]).shape, np.asarray(part.arguments[name]).shape)
        for name in part.arguments
    )
    before, after = next((one, two) for one, two in arrays if len(one) != len(two))
    return f"it works on {shape(before)}, not on {shape(after)} (use axis −1)"
