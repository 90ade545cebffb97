"""Run notebooks again and keep each stored output that still agrees, so that a diff holds real changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from rich.console import Console

from block_course.outputs.compare import Tolerance, compare, incomparable, never_run
from block_course.outputs.execute import CellFailed, cell_name, execute
from block_course.outputs.form import UnreadableNotebook, parse_notebook, serialize, tidy, write_atomically

_FORM = "its form is not the stored one (ids, metadata or layout)"


@dataclass(frozen=True)
class Refreshed:
    """What a rerun of one notebook found.

    `changes`: how it differs from what was stored, in words. `failure`: why it has no new outputs; then
    nothing was written. `kept`: how many cells with outputs still agreed.
    """

    path: Path
    kept: int = 0
    changes: tuple[str, ...] = ()
    failure: str = ""


def refresh(paths: Iterable[Path], *, timeout: int = 600) -> list[Refreshed]:
    """Run each notebook in its own folder and write it if an output, an id or its metadata really changed.

    A notebook that fails is left as it is, byte for byte; `timeout` is in seconds for each cell.
    """
    return [_rerun(path, timeout, write=True) for path in paths]


def verify(path: Path, *, timeout: int = 600) -> list[str]:
    """List what `refresh` would change, or why it would fail, and write nothing; empty if all agrees."""
    found = _rerun(path, timeout, write=False)
    return [found.failure] if found.failure else list(found.changes)


def keep_agreeing(notebook: NotebookNode, stored: NotebookNode) -> tuple[int, list[str]]:
    """Put the stored outputs and counts back into a notebook just run, wherever they still agree.

    Cells are matched by id. Returns how many cells with outputs were kept, and in words what is different.
    Raises CellFailed for a cell whose metadata asks for an impossible tolerance.
    """
    earlier = {cell.id: cell for cell in stored.cells if cell.cell_type == "code"}
    kept, changes = 0, []
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        try:
            problems = _changes(cell, earlier.get(cell.id))
        except ValueError as error:
            raise CellFailed(f"{cell_name(notebook, index)}: {error}") from None
        changes += [f"{cell_name(notebook, index)}: {problem}" for problem in problems]
        if not problems:
            kept += bool(cell.outputs)
            cell.outputs = earlier[cell.id].outputs
            cell.execution_count = earlier[cell.id].execution_count
    return kept, changes


def main(paths: list[Path], check: bool) -> int:
    """Refresh notebooks, or with `check` only verify them, and print one line for each; 0 if all is well."""
    console, status = Console(), 0
    for path in paths:
        found = _rerun(path, 600, write=not check)
        if found.failure or (check and found.changes):
            status = 1
        console.print(_line(found, check), markup=False, highlight=False, soft_wrap=True)
    return status


def _rerun(path: Path, timeout: int, *, write: bool) -> Refreshed:
    try:
        before = path.read_bytes()
        notebook, stored = parse_notebook(before), parse_notebook(before)
        execute(notebook, path.resolve().parent, timeout=timeout)
        _refuse_incomparable(notebook)
        kept, changes = keep_agreeing(notebook, stored)
        tidy(notebook)
        after = serialize(notebook)
        if after != before:
            changes = changes or [_FORM]
            if write:
                _replace(path, before, after)
    except OSError as error:
        return Refreshed(path, failure=error.strerror or str(error))
    except (UnreadableNotebook, CellFailed) as error:
        return Refreshed(path, failure=str(error))
    except RecursionError:
        return Refreshed(path, failure="its JSON is nested too deeply")
    return Refreshed(path, kept, tuple(changes))


def _replace(path: Path, before: bytes, after: bytes) -> None:
    if path.read_bytes() != before:  # a run takes minutes, in which an author may have saved
        raise OSError("was changed while it ran; run it again")
    write_atomically(path, after)


def _changes(cell: NotebookNode, earlier: NotebookNode | None) -> list[str]:
    if earlier is None:
        return ["is new"]
    if never_run(earlier):
        return ["was never run"]
    return compare(earlier.outputs, cell.outputs, Tolerance.of_cell(cell))


def _refuse_incomparable(notebook: NotebookNode) -> None:
    for index, cell in enumerate(notebook.cells):
        for problem in incomparable(cell.get("outputs", [])):
            raise CellFailed(f"{cell_name(notebook, index)}: {problem}")


def _line(found: Refreshed, check: bool) -> str:
    if found.failure:
        word, detail = "failed", found.failure
    elif found.changes:
        more = f" (and {len(found.changes) - 1} more)" if len(found.changes) > 1 else ""
        word, detail = "differs" if check else "updated", found.changes[0] + more
    else:
        word, detail = "unchanged", f"{found.kept} cells with outputs agree"
    # a learner's message stays on its line and sends no control codes to the terminal
    return "".join(c if c.isprintable() else " " for c in f"{word:<9}  {found.path}  {detail}")
