"""Every exercise of the course, by id. A folder here is an assignment, a file in it an exercise."""

from __future__ import annotations

import difflib
import importlib
import pkgutil

from block_course.exercise import Assignment, Exercise


class UnknownExercise(ValueError):
    """No exercise or assignment goes by this name; the message names those that do."""


def assignments() -> tuple[Assignment, ...]:
    """All assignments in the order of their notebooks."""
    folders = sorted(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)
    loaded = [importlib.import_module(f"{__name__}.{folder}").ASSIGNMENT for folder in folders]
    return tuple(sorted(loaded, key=lambda assignment: str(assignment.stem)))


def assignment(stem: str) -> Assignment:
    """The assignment of a notebook, by `03_layer_norm` or `layer_norm`.

    Raises UnknownExercise, which names what there is.
    """
    found = {each.stem: each for each in assignments()}
    found |= {stem_of.partition("_")[2]: each for stem_of, each in found.items()}
    if stem not in found:
        raise UnknownExercise(_unknown("assignment", stem, [each.stem for each in assignments()]))
    return found[stem]


def exercise(id: str) -> Exercise:
    """An exercise by its id, `layer_norm.forward`.

    Raises UnknownExercise, which names what there is.
    """
    found = {each.id: each for assignment in assignments() for each in assignment.exercises}
    if id not in found:
        raise UnknownExercise(_unknown("exercise", id, list(found)))
    return found[id]


def _unknown(what: str, given: object, names: list[str]) -> str:
    near = difflib.get_close_matches(str(given), names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
    return f"no {what} {given!r}; {hint}"
