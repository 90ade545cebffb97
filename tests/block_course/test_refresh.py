"""Notebooks are run for real where a kernel matters; elsewhere `replay` gives the outputs of a run."""

import errno
import json
from pathlib import Path

import pytest
from nbformat import NotebookNode, v4

from block_course import refresh as module
from block_course.outputs.form import parse_notebook
from block_course.refresh import Refreshed, keep_agreeing, refresh, verify
from tests.block_course.outputs.notebooks import code, plain_outputs, replay, result, save

pytestmark = pytest.mark.slow


def test_noise_keeps_the_file_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, code("1 / 3", result("0.3333333333333334")), code("x = 1", count=7))
    stamp = path.stat().st_mtime_ns

    assert refresh([path]) == [Refreshed(path, kept=1)]
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == stamp


def test_a_real_change_is_written_and_noise_beside_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    save(path, code("1 / 3", result("0.3333333333333334", 5), count=5), code("1 + 1", result("3")))

    [found] = refresh([path])

    assert found.changes == ("Cell 1 (1 + 1): output 1 (text/plain) line 1: 3 became 2 in '3'",)
    assert (found.kept, found.failure) == (1, "")
    assert plain_outputs(path) == ["0.3333333333333334", "2"]
    assert [cell.execution_count for cell in parse_notebook(path.read_bytes()).cells] == [5, 2]


def test_a_failing_cell_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, code("1 + 1", result("3")), code("1 / 0"))

    assert refresh([path]) == [Refreshed(path, failure="Cell 1 (1 / 0): ZeroDivisionError: division by zero")]
    assert path.read_bytes() == before


def test_a_notebook_runs_in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "beside.txt").write_text("here")
    save(tmp_path / "chapters" / "a.ipynb", code("open('beside.txt').read()", result("'here'")))
    monkeypatch.chdir(tmp_path)

    assert verify(Path("chapters/a.ipynb")) == []


def test_verifying_lists_what_refreshing_would_change_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, code("x", result("3")), code("y", result("0.25")), code("z", count=None))
    replay(monkeypatch, result("4"), result("0.26"), result("5"))

    problems = verify(path)

    assert problems == [
        "Cell 0 (x): output 1 (text/plain) line 1: 3 became 4 in '3'",
        "Cell 2 (z): was never run",
    ]
    assert path.read_bytes() == before


def test_a_second_refresh_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ipynb"
    save(path, code("x", result("3")), code("z", count=None))
    replay(monkeypatch, result("4"), result("5"))

    first, second = refresh([path, path])

    assert len(first.changes) == 2
    assert second == Refreshed(path, kept=2)
    assert plain_outputs(path) == ["4", "5"]


def test_form_alone_is_a_change_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ipynb"
    content = json.loads(save(path, code("x", result("3"), ExecuteTime={"end_time": "2024"})))
    content["metadata"]["language_info"]["version"] = "3.11.4"
    path.write_text(json.dumps(content))
    replay(monkeypatch, result("3"))

    assert verify(path) == ["its form is not the stored one (ids, metadata or layout)"]
    refresh([path])
    assert verify(path) == []
    assert b"2024" not in path.read_bytes()
    assert b"3.11.4" not in path.read_bytes()


def test_a_figure_drawn_as_png_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, code("x", result("3")))
    replay(monkeypatch, result("3", **{"image/png": "AAAA"}))

    [found] = refresh([path])

    assert found.failure == "Cell 0 (x): image/png cannot be compared: show the figure as SVG"
    assert path.read_bytes() == before


def test_a_stored_png_gives_way_to_svg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ipynb"
    save(path, code("x", result("3", **{"image/png": "AAAA"})))
    replay(monkeypatch, result("3", **{"image/svg+xml": "<svg/>"}))

    refresh([path])

    assert b"image/png" not in path.read_bytes()
    assert b"image/svg+xml" in path.read_bytes()


def test_an_impossible_tolerance_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ipynb"
    save(path, code("x", result("3"), nbval={"atol": 1}))
    replay(monkeypatch, result("3"))

    [problem] = verify(path)

    assert problem.startswith("Cell 0 (x): metadata nbval has the unknown key 'atol'")


def test_a_cell_is_found_again_by_its_id() -> None:
    stored = v4.new_notebook(cells=[code("x", result("0.25")), code("y", result("7"))])
    run = v4.new_notebook(
        cells=[v4.new_markdown_cell("new"), code("y", result("7")), code("x", result("0.26"))]
    )
    run.cells.append(code("z", result("8")))

    kept, changes = keep_agreeing(run, stored)

    assert (kept, changes) == (2, ["Cell 2 (z): is new"])
    assert run.cells[2].outputs[0].data["text/plain"] == "0.25"


def test_a_blank_cell_has_nothing_to_keep() -> None:
    stored, run = (v4.new_notebook(cells=[code(" ", count=None)]) for _ in range(2))

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


def test_an_interrupted_write_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, code("x", result("3")))
    replay(monkeypatch, result("4"))

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
    save(path, code("x", result("3")))

    def run(notebook: NotebookNode, _: Path, *, timeout: int) -> None:
        notebook.cells[0].outputs = [result("4")]
        save(path, code("y", result("5")))

    monkeypatch.setattr(module, "execute", run)

    assert refresh([path]) == [Refreshed(path, failure="was changed while it ran; run it again")]
    assert plain_outputs(path) == ["5"]


def test_a_folder_that_cannot_be_written_is_a_failure_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ipynb"
    before = save(path, code("x", result("3")))
    replay(monkeypatch, result("4"))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)

    assert refresh([path]) == [Refreshed(path, failure="No space left on device")]
    assert path.read_bytes() == before
