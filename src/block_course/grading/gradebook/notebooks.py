"""Autograded notebooks: what a learner wrote, as text alone, with nbgrader's data from our own release."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from block_course.grading.naming import check_of
from block_course.grading.neutral import as_json, lines, terminal
from block_course.grading.notebook import Cell, Notebook
from block_course.grading.report.words import explained, number
from block_course.grading.result import Mark, Result

Json = dict[str, Any]

_TICKS = re.compile("`+")
_NOTES = "# What the grader noted about this notebook"


@dataclass(frozen=True)
class Release:
    """A released notebook: its cells with a role by their ids, its own Markdown, its kernel."""

    cells: Mapping[str, Json]
    markdown: frozenset[str]
    metadata: Json

    def of_kind(self, kind: str) -> dict[str, Json]:
        """Those with a flag of nbgrader's: grade, solution or locked."""
        return {name: each for name, each in self.cells.items() if each["metadata"]["nbgrader"].get(kind)}


def release_of(data: bytes) -> Release:
    """What a released notebook holds; it is our own and trusted."""
    content = json.loads(data)
    cells, markdown = {}, set()
    for cell in content["cells"]:
        source = "".join(cell["source"])
        if "nbgrader" in cell["metadata"]:
            cells[cell["metadata"]["nbgrader"]["grade_id"]] = {**cell, "source": source}
        elif cell["cell_type"] == "markdown":
            markdown.add(source.strip())
    kernel = {name: content["metadata"][name] for name in ("kernelspec",) if name in content["metadata"]}
    return Release(cells, frozenset(markdown), kernel)


def autograded(submitted: Notebook, release: Release, result: Result) -> str:
    """The notebook for formgrader and generate_feedback, as JSON.

    Nothing in it acts: no output of the learner's, no Markdown of theirs but as a block of text. Cells with a
    role are there once, the checks with our own outputs.
    """
    marks = {check_of(each["id"]): each for each in result["exercises"]}
    cells = [*_cells(submitted, release, marks), *_notes(result)]
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
    return as_json(
        {"cells": cells, "metadata": release.metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def _cells(submitted: Notebook, release: Release, marks: Mapping[str, Mark]) -> Iterator[Json]:
    solutions = release.of_kind("solution")
    last = {cell.grade_id: place for place, cell in enumerate(submitted.cells) if cell.grade_id in solutions}
    waiting = dict(release.cells)
    for place, cell in enumerate(submitted.cells):
        name = cell.grade_id
        if name in solutions and last[name] == place:
            yield _theirs(cell.source, waiting.pop(name))
        elif name in release.cells and name not in solutions:
            if name in waiting:
                yield _ours(waiting.pop(name), marks.get(name))
        elif cell.source.strip():
            yield _without_role(cell, release)
    for name, missing in waiting.items():
        yield _theirs("", missing) if name in solutions else _ours(missing, marks.get(name))


def _theirs(source: str, released: Json) -> Json:
    """An answer; one that was turned into Markdown was run as code and is shown as code."""
    return _code(lines(source), [], _nbgrader(released))


def _ours(released: Json, mark: Mark | None) -> Json:
    if released["cell_type"] == "markdown":
        return {"cell_type": "markdown", "metadata": _nbgrader(released), "source": released["source"]}
    said = (
        [] if mark is None else [f"{number(mark['points'])} of {number(mark['of'])} points", *explained(mark)]
    )
    return _code(released["source"], said, _nbgrader(released))


def _without_role(cell: Cell, release: Release) -> Json:
    if cell.kind == "code":
        return _code(lines(cell.source), [], {})
    if cell.source.strip() in release.markdown:
        return {"cell_type": "markdown", "metadata": {}, "source": cell.source}
    return {"cell_type": "markdown", "metadata": {}, "source": _block(lines(cell.source))}


def _notes(result: Result) -> Iterator[Json]:
    if result["notes"]:
        yield _code(_NOTES, result["notes"], {})


def _code(source: str, said: list[str], metadata: Json) -> Json:
    text = "".join(f"{terminal(each)}\n" for each in said)
    outputs = [{"output_type": "stream", "name": "stdout", "text": text}] if said else []
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": metadata,
        "outputs": outputs,
        "source": source,
    }


def _nbgrader(released: Json) -> Json:
    return {"nbgrader": dict(released["metadata"]["nbgrader"])}


def _block(text: str) -> str:
    """Text as Markdown shows it letter by letter, between fences that it can't close."""
    longest = max((len(each) for each in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
