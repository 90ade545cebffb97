"""Small notebooks with stored outputs, and runs of them without a kernel."""

from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode, v4

from block_course import refresh
from block_course.outputs.form import parse_notebook, serialize, tidy


def printed(text: str, name: str = "stdout") -> NotebookNode:
    return v4.new_output("stream", name=name, text=text)


def result(plain: str, count: int = 1, **data: str) -> NotebookNode:
    return v4.new_output("execute_result", data={"text/plain": plain, **data}, execution_count=count)


def raised(ename: str, evalue: str, *traceback: str) -> NotebookNode:
    return v4.new_output("error", ename=ename, evalue=evalue, traceback=[*traceback])


def code(source: str, *outputs: NotebookNode, count: int | None = 1, **metadata: Any) -> NotebookNode:
    """A code cell that was run; its id follows from its source."""
    cell = v4.new_code_cell(source, outputs=list(outputs), execution_count=count, metadata=metadata)
    cell.id = source.encode().hex()[:40]
    return cell


def save(path: Path, *cells: NotebookNode) -> bytes:
    notebook = v4.new_notebook(cells=list(cells))
    tidy(notebook)
    content = serialize(notebook)
    path.write_bytes(content)
    return content


def plain_outputs(path: Path) -> list[str]:
    cells = parse_notebook(path.read_bytes()).cells
    return [cell.outputs[0].data["text/plain"] for cell in cells if cell.get("outputs")]


def replay(monkeypatch: pytest.MonkeyPatch, *outputs: NotebookNode) -> None:
    """Stand in for the kernel: the next refreshes give these outputs, one a cell."""

    def run(notebook: NotebookNode, _: Path, *, timeout: int) -> None:
        for cell, output in zip(notebook.cells, outputs, strict=True):
            cell.outputs, cell.execution_count = [output], 9

    monkeypatch.setattr(refresh, "execute", run)
