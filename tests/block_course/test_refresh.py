"""Notebooks are run for real where a kernel matters; elsewhere `replay` gives the outputs of a run."""

import errno
import json
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode, v4

from block_course import refresh as module
from block_course.outputs.execute import CellFailed
from block_course.outputs.form import parse_notebook, serialize, tidy
from block_course.refresh import Refreshed, keep_agreeing, main, refresh, verify


def result(plain: str, count: int = 1, **data: str) -> NotebookNode:
    return v4.new_output("execute_result", data={"text/plain": plain, **data}, execution_count=count)


def cell(source: str, *outputs: NotebookNode, count: int | None = 1, **metadata: Any) -> NotebookNode:
    made = v4.new_code_cell(source, outputs=list(outputs), execution_count=count, metadata=metadata)
    made.id = source.encode().hex()[:40]
    return made


def save(path: Path, *cells: NotebookNode) -> bytes:
    notebook = v4.new_notebook(cells=list(cells))
    tidy(notebook)
    content = serialize(notebook)
    path.write_bytes(content)
    return content


def plain_outputs(path: Path) -> list[str]:
    cells = parse_notebook(path.read_bytes()).cells
    return [cell.outputs[0].data["text/plain"] for cell in cells if cell.get("outputs")]


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stand in for the kernel: the next runs give these outputs, cell by cell."""

    def plan(*outputs: NotebookNode) -> None:
        def run(notebook: NotebookNode, _: Path, *, timeout: int) -> None:
            for cell, output in zip(notebook.cells, outputs, strict=True):
                cell.outputs, cell.execution_count = [output], 9

        monkeypatch.setattr(module, "execute", run)

    return plan


def test_noise_keeps_the_file_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, cell("1 / 3", result("0.3333333333333334")), cell("x = 1", count=7))
    stamp = path.stat().st_mtime_ns

    assert refresh([path]) == [Refreshed(path, kept=1)]
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == stamp


def test_a_real_change_is_written_and_noise_beside_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    save(path, cell("1 / 3", result("0.3333333333333334", 5), count=5), cell("1 + 1", result("3")))

    [found] = refresh([path])

    assert found.changes == ("Cell 1 (1 + 1): output 1 (text/plain) line 1: 3 became 2 in '3'",)
    assert (found.kept, found.failure) == (1, "")
    assert plain_outputs(path) == ["0.3333333333333334", "2"]
    assert [cell.execution_count for cell in parse_notebook(path.read_bytes()).cells] == [5, 2]


def test_a_failing_cell_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, cell("1 + 1", result("3")), cell("1 / 0"))

    assert refresh([path]) == [Refreshed(path, failure="Cell 1 (1 / 0): ZeroDivisionError: division by zero")]
    assert path.read_bytes() == before


def test_a_notebook_runs_in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "beside.txt").write_text("here")
    save(tmp_path / "chapters" / "a.ipynb", cell("open('beside.txt').read()", result("'here'")))
    monkeypatch.chdir(tmp_path)

    assert verify(Path("chapters/a.ipynb")) == []


def test_verifying_lists_what_refreshing_would_change_and_writes_nothing(tmp_path: Path, replay: Any) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, cell("x", result("3")), cell("y", result("0.25")), cell("z", count=None))
    replay(result("4"), result("0.26"), result("5"))

    problems = verify(path)

    assert problems == [
        "Cell 0 (x): output 1 (text/plain) line 1: 3 became 4 in '3'",
        "Cell 2 (z): was never run",
    ]
    assert path.read_bytes() == before


def test_a_second_refresh_changes_nothing(tmp_path: Path, replay: Any) -> None:
    path = tmp_path / "a.ipynb"
    save(path, cell("x", result("3")), cell("z", count=None))
    replay(result("4"), result("5"))

    first, second = refresh([path, path])

    assert len(first.changes) == 2
    assert second == Refreshed(path, kept=2)
    assert plain_outputs(path) == ["4", "5"]


def test_form_alone_is_a_change_too(tmp_path: Path, replay: Any) -> None:
    path = tmp_path / "a.ipynb"
    content = json.loads(save(path, cell("x", result("3"), ExecuteTime={"end_time": "2024"})))
    content["metadata"]["language_info"]["version"] = "3.11.4"
    path.write_text(json.dumps(content))
    replay(result("3"))

    assert verify(path) == ["its form is not the stored one (ids, metadata or layout)"]
    refresh([path])
    assert verify(path) == []
    assert b"2024" not in path.read_bytes()
    assert b"3.11.4" not in path.read_bytes()


def test_a_figure_drawn_as_png_is_refused(tmp_path: Path, replay: Any) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, cell("x", result("3")))
    replay(result("3", **{"image/png": "AAAA"}))

    [found] = refresh([path])

    assert found.failure == "Cell 0 (x): image/png cannot be compared: show the figure as SVG"
    assert path.read_bytes() == before


def test_a_stored_png_gives_way_to_svg(tmp_path: Path, replay: Any) -> None:
    path = tmp_path / "a.ipynb"
    save(path, cell("x", result("3", **{"image/png": "AAAA"})))
    replay(result("3", **{"image/svg+xml": "<svg/>"}))

    refresh([path])

    assert b"image/png" not in path.read_bytes()
    assert b"image/svg+xml" in path.read_bytes()


def test_an_impossible_tolerance_is_a_failure(tmp_path: Path, replay: Any) -> None:
    path = tmp_path / "a.ipynb"
    save(path, cell("x", result("3"), nbval={"atol": 1}))
    replay(result("3"))

    [problem] = verify(path)

    assert problem.startswith("Cell 0 (x): metadata nbval has the unknown key 'atol'")


def test_a_cell_is_found_again_by_its_id() -> None:
    stored = v4.new_notebook(cells=[cell("x", result("0.25")), cell("y", result("7"))])
    run = v4.new_notebook(
        cells=[v4.new_markdown_cell("new"), cell("y", result("7")), cell("x", result("0.26"))]
    )
    run.cells.append(cell("z", result("8")))

    kept, changes = keep_agreeing(run, stored)

    assert (kept, changes) == (2, ["Cell 2 (z): is new"])
    assert run.cells[2].outputs[0].data["text/plain"] == "0.25"


def test_a_blank_cell_has_nothing_to_keep() -> None:
    stored, run = (v4.new_notebook(cells=[cell(" ", count=None)]) for _ in range(2))

    assert keep_agreeing(run, stored) == (0, [])


@pytest.mark.parametrize(
    ("content", "failure"),
    [
        (None, "No such file or directory"),
        (b"{", "not JSON: "),
        (b"{}", "not a notebook of format 4"),
        (b'{"nbformat": 4, "cells": ' + b"[" * 100_000, "its JSON is nested too deeply"),
    ],
    ids=["missing", "cut", "not a notebook", "nested"],
)
def test_what_cannot_be_read_is_a_failure_in_words(
    tmp_path: Path, content: bytes | None, failure: str
) -> None:
    path = tmp_path / "a.ipynb"
    if content is not None:
        path.write_bytes(content)

    [found] = refresh([path])

    assert found.failure.startswith(failure)


def test_an_interrupted_write_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replay: Any
) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, cell("x", result("3")))
    replay(result("4"))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            refresh([path])

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_notebook_that_was_saved_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ipynb"
    save(path, cell("x", result("3")))

    def run(notebook: NotebookNode, _: Path, *, timeout: int) -> None:
        notebook.cells[0].outputs = [result("4")]
        save(path, cell("y", result("5")))

    monkeypatch.setattr(module, "execute", run)

    assert refresh([path]) == [Refreshed(path, failure="was changed while it ran; run it again")]
    assert plain_outputs(path) == ["5"]


def test_a_folder_that_cannot_be_written_is_a_failure_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replay: Any
) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, cell("x", result("3")))
    replay(result("4"))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)

    assert refresh([path]) == [Refreshed(path, failure="No space left on device")]
    assert path.read_bytes() == before


def test_the_command_prints_one_line_a_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replay: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    same, other, broken = (Path(f"{name}.ipynb") for name in ("same", "other", "broken"))
    save(same, cell("x", result("3")), cell("y", result("4")))
    save(other, cell("x", result("[bold]")), cell("y", result("5")))
    broken.write_text("{}")
    replay(result("3"), result("4"))

    status = main([same, other, broken], check=True)

    assert status == 1
    assert capsys.readouterr().out.splitlines() == [
        "unchanged  same.ipynb  2 cells with outputs agree",
        "differs    other.ipynb  Cell 0 (x): output 1 (text/plain) line 1: '[bold]' became '3' (and 1 more)",
        "failed     broken.ipynb  not a notebook of format 4",
    ]


def test_the_command_succeeds_when_it_has_updated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replay: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("a.ipynb")
    save(path, cell("x", result("3")))
    replay(result("4"))

    assert [main([path], check) for check in (True, False, True)] == [1, 0, 0]
    words = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert words == ["differs", "updated", "unchanged"]


def test_a_message_sends_no_control_codes_to_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "a.ipynb", cell("x"))

    def fail(*_: object, **__: object) -> None:
        raise CellFailed("Cell 0: \x1b[31mred\nand a second line")

    monkeypatch.setattr(module, "execute", fail)
    main([tmp_path / "a.ipynb"], check=False)

    printed = capsys.readouterr().out
    assert printed.endswith("Cell 0:  [31mred and a second line\n")
    assert printed.count("\n") == 1
