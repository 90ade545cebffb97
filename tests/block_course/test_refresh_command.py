from pathlib import Path

import pytest

from block_course import refresh as module
from block_course.outputs.execute import CellFailed
from block_course.refresh import main
from tests.block_course.outputs.notebooks import code, replay, result, save


def test_the_command_prints_one_line_a_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    same, other, broken = (Path(f"{name}.ipynb") for name in ("same", "other", "broken"))
    save(same, code("x", result("3")), code("y", result("4")))
    save(other, code("x", result("[bold]")), code("y", result("5")))
    broken.write_text("{}")
    replay(monkeypatch, result("3"), result("4"))

    status = main([same, other, broken], check=True)

    assert status == 1
    assert capsys.readouterr().out.splitlines() == [
        "unchanged  same.ipynb  2 cells with outputs agree",
        "differs    other.ipynb  Cell 0 (x): output 1 (text/plain) line 1: '[bold]' became '3' (and 1 more)",
        "failed     broken.ipynb  not a notebook of format 4",
    ]


def test_the_command_succeeds_when_it_has_updated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("a.ipynb")
    save(path, code("x", result("3")))
    replay(monkeypatch, result("4"))

    assert [main([path], check) for check in (True, False, True)] == [1, 0, 0]
    words = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert words == ["differs", "updated", "unchanged"]


def test_a_message_sends_no_control_codes_to_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "a.ipynb", code("x"))

    def fail(*_: object, **__: object) -> None:
        raise CellFailed("Cell 0: \x1b[31mred\nand a second line")

    monkeypatch.setattr(module, "execute", fail)
    main([tmp_path / "a.ipynb"], check=False)

    printed = capsys.readouterr().out
    assert printed.endswith("Cell 0:  [31mred and a second line\n")
    assert printed.count("\n") == 1
