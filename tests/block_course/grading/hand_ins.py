"""What learners hand in for 03_layer_norm: the real notebooks, and the edits that they go through."""

import copy
import json
from collections.abc import Callable
from typing import Any

from block_course.grading.grade import EXERCISES
from tests.block_course.grading.notebooks import Content, as_bytes, code

STEM = "03_layer_norm"
SOLUTION: Content = json.loads((EXERCISES.parent / "solutions" / f"{STEM}.ipynb").read_bytes())
UNTOUCHED: Content = json.loads((EXERCISES / f"{STEM}.ipynb").read_bytes())
STATISTICS, FORWARD = "layer_norm-statistics", "layer_norm-forward"
CHECKS = (f"{STATISTICS}-check", f"{FORWARD}-check")

Edit = Callable[[Content], object]

DDOF_1 = """
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    return (gamma * (x - mean) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps) + beta).astype(x.dtype)
"""


def edited(*edits: Edit, of: Content = SOLUTION) -> bytes:
    """The bytes of a notebook after some edits."""
    notebook = copy.deepcopy(of)
    for edit in edits:
        edit(notebook)
    return as_bytes(notebook)


def grade_id(cell: Content) -> str | None:
    found: str | None = cell["metadata"].get("nbgrader", {}).get("grade_id")
    return found


def cell_of(notebook: Content, name: str) -> Content:
    (found,) = (cell for cell in notebook["cells"] if grade_id(cell) == name)
    return dict_of(found)


def dict_of(cell: Any) -> Content:
    assert isinstance(cell, dict)
    return cell


def source(name: str, text: str) -> Edit:
    """Write a text into a cell."""
    return lambda notebook: cell_of(notebook, name).update(source=text)


def after(name: str, text: str) -> Edit:
    """Put a cell of the learner's own after another."""

    def edit(notebook: Content) -> None:
        place = notebook["cells"].index(cell_of(notebook, name))
        notebook["cells"].insert(place + 1, code(text))

    return edit


def last(text: str) -> Edit:
    """Put a cell of the learner's own at the end."""
    return lambda notebook: notebook["cells"].append(code(text))


def first(text: str) -> Edit:
    """Put a cell of the learner's own at the beginning."""
    return lambda notebook: notebook["cells"].insert(0, code(text))


def each_cell(change: Callable[[Content], object], *names: str) -> Edit:
    """Change cells: those named, or all."""

    def edit(notebook: Content) -> None:
        for cell in notebook["cells"]:
            if not names or grade_id(cell) in names:
                change(cell)

    return edit


def without(*names: str) -> Edit:
    """Delete cells."""

    def edit(notebook: Content) -> None:
        notebook["cells"] = [cell for cell in notebook["cells"] if grade_id(cell) not in names]

    return edit


def flags(**values: object) -> Callable[[Content], object]:
    """Change nbgrader's data about a cell."""
    return lambda cell: cell["metadata"]["nbgrader"].update(values)


def copied(name: str, text: str | None = None) -> Edit:
    """Copy a cell with its id to the end of the notebook, as it is or with another text."""

    def edit(notebook: Content) -> None:
        copy_of_it = copy.deepcopy(cell_of(notebook, name))
        if text is not None:
            copy_of_it["source"] = text
        notebook["cells"].append(copy_of_it)

    return edit


def as_nbformat_3(notebook: Content) -> None:
    cells = notebook.pop("cells")
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
    notebook.update(worksheets=[{"cells": cells, "metadata": {}}], nbformat=3)


def within_latin_1(notebook: Content) -> None:
    """Only letters of Latin-1, and some beyond ASCII."""
    for cell in notebook["cells"]:
        text = "".join(cell["source"]).encode("latin-1", "replace").decode("latin-1")
        cell.update(source=f"{text} # é", outputs=[])
