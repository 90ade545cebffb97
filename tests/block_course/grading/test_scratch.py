import os
from pathlib import Path

import pytest

from block_course.grading.scratch import remove_tree


def test_a_folder_is_removed_with_all_that_it_holds_and_nothing_outside(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    folder = tmp_path / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "file").write_text("x")
    (folder / ".removing-0-1").mkdir()
    (folder / "link").symlink_to(outside, target_is_directory=True)
    (folder / "a" / "b" / "broken").symlink_to(tmp_path / "nowhere")
    (folder / "a").chmod(0o000)

    remove_tree(folder)

    assert sorted(os.listdir(tmp_path)) == ["outside"]
    assert (outside / "kept").read_text() == "kept"


def test_a_folder_nested_deeper_than_python_recurses_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for _ in range(1200):
        os.mkdir("nested")
        os.chdir("nested")
    monkeypatch.chdir(tmp_path)

    remove_tree(folder)

    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_gone_is_removed_already(tmp_path: Path) -> None:
    remove_tree(tmp_path / "none")

    assert os.listdir(tmp_path) == []
