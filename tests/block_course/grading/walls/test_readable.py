import os
import sys
from pathlib import Path

import pytest

from block_course.grading.walls import readable as room
from block_course.grading.walls.readable import lies_in_one, readable


def covers(folders: tuple[str, ...], path: str) -> bool:
    return lies_in_one(os.path.realpath(path), [os.path.realpath(each) for each in folders])


def test_python_and_its_packages_can_be_read() -> None:
    found = readable([])

    for module in ("os", "numpy", "_ctypes"):
        assert covers(found, __import__(module).__file__)


def test_no_folder_lies_in_another_and_each_is_there() -> None:
    found = readable([])

    assert all(map(os.path.exists, found))
    assert not [(a, b) for a in found for b in found if a.startswith(f"{b}/")]


def test_homes_and_what_is_shared_can_not_be_read() -> None:
    found = readable([])

    for path in ("/", "/home", "/root", "/tmp", "/dev/shm", "/proc", "/etc/passwd", "/var"):
        assert path not in found


def test_a_path_of_the_courses_own_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("course/src", "other"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "course" / "src"), str(tmp_path / "other"), ""])

    found = readable([str(tmp_path / "course")])

    assert str(tmp_path / "other") in found
    assert not covers(found, str(tmp_path / "course" / "src"))


def test_an_environment_in_the_folder_of_the_course_can_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages = tmp_path / "course" / ".venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "course" / ".venv"))
    monkeypatch.setattr(sys, "path", [str(packages)])

    assert covers(readable([str(tmp_path / "course")]), str(packages))


def test_libraries_that_the_user_names_can_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path}::/nowhere")

    assert str(tmp_path) in readable([])


def test_only_what_swallows_all_can_be_written() -> None:
    assert room.WRITABLE == ("/dev/null",)
