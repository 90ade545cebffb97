"""What checks have in common: properties to put together, worded for the one who reads them.

Two kinds. `values` and `shapes` compare with the reference. `paired` compares two outputs of the answer
itself (the same token shifted, one token replaced), so that an answer wrong in one respect keeps the points
for what it does right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from block_course.calling import refusal
from block_course.checks.wording import entry, number, shape, two_numbers
from block_course.exercise import Array, Case, Exercise, Failure, Observation, Property, Run, as_outputs
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
) -> Property:
    """The output equals the reference on the cases named in `on`.

    `slack` widens the tolerance by that share of the largest entry, for what another property judges;
    `adjust` may mend the shape before, for the same reason.
    """

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        for case, seen in _on(run, on):
            got, complaint = _output(exercise, case, seen, output)
            if got is None:
                return Failure(case=case.name, message=complaint)
            expected = as_outputs(exercise.reference(**case.arguments))[output]
            got = adjust(got, expected)
            bound = case_tolerance(case, expected, condition=condition)
            bound += slack * float(np.max(np.abs(expected), initial=0.0))
            failure = _difference(case, got, expected, bound, explain)
            if failure is not None:
                return failure
        return None

    return Property(name=name, title=title, points=points, holds=holds, requires=requires)


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
) -> Property:
    """The answer's output on the second case of each pair follows from its output on the first.

    `alive` names two cases with different inputs of one shape: an answer that gives the same on both looks at
    nothing, and fails. So does output that is not finite, or the same number everywhere.
    """

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        outputs: dict[str, tuple[Case, Array]] = {}
        for case, seen in _on(run, dict.fromkeys((*alive, *(each for pair in pairs for each in pair)))):
            got, complaint = _output(exercise, case, seen, 0)
            complaint = complaint or _uninformative(exercise, case, got)
            if got is None or complaint:
                return Failure(case=case.name, message=complaint)
            outputs[case.name] = case, got
        if np.array_equal(outputs[alive[0]][1], outputs[alive[1]][1]):
            return Failure(case=alive[1], message="the output is the same for any x")
        failures = (_follows(exercise, outputs[one], outputs[two], expect, explain) for one, two in pairs)
        return next((failure for failure in failures if failure is not None), None)

    return Property(name=name, title=title, points=points, holds=holds, requires=requires)


def _follows(
    exercise: Exercise,
    first: tuple[Case, Array],
    second: tuple[Case, Array],
    expect: Expect,
    explain: Explain,
) -> Failure | None:
    expected = expect(first[0], second[0], first[1], second[1])
    right = as_outputs(exercise.reference(**second[0].arguments))[0]
    condition = max(first[0].condition, second[0].condition)
    bound = 2.0 * case_tolerance(second[0], right, condition=condition)
    return _difference(second[0], second[1], expected, bound, explain)


def shapes(name: str, title: str, points: float, *, on: Sequence[str], requires: tuple[str, ...]) -> Property:
    """Every output has the shape of the reference's."""

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        for case, seen in _on(run, on):
            for index, expected in enumerate(as_outputs(exercise.reference(**case.arguments))):
                got, complaint = _output(exercise, case, seen, index)
                if got is None:
                    return Failure(case=case.name, message=complaint)
                if got.shape != expected.shape:
                    return Failure(
                        case=case.name, message=_wrong_shape(got, expected, index, len(seen.outputs))
                    )
        return None

    return Property(name=name, title=title, points=points, holds=holds, requires=requires)


def dtype_kept(points: float, *, of: str, requires: tuple[str, ...]) -> Property:
    """Each output has the dtype of the argument `of`, and is an array of the exercise's framework."""

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        wanted = {"numpy": "numpy.ndarray", "torch": "torch.Tensor"}[exercise.framework]
        for case, seen in run:
            given = np.asarray(case.arguments[of]).dtype
            for got, kind in zip(seen.outputs, seen.kinds, strict=True):
                if kind != wanted:
                    return Failure(case=case.name, message=f"the output is a {kind}, not a {wanted}")
                if got.dtype != given:
                    return Failure(case=case.name, message=f"{of} is {given}, the output is {got.dtype}")
        return None

    return Property(name="dtype", title="keeps the dtype", points=points, holds=holds, requires=requires)


def inputs_unchanged(points: float, *, requires: tuple[str, ...]) -> Property:
    """The array arguments are, bit for bit, what they were before the call."""

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        for case, seen in run:
            for name, before in case.arguments.items():
                if isinstance(before, np.ndarray) and not _identical(before, seen.arguments_after.get(name)):
                    return Failure(case=case.name, message=f"the call changed {name}; work on a new array")
        return None

    title = "leaves its inputs unchanged"
    return Property(name="inputs", title=title, points=points, holds=holds, requires=requires)


def _on(run: Run, names: Iterable[str]) -> Iterator[tuple[Case, Observation]]:
    """The named cases in the order of `names`. Raises KeyError for one that the run does not have."""
    by_name = {case.name: (case, seen) for case, seen in run}
    return (by_name[name] for name in names)


def _output(exercise: Exercise, case: Case, seen: Observation, index: int) -> tuple[Array | None, str]:
    """One output, or None and the sentence that says why there is none."""
    if seen.status != "returned":
        said = {"raised": "it raised", "not attempted": "it returned nothing"}.get(seen.status, seen.status)
        return None, f"{said} {seen.message}".strip()
    wanted = len(as_outputs(exercise.reference(**case.arguments)))
    if len(seen.outputs) != wanted:
        return None, f"it returned {len(seen.outputs)} outputs and should return {wanted}"
    refused = refusal(seen.kinds[index])
    if refused is not None:
        return None, f"it returned {refused}; an array belongs here"
    return seen.outputs[index], ""


def _uninformative(exercise: Exercise, case: Case, got: Array | None) -> str:
    expected = as_outputs(exercise.reference(**case.arguments))[0]
    if got is None or got.shape != expected.shape:
        return "" if got is None else _wrong_shape(got, expected, 0, 1)
    if not np.all(np.isfinite(got)):
        return "the output is not finite"
    return f"every entry of the output is {number(got.flat[0])}" if np.ptp(got.astype(float)) == 0.0 else ""


def _difference(case: Case, got: Array, expected: Array, bound: float, explain: Explain) -> Failure | None:
    if got.shape != expected.shape:
        return Failure(case=case.name, message=_wrong_shape(got, expected, 0, 1))
    index = first_difference(got, expected, bound)
    if index is None:
        return None
    is_now, should_be = two_numbers(got[index], expected[index])
    general = f"entry {entry(index)} is {is_now} and should be {should_be}"
    return Failure(case=case.name, message=explain(case, index, got, expected) or general)


def _wrong_shape(got: Array, expected: Array, index: int, outputs: int) -> str:
    which = "the output" if outputs == 1 else f"output {index + 1}"
    return f"{which} has shape {shape(got.shape)} and should have {shape(expected.shape)}"


def _identical(before: Array, after: Array | None) -> bool:
    return (
        after is not None
        and after.dtype == before.dtype
        and after.shape == before.shape
        and after.tobytes() == before.tobytes()
    )
