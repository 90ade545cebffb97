"""The form in which a notebook is stored: read with care, tidied, written in one step.

A stored notebook says nothing about when, where and by which patch release of Python it was run, so that a
diff holds what an author changed and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from itertools import chain, count
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

_KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
_LANGUAGE_INFO = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
}
_TIMES = ("execution", "ExecuteTime")
_SHOWN = 200


class UnreadableNotebook(ValueError):
    """A file that is not a valid notebook of format 4."""


def parse_notebook(content: bytes) -> NotebookNode:
    """Read a notebook of format 4; a cell without an id, or with a twin's, is given one made from its source.

    Raises UnreadableNotebook if the bytes aren't JSON, or aren't valid by nbformat's schema.
    """
    try:
        raw = json.loads(content)
    except ValueError as error:
        raise UnreadableNotebook(f"not JSON: {error}") from None
    if not isinstance(raw, dict) or raw.get("nbformat") != 4:
        raise UnreadableNotebook("not a notebook of format 4")
    cells = raw.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise UnreadableNotebook("its cells are not a list of cells")
    _give_ids(cells)
    raw["nbformat_minor"] = 5
    try:
        nbformat.validate(raw)
    except nbformat.ValidationError as error:
        raise UnreadableNotebook(f"not valid: {error.message[:_SHOWN]}") from None
    notebook: NotebookNode = nbformat.v4.reads(json.dumps(raw))  # type: ignore[no-untyped-call]
    return notebook


def tidy(notebook: NotebookNode) -> None:
    """Name the kernel without a version, and drop the times at which cells ran."""
    notebook.metadata.kernelspec = dict(_KERNELSPEC)
    notebook.metadata.language_info = dict(_LANGUAGE_INFO)
    for cell in notebook.cells:
        for key in _TIMES:
            cell.metadata.pop(key, None)


def serialize(notebook: NotebookNode) -> bytes:
    """The bytes of a notebook as Jupyter would lay them out: sorted keys, one space, a newline at the end."""
    text: str = nbformat.v4.writes(notebook)  # type: ignore[no-untyped-call]
    return (text + "\n").encode()


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file's content in one step: whatever interrupts, the old or the new is there, whole."""
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _give_ids(cells: list[dict[str, Any]]) -> None:
    taken: set[str] = set()
    for cell in cells:
        name = cell.get("id", "")
        if not isinstance(name, str):  # nbformat's validation would crash on it
            raise UnreadableNotebook(f"a cell's id is not text: {name!r}")
        if not name or name in taken:
            name = _fresh_id(cell, taken)
        cell["id"] = name
        taken.add(name)


def _fresh_id(cell: dict[str, Any], taken: set[str]) -> str:
    stem = hashlib.sha256(json.dumps(cell.get("source")).encode()).hexdigest()[:8]
    return next(name for name in chain([stem], (f"{stem}-{n}" for n in count(1))) if name not in taken)
