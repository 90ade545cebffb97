"""Properties of what an answer leaves as it was: the dtype or precision of its input, and the input."""

from __future__ import annotations

import numpy as np

from block_course.exercise import Array, Exercise, Failure, Hints, Property, Run
from block_course.plain import refusal


def dtype_kept(points: float, *, of: str, requires: tuple[str, ...]) -> Property:
    """Each output has the dtype of the argument `of`, and is an array of the exercise's framework."""
    return Property(
        name="dtype",
        title="keeps the dtype",
        points=points,
        holds=lambda exercise, run: _precision_lost(exercise, run, of, wider=False),
        requires=requires,
        hints=_DTYPE_HINTS,
    )


def precision_kept(points: float, *, of: str, requires: tuple[str, ...]) -> Property:
    """Each output is as precise as the argument `of` or more, and an array of the exercise's framework."""
    return Property(
        name="dtype",
        title="keeps the precision of its input",
        points=points,
        holds=lambda exercise, run: _precision_lost(exercise, run, of, wider=True),
        requires=requires,
        hints=_DTYPE_HINTS,
    )


_DTYPE_HINTS: Hints = (
    "Where does your function name a dtype, make a new array, or hand numbers over to plain Python?",
    "NumPy keeps float32 as float32 and float64 as float64 while an operation meets that dtype and Python "
    "numbers alone. `np.zeros(...)` and `np.array([...])` are float64 unless told otherwise, and so is "
    "`np.sqrt(4)`, a NumPy number made from a Python one: `4**0.5` is a Python number. In PyTorch `float()` "
    "and `double()` choose a dtype whatever the tensor had.",
    "Make new arrays like the one given, with its dtype, or bring the result back to the dtype of the input "
    "with `astype`, in PyTorch with `to(x.dtype)`, in the last line.",
)
_INPUT_HINTS: Hints = (
    "Which line of your function writes into an array that it was given?",
    "`x -= mean`, `x[...] = ...` and `out=x` write into the caller's array; `x - mean` makes a new one.",
    "Give each step a name of its own, and put the operation with `=` in place of each `-=`, `/=` or `+=`.",
)


def inputs_unchanged(points: float, *, requires: tuple[str, ...]) -> Property:
    """The array arguments are, bit for bit, what they were before the call."""

    def holds(exercise: Exercise, run: Run) -> Failure | None:
        for case, seen in run:
            for name, before in case.arguments.items():
                if isinstance(before, np.ndarray) and not _identical(before, seen.arguments_after.get(name)):
                    return Failure(case=case.name, message=f"the call changed {name}; work on a new array")
        return None

    title = "leaves its inputs unchanged"
    return Property(
        name="inputs", title=title, points=points, holds=holds, requires=requires, hints=_INPUT_HINTS
    )


def _precision_lost(exercise: Exercise, run: Run, of: str, *, wider: bool) -> Failure | None:
    wanted = {"numpy": "a NumPy array", "torch": "a torch tensor"}[exercise.framework]
    for case, seen in run:
        given = np.asarray(case.arguments[of]).dtype
        for got, kind in zip(seen.outputs, seen.kinds, strict=True):
            if not _belongs(kind, exercise.framework):
                return Failure(case=case.name, message=f"you return {_named(kind)}, not {wanted}")
            if got.dtype != given and not (wider and np.can_cast(given, got.dtype)):
                return Failure(case=case.name, message=f"{of} is {given}; you return {got.dtype}")
    return None


def _belongs(kind: str, framework: str) -> bool:
    # a NumPy number has a dtype like an array; that it has no axes is a matter of shape
    return kind == "torch.Tensor" if framework == "torch" else kind.startswith("numpy.")


def _named(kind: str) -> str:
    known = {"numpy.ndarray": "a NumPy array", "torch.Tensor": "a torch tensor"}
    return refusal(kind) or known.get(kind, f"a {kind}")


def _identical(before: Array, after: Array | None) -> bool:
    return (
        after is not None
        and after.dtype == before.dtype
        and after.shape == before.shape
        and after.tobytes() == before.tobytes()
    )
