from pathlib import Path

import pytest

from tests.block_course.grading.frames import REAL
from tests.fuzz import wire


def test_an_input_is_taken_once_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = tmp_path / "crash"
    found.write_bytes(REAL[0][:-1])

    assert wire.main([str(found)]) == 0
    assert capsys.readouterr().out == "Gone\n"


def test_without_atheris_it_says_what_helps(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wire.importlib.util, "find_spec", lambda name: None)

    assert wire.main([]) == 2
    assert "pip install -r requirements-fuzz.txt" in capsys.readouterr().err
