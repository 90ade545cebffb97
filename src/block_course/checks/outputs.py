"""The outputs of a run, or the sentence that says why there is none to judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from block_course.calling import NOT_A_FUNCTION
from block_course.checks.wording import number, shape
from block_course.exercise import Array, Case, Exercise, Observation, Outputs, Run
from block_course.expected import expected, is_table
from block_course.plain import refusal

_COUNTS = ("no", "one", "two", "three", "four")
_SCALARS_OF_A_LIST = ("float", "int", "bool")


def on_cases(run: Run, names: Iterable[str]) -> Iterator[tuple[Case, Observation]]:
    """The named cases in the order of `names`. Raises KeyError for one that the run does not have."""
    by_name = {case.name: (case, seen) for case, seen in run}
    return (by_name[name] for name in names)


def output_of(exercise: Exercise, case: Case, seen: Observation, index: int) -> tuple[Array | None, str]:
    """One output, or None and what to say instead."""
    if seen.status != "returned":
        return None, _ended(exercise, seen)
    wanted = len(expected(exercise, case))
    if len(seen.outputs) != wanted:
        return None, _miscounted(exercise, case, seen, wanted)
    refused = refusal(seen.kinds[index])
    if refused == "None" and wanted == 1:
        return None, "your function returned None"
    if refused == "missing" and index < len(exercise.returns):
        return None, f"your dict has no entry {exercise.returns[index]!r}"
    if refused is not None:
        if is_table(exercise, case):
            return None, _refused_entry(exercise, case, index, refused)
        belongs = "a real array" if "complex" in refused else "an array"
        return None, f"{output_name(exercise, index, wanted)} is {refused} where {belongs} belongs"
    return seen.outputs[index], ""


def output_name(exercise: Exercise, index: int, outputs: int) -> str:
    """What a message calls an output: your mean, your output, your output 2."""
    if len(exercise.returns) == outputs:
        return f"your {exercise.returns[index]}"
    return "your output" if outputs == 1 else f"your output {index + 1}"


def wrong_shape(exercise: Exercise, got: Array, wanted: Array, index: int = 0, outputs: int = 1) -> str:
    """What to say of an output whose shape is not that of the reference's."""
    name = output_name(exercise, index, outputs)
    return f"{name} has shape {shape(got.shape)} and should have {shape(wanted.shape)}"


def informative(
    exercise: Exercise,
    case: Case,
    seen: Observation,
    adjust: Callable[[Array, Array], Array] = lambda got, expected: got,
) -> tuple[Array | None, str]:
    """The first output, if it can show a property; else None and the sentence that says why not."""
    got, complaint = output_of(exercise, case, seen, 0)
    if got is None:
        return None, complaint
    right = expected(exercise, case)
    got = adjust(got, right[0])
    if got.shape != right[0].shape:
        return None, wrong_shape(exercise, got, right[0], 0, len(right))
    complaint = _uninformative(exercise, right, got)
    return (None, complaint) if complaint else (got, "")


def _ended(exercise: Exercise, seen: Observation) -> str:
    if seen.message.startswith(f"TypeError: {NOT_A_FUNCTION}"):
        return f"`{exercise.answer}` is no function"
    said = {"raised": "your function raised", "not attempted": "your function does nothing yet"}
    return f"{said.get(seen.status, seen.status)} {seen.message}".strip()


def _refused_entry(exercise: Exercise, case: Case, index: int, refused: str) -> str:
    if refused == "a str":  # in a dict a word is an entry: this was a tuple or a list
        return _no_dict(exercise)
    right = expected(exercise, case)[index]
    belongs = "a word" if right.dtype == np.uint8 else "an array" if right.ndim else "a number"
    return f"your `{exercise.returns[index]}` is {refused} where {belongs} belongs"


def _no_dict(exercise: Exercise) -> str:
    return f"your function returned no dict; return one with the keys {', '.join(exercise.returns)}"


def _miscounted(exercise: Exercise, case: Case, seen: Observation, wanted: int) -> str:
    refused = [refusal(kind) for kind in seen.kinds]
    if refused == ["None"]:
        return "your function returned None"
    if is_table(exercise, case):
        return _no_dict(exercise)
    if wanted == 1 and seen.kinds and all(_of_a_list(kind) for kind in seen.kinds):
        return "your function returned a list where an array belongs"
    what = f"your function returned {refused[0]}" if len(refused) == 1 and refused[0] else ""
    count = len(seen.outputs)
    given = what or f"your function returned {_count(count)} array{'' if count == 1 else 's'}"
    names = f": `return {', '.join(exercise.returns)}`" if len(exercise.returns) == wanted > 1 else ""
    return f"{given}; return {_count(wanted)}{names}"


def _of_a_list(kind: str) -> bool:
    return kind in _SCALARS_OF_A_LIST or refusal(kind) == "a list"


def _count(outputs: int) -> str:
    return _COUNTS[outputs] if outputs < len(_COUNTS) else str(outputs)


def _uninformative(exercise: Exercise, right: Outputs, got: Array) -> str:
    name = output_name(exercise, 0, len(right))
    if not np.all(np.isfinite(got)):
        return f"{name} is not finite"
    if got.size and np.ptp(got.astype(float)) == 0.0:
        return f"every entry of {name} is {number(got.flat[0])}"
    return ""
