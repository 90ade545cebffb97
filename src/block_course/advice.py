"""What to say to an exception beside its own words: what the check did, and the line to mend."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

import numpy as np

from block_course.calling import NOT_A_FUNCTION
from block_course.exercise import Case, Exercise, Observation
from block_course.faults import LEFT_OVER

_MISSING = re.compile(r"TypeError: .*missing (\d+) required positional arguments?: (.+)")
_TOO_MANY = re.compile(r"TypeError: .*takes .* positional arguments? but \d+ (was|were) given")


@dataclass(frozen=True, kw_only=True)
class Ending:
    """Of the first call that did not return: where it was raised, with what it was called, and what to do.

    `instead` says that the advice stands in for the exception, whose words would not help.
    """

    place: str = ""
    called_with: str = ""
    advice: str = ""
    instead: bool = False


def ending(exercise: Exercise, case: Case, seen: Observation) -> Ending:
    """What to say of a call that ended early."""
    named = re.match(rf"TypeError: {NOT_A_FUNCTION} (\S+)", seen.message)
    if named:
        advice = (
            f"`{exercise.answer}` now names an object of type {named[1]}, not a function; run its cell again."
        )
        return Ending(advice=advice, instead=True)
    return Ending(
        place=seen.place, called_with=_called_with(case), advice=_advice(exercise, case, seen.message)
    )


def _called_with(case: Case) -> str:
    """Shapes of arrays and values of the rest: x of shape (3, 8), eps 0.3."""
    return ", ".join(
        f"{name} of shape {value.shape}" if isinstance(value, np.ndarray) else f"{name} {_plain(value)}"
        for name, value in case.arguments.items()
    )


def _advice(exercise: Exercise, case: Case, message: str) -> str:
    missing = _MISSING.match(message)
    left_out = _defaults_left_out(exercise, case)
    if missing and int(missing[1]) <= len(left_out):
        names = " and ".join(f"`{name}`" for name in left_out)
        defaults = ", ".join(f"`{name}={_plain(value)}`" for name, value in left_out.items())
        them = "it its default" if len(left_out) == 1 else "them their defaults"
        return f"This call leaves out {names}: give {them}, {defaults}, where you define `{exercise.answer}`."
    if missing or _TOO_MANY.match(message):
        return f"This call is `{exercise.answer}({', '.join(case.arguments)})`."
    if message.endswith(LEFT_OVER):
        return "Delete the line `raise NotImplementedError()`."
    if "NoneType" in message:
        return "Something in this line is None: does each function that it calls have its `return`?"
    return ""


def _defaults_left_out(exercise: Exercise, case: Case) -> dict[str, object]:
    parameters = inspect.signature(exercise.reference).parameters.values()
    return {
        each.name: each.default
        for each in parameters
        if each.default is not inspect.Parameter.empty and each.name not in case.arguments
    }


def _plain(value: object) -> str:
    """A value as it is typed: 1e-5, not 1e-05; a drawn number is cut short."""
    text = f"{value:.3g}" if isinstance(value, float) else repr(value)
    return re.sub(r"e([+-])0(\d)", r"e\1\2", text)
