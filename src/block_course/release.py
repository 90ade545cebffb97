"""Make exercises from solutions: answers cut out, points written in, run from top to bottom.

`solutions/NN_stem.ipynb` is the single source. Its nbgrader metadata and the whole of
`exercises/NN_stem.ipynb` are made here, with nbgrader's own steps, so that `nbgrader generate_assignment` on
the solution gives the same exercise.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from rich.console import Console

from block_course.checks import UnknownExercise, assignment
from block_course.outputs.execute import CellFailed, execute
from block_course.outputs.form import UnreadableNotebook, parse_notebook, serialize, tidy, write_atomically
from block_course.refresh import keep_agreeing
from block_course.roles import mark, roles

_PARTS = ("cell_type", "source", "metadata", "outputs", "execution_count")


class NotReleasable(ValueError):
    """A solution notebook with faults; the message names them all."""


@dataclass(frozen=True)
class Released:
    """A solution, the exercise made from it, and in words how the files differ from that."""

    contents: dict[Path, bytes]
    changes: tuple[str, ...]


def release(paths: Iterable[Path]) -> list[Released]:
    """Release solution notebooks: write the exercise, and metadata and outputs of the solution.

    All are made before the first is written, and a file whose content is the same is not touched.

    Raises NotReleasable, which names the notebook and its faults; then nothing is written.
    """
    made = [_make(path) for path in paths]
    for path, content in (item for each in made for item in each.contents.items()):
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, content)
    return made


def check_release(paths: Iterable[Path]) -> list[str]:
    """List how solutions and exercises differ from a fresh release; empty if not at all. Writes nothing."""
    paths = list(paths)
    problems = list(_orphans(paths))
    for path in paths:
        try:
            problems += _make(path).changes
        except NotReleasable as fault:
            problems.append(str(fault))
    return problems


def main(paths: list[Path], check: bool) -> int:
    """Release, or with `check` only compare, and print a line for each change; 0 if all is well."""
    status, lines = 0, []
    for path in paths:
        try:
            changes = _make(path).changes if check else release([path])[0].changes
        except NotReleasable as fault:
            status = 1
            lines.append(f"failed     {fault}")
        else:
            status = 1 if check and changes else status
            lines += [f"{'differs' if check else 'written':<9}  {change}" for change in changes]
            lines += [] if changes else [f"unchanged  {path}"]
    for orphan in _orphans(paths):
        status = 1
        lines.append(f"orphan     {orphan}")
    console = Console()
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return status


def exercise_of(solution: Path) -> Path:
    """Where the exercise made from a solution notebook lies: in `exercises/` beside `solutions/`."""
    return solution.resolve().parents[1] / "exercises" / solution.name


def _orphans(paths: Iterable[Path]) -> Iterator[str]:
    for solutions in sorted({path.resolve().parent for path in paths}):
        for exercise in sorted((solutions.parent / "exercises").glob("*.ipynb")):
            if not (solutions / exercise.name).exists():
                yield f"{exercise}: no solution has this name"


def _make(path: Path) -> Released:
    try:
        return _made(path, exercise_of(path))
    except OSError as error:
        raise NotReleasable(f"{path}: {error.strerror}") from error
    except (UnknownExercise, UnreadableNotebook, CellFailed) as error:
        raise NotReleasable(f"{path}: {error}") from error


def _made(path: Path, target: Path) -> Released:
    chosen = assignment(path.stem)
    stored = parse_notebook(path.read_bytes())
    earlier = parse_notebook(target.read_bytes()) if target.exists() else None
    solution = copy.deepcopy(stored)
    found = roles(solution, chosen)
    if found.faults:
        raise NotReleasable(f"{path}: {'; '.join(found.faults)}")
    mark(solution, chosen, found)
    exercise = _cut(solution)
    execute(solution, path.resolve().parent)
    execute(exercise, target.parent if target.parent.is_dir() else path.resolve().parent)
    for each in chosen.exercises:
        _require_marks(f"{each.id}: the solution", solution, found.checks[each.id], each.points)
        _require_marks(f"{each.id}: the untouched exercise", exercise, found.checks[each.id], 0.0)
    for made, before in ((solution, stored), (exercise, earlier)):
        keep_agreeing(made, before or made)
        tidy(made)
    return Released(
        {path: serialize(solution), target: serialize(exercise)},
        (*_differences(path, stored, solution), *_differences(target, earlier, exercise)),
    )


def _require_marks(which: str, notebook: NotebookNode, index: int, points: float) -> None:
    outputs = notebook.cells[index].outputs
    marks = [each.data.get("text/plain") for each in outputs if each.output_type == "execute_result"]
    if marks != [repr(float(points))]:
        raise CellFailed(f"{which} earns {' and '.join(map(str, marks)) or 'nothing'}, not {points:g}")


def _cut(solution: NotebookNode) -> NotebookNode:
    """The exercise, by the steps of `nbgrader generate_assignment` and with its default stub."""
    from nbgrader.preprocessors import (
        CheckCellMetadata,
        ClearOutput,
        ClearSolutions,
        ComputeChecksums,
        LockCells,
    )

    exercise = copy.deepcopy(solution)
    for step in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums, CheckCellMetadata):
        exercise, _ = step().preprocess(exercise, {})
    return exercise


def _differences(path: Path, before: NotebookNode | None, after: NotebookNode) -> Iterator[str]:
    """In words, how a stored notebook differs from the one that a release makes."""
    if before is None:
        yield f"{path}: does not exist"
        return
    if [cell.id for cell in before.cells] != [cell.id for cell in after.cells]:
        yield f"{path}: its cells are not those of the solution, in that order"
        return
    for old, new in zip(before.cells, after.cells, strict=True):
        parts = [
            part for part in ("cell_type", "source", "metadata", "outputs") if old.get(part) != new.get(part)
        ]
        if parts:
            yield f"{path}, cell {new.id}: differs in {' and '.join(parts)}{_points_differ(old, new)}"
    if before.metadata != after.metadata:
        yield f"{path}: its metadata differ"


def _points_differ(old: NotebookNode, new: NotebookNode) -> str:
    was, should_be = (cell.metadata.get("nbgrader", {}).get("points") for cell in (old, new))
    return f" (points {was} in the notebook, {should_be} in the check)" if was != should_be else ""
