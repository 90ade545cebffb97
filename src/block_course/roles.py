"""What each cell of a solution notebook is for, read from its source, and what is wrong with the notebook.

An author writes no metadata. The cell that imports `check` is the setup. A cell with BEGIN SOLUTION is an
answer. A cell that calls `check("layer_norm.forward", layer_norm)` is the check of the answers since the last
one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from block_course.exercise import Assignment, Exercise

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
_SETUP = re.compile(r"^from block_course\.check import .*\bcheck\b", re.MULTILINE)


@dataclass(frozen=True)
class Roles:
    """The setup's index, and by exercise the indices of its answers and of its check; the faults in words."""

    setup: int | None
    answers: dict[str, list[int]]
    checks: dict[str, int]
    faults: tuple[str, ...]


def roles(notebook: NotebookNode, assignment: Assignment) -> Roles:
    """Read the roles of a solution notebook's cells, and list what keeps it from being released."""
    exercises = {each.id: each for each in assignment.exercises}
    setup: int | None = None
    answers: dict[str, list[int]] = {}
    checks: dict[str, int] = {}
    faults: list[str] = []
    waiting: list[int] = []
    for index, cell in enumerate(notebook.cells):
        where = f"cell {index + 1}"
        faults += [f"{where}: {fault}" for fault in _region_faults(cell)]
        if cell.cell_type != "code":
            continue
        called = _check_call(cell.source)
        if BEGIN in cell.source:
            waiting.append(index)
        elif called is not None:
            id, name = called
            faults += [f"{where}: {fault}" for fault in _check_faults(id, name, exercises, checks, waiting)]
            checks[id], answers[id] = index, waiting
            waiting = []
        elif _SETUP.search(cell.source):
            setup = index if setup is None else setup
    faults += [f"cell {index + 1}: no check follows this answer" for index in waiting]
    faults += [f"no cell checks {id}" for id in exercises if id not in checks]
    faults += _unsaid(notebook, assignment)
    faults += _setup_faults(setup, [*checks.values(), *(each for some in answers.values() for each in some)])
    return Roles(setup, answers, checks, tuple(faults))


def mark(notebook: NotebookNode, assignment: Assignment, found: Roles) -> None:
    """Write nbgrader's metadata (schema 3) into the cells that have a role: ids, flags, points."""
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)
    if found.setup is not None:
        stem = assignment.stem.partition("_")[2]
        _write(notebook.cells[found.setup], f"{stem}-setup", locked=True)
    for exercise in assignment.exercises:
        name = grade_id(exercise)
        for number, index in enumerate(found.answers[exercise.id], start=1):
            _write(notebook.cells[index], name if number == 1 else f"{name}-{number}", solution=True)
        _write(
            notebook.cells[found.checks[exercise.id]],
            f"{name}-check",
            grade=True,
            locked=True,
            points=float(exercise.points),
        )


def grade_id(exercise: Exercise) -> str:
    """The id of an exercise's answer cell: nbgrader takes no dots."""
    return exercise.id.replace(".", "-")


def _write(cell: NotebookNode, name: str, **role: bool | float) -> None:
    flags = {"grade": False, "solution": False, "locked": False, "task": False}
    cell.id = name
    cell.metadata["nbgrader"] = {"schema_version": 3, "grade_id": name} | flags | role


def _check_call(source: str) -> tuple[str, str] | None:
    """The id and the answer's name if a cell is one call of `check`."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return None
    match body:
        case [
            ast.Expr(
                value=ast.Call(
                    func=ast.Name(id="check"),
                    args=[ast.Constant(value=str(id)), ast.Name(id=name)],
                    keywords=[],
                )
            )
        ]:
            return id, name
    return None


def _check_faults(
    id: str, name: str, exercises: dict[str, Exercise], checks: dict[str, int], waiting: list[int]
) -> Iterator[str]:
    if id not in exercises:
        yield f"unknown exercise {id!r}; this notebook has {', '.join(exercises)}"
    elif name != exercises[id].answer:
        yield f"{id} judges {exercises[id].answer!r}; the cell passes {name!r}"
    if id in checks:
        yield f"{id} is checked twice, which would give two cells one grade_id"
    if not waiting:
        yield f"no answer cell with {BEGIN} stands before the check of {id}"


def _region_faults(cell: NotebookNode) -> Iterator[str]:
    inside = False
    for line in cell.source.splitlines():
        if BEGIN in line:
            if inside:
                yield f"{BEGIN} inside a solution"
            if cell.cell_type != "code":
                yield f"{BEGIN} in a cell that is not code"
            inside = True
        elif END in line:
            if not inside:
                yield f"{END} without {BEGIN}"
            inside = False
    if inside:
        yield f"{BEGIN} without {END}"


def _unsaid(notebook: NotebookNode, assignment: Assignment) -> Iterator[str]:
    """What a statement promises, level, minutes and points, is what its check says."""
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    promised = [
        f"{each.level.capitalize()}, {each.minutes} minutes, {each.points:g} points"
        for each in assignment.exercises
    ]
    promised.append(
        f"{sum(each.minutes for each in assignment.exercises)} minutes, {assignment.points:g} points"
    )
    yield from (f"no text says “{promise}”" for promise in promised if promise not in text)


def _setup_faults(setup: int | None, others: list[int]) -> Iterator[str]:
    if setup is None:
        yield "no cell imports check from block_course.check"
    elif others and setup > min(others):
        yield f"cell {setup + 1}: the setup stands after an answer or a check"
