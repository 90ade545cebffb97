import os
from pathlib import Path

import pytest

from block_course.grading.files import InUse, alone_in, written


def test_a_file_takes_its_place_when_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("old")

    with written(path) as file:
        file.write("new\n")
        assert path.read_text() == "old"

    assert path.read_text() == "new\n"
    assert os.listdir(tmp_path) == ["grades.csv"]


def test_what_can_not_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"), written(path) as file:
        file.write("new")

    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["grades.csv"]


def test_a_folder_has_one_grader_at_a_time(tmp_path: Path) -> None:
    refused = pytest.raises(InUse, match="another grader is writing to")

    with alone_in(tmp_path), refused, alone_in(tmp_path):
        raise AssertionError

    with alone_in(tmp_path):
        assert os.listdir(tmp_path) == [".lock"]
