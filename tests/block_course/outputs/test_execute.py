from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode, v4

from block_course.outputs.execute import CellFailed, cell_name, execute

pytestmark = pytest.mark.slow


def notebook(*sources: str, **metadata: Any) -> NotebookNode:
    return v4.new_notebook(cells=[v4.new_code_cell(source, metadata=metadata) for source in sources])


def test_every_cell_runs_in_order_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "beside.txt").write_text("here")
    run = notebook(
        "open('beside.txt').read()",
        "import sys\nfor i in range(3):\n    print(i, flush=True)\n    print('!', file=sys.stderr)",
        "raise ValueError('expected')",
        tags=["raises-exception", "skip-execution"],
    )
    run.cells.insert(1, v4.new_markdown_cell("words"))
    stale = v4.new_output("stream", text="stale")
    run.cells.append(v4.new_code_cell("\n", execution_count=9, outputs=[stale]))

    execute(run, tmp_path)

    result, words, printed, error, blank = run.cells
    assert result.outputs[0].data["text/plain"] == "'here'"
    assert "outputs" not in words
    assert [each.text for each in printed.outputs] == ["0\n1\n2\n", "!\n!\n!\n"]
    assert (error.outputs[0].ename, error.outputs[0].evalue) == ("ValueError", "expected")
    assert (blank.outputs, blank.execution_count) == ([], None)
    assert [cell.execution_count for cell in (result, printed, error)] == [1, 2, 3]
    assert "execution" not in result.metadata


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1 / 0", "Cell 1 (1 / 0): ZeroDivisionError: division by zero"),
        ("assert False", "Cell 1 (assert False): AssertionError"),
        ("import os\nos._exit(1)", "Cell 1 (import os): the kernel died"),
        ("while True: pass", "Cell 1 (while True: pass): no end after 2 s"),
    ],
    ids=["raises", "raises without words", "kills the kernel", "does not end"],
)
def test_a_cell_that_fails_is_named(tmp_path: Path, source: str, message: str) -> None:
    run = notebook("x = 1", source, "x")
    run.cells.insert(0, v4.new_markdown_cell("words"))

    with pytest.raises(CellFailed) as failure:
        execute(run, tmp_path, timeout=2)

    assert str(failure.value) == message


def test_a_cell_is_named_by_its_first_line() -> None:
    run = notebook("\n\n  first = 1\nsecond = 2", "x" * 60, "")

    assert [cell_name(run, i) for i in range(3)] == [
        "Cell 0 (first = 1)",
        f"Cell 1 ({'x' * 50}…)",
        "Cell 2 ()",
    ]
