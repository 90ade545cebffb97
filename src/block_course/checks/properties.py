"""What checks have in common: properties to put together, worded for the one who reads them.

Two kinds. `values` and `shapes` compare with the reference. `paired` compares two outputs of the answer
itself (the same token shifted, one token replaced), so that an answer wrong in one respect keeps the points
for what it does right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.outputs import informative, on_cases, output_of, wrong_shape
from block_course.checks.wording import entry, two_numbers
from block_course.exercise import Array, Case, Exercise, Failure, Hints, Property, Run
from block_course.expected import expected as right_outputs
from block_course.tolerance import case_tolerance, first_difference

Explain = Callable[[Case, tuple[int, ...], Array, Array], str | None]
"""From a case, the entry that differs, the output and the right one to a sentence; None: the general one."""

Expect = Callable[[Case, Case, Array, Array], Array]
"""From two cases and the answer's outputs on both to what the second output should have been."""


def values(
    name: str,
    title: str,
    points: float,
    *,
    on: Sequence[str],
    output: int = 0,
    condition: float | None = None,
    slack: float = 0.0,
    adjust: Callable[[Array, Array], Array] = lambda got, expected: got,
    explain: Explain = lambda case, index, got, expected: None,
    requires: tuple[str, ...] = (),
    hints: Hints | None = None,
) -> Property:
    """The output equals the reference on the cases named in `on`.

    `slack` widens the tolerance by that share of the largest entry, for what another property judges;
    `adjust` may mend the shape before, for the same reason. Output in float32 is judged as such on any case:
    an exercise with a float output needs `dtype_kept` or `precision_kept` beside it.
    """

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        for case, seen in on_cases(run, on):
            got, complaint = output_of(exercise, case, seen, output)
            if got is None:
                return Failure(case=case.name, message=complaint)
            right = right_outputs(exercise, case)
            expected = right[output]
            got = adjust(got, expected)
            if got.shape != expected.shape:
                message = wrong_shape(exercise, got, expected, output, len(right))
                return Failure(case=case.name, message=message)
            bound = case_tolerance(case, expected, condition=condition, given=got)
            bound += slack * float(np.max(np.abs(expected), initial=0.0))
            failure = _difference(case, got, expected, bound, explain)
            if failure is not None:
                return failure
        return None

    return Property(name=name, title=title, points=points, holds=holds, requires=requires, hints=hints)


def paired(
    name: str,
    title: str,
    points: float,
    *,
    pairs: Sequence[tuple[str, str]],
    alive: tuple[str, str],
    expect: Expect,
    explain: Explain = lambda case, index, got, expected: None,
    requires: tuple[str, ...] = (),
    hints: Hints | None = None,
) -> Property:
    """The answer's output on the second case of each pair follows from its output on the first.

    `alive` names two cases with different inputs of one shape: an answer that gives the same on both looks at
    nothing, and fails. So does output that is not finite, or the same number everywhere.
    """

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        outputs: dict[str, tuple[Case, Array]] = {}
        for case, seen in on_cases(run, dict.fromkeys((*alive, *(each for pair in pairs for each in pair)))):
            got, complaint = informative(exercise, case, seen)
            if got is None:
                return Failure(case=case.name, message=complaint)
            outputs[case.name] = case, got
        if np.array_equal(outputs[alive[0]][1], outputs[alive[1]][1]):
            return Failure(case=alive[1], message="your output stays the same when the input changes")
        failures = (_follows(exercise, outputs[one], outputs[two], expect, explain) for one, two in pairs)
        return next((failure for failure in failures if failure is not None), None)

    return Property(name=name, title=title, points=points, holds=holds, requires=requires, hints=hints)


def _follows(
    exercise: Exercise,
    first: tuple[Case, Array],
    second: tuple[Case, Array],
    expect: Expect,
    explain: Explain,
) -> Failure | None:
    expected = expect(first[0], second[0], first[1], second[1])
    right = right_outputs(exercise, second[0])[0]
    condition = max(first[0].condition, second[0].condition)
    coarser = min(first[1], second[1], key=lambda output: output.itemsize)
    bound = 2.0 * case_tolerance(second[0], right, condition=condition, given=coarser)
    return _difference(second[0], second[1], expected, bound, explain)


def shapes(
    name: str,
    title: str,
    points: float,
    *,
    on: Sequence[str],
    requires: tuple[str, ...],
    hints: Hints | None = None,
) -> Property:
    """Every output has the shape of the reference's."""

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        for case, seen in on_cases(run, on):
            right = right_outputs(exercise, case)
            for index, expected in enumerate(right):
                got, complaint = output_of(exercise, case, seen, index)
                if got is None:
                    return Failure(case=case.name, message=complaint)
                if got.shape != expected.shape:
                    message = wrong_shape(exercise, got, expected, index, len(right))
                    return Failure(case=case.name, message=message)
        return None

    return Property(name=name, title=title, points=points, holds=holds, requires=requires, hints=hints)


def _difference(case: Case, got: Array, expected: Array, bound: float, explain: Explain) -> Failure | None:
    index = first_difference(got, expected, bound)
    if index is None:
        return None
    is_now, should_be = two_numbers(got[index], expected[index])
    general = f"entry {entry(index)} is {is_now} and should be {should_be}{_in_float32(got, expected)}"
    return Failure(case=case.name, message=explain(case, index, got, expected) or general)


def _in_float32(got: Array, expected: Array) -> str:
    """What to add where a float64 result is right to the digits that float32 has."""
    if got.dtype != np.float64 or got.shape != expected.shape:
        return ""
    rounding = float(np.finfo(np.float32).eps) * float(np.max(np.abs(expected), initial=0.0))
    is_close = bool(np.all(np.abs(got - expected) <= 2.0 * rounding))
    return ", to more than the seven digits of float32: is a step computed in that?" if is_close else ""
