import os
from dataclasses import replace
from pathlib import Path

import pytest

from block_course.grading import files_below
from block_course.grading import submission as grading_submission
from block_course.grading.files_below import DEEPEST, contents
from block_course.grading.notebook import Unreadable
from block_course.grading.submission import Found, NotFound, find
from tests.block_course.grading.examples import RELEASED_BYTES, TINY
from tests.block_course.grading.notebooks import as_bytes, code, notebook

OTHER = replace(TINY, stem="01_other", exercises=(replace(TINY.exercises[0], id="other.f"),))


def put(path: Path, data: bytes = b"{}", age: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return path


def found_in(*paths: Path) -> Found:
    return find(paths, [TINY, OTHER])


def counting(found: Found, top: Path) -> list[tuple[str, str, str]]:
    return [
        (each.learner, each.assignment.stem, str(each.path.relative_to(top))) for each in found.submissions
    ]


def set_aside(found: Found, top: Path) -> dict[str, str]:
    return {str(each.path.relative_to(top)): each.reason for each in found.set_aside}


def test_a_folder_of_learners(tmp_path: Path) -> None:
    put(tmp_path / "ann" / "00_tiny.ipynb")
    put(tmp_path / "ann" / "01_other.ipynb")
    put(tmp_path / "bob" / "00_tiny.ipynb")

    found = found_in(tmp_path)

    assert counting(found, tmp_path) == [
        ("ann", "00_tiny", "ann/00_tiny.ipynb"),
        ("ann", "01_other", "ann/01_other.ipynb"),
        ("bob", "00_tiny", "bob/00_tiny.ipynb"),
    ]
    assert found.set_aside == ()


def test_a_learners_own_folder_and_a_notebook_in_it(tmp_path: Path) -> None:
    path = put(tmp_path / "ann" / "00_tiny.ipynb")

    for asked in (tmp_path / "ann", path):
        assert counting(found_in(asked), tmp_path) == [("ann", "00_tiny", "ann/00_tiny.ipynb")]


def test_a_path_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "ann" / "00_tiny.ipynb")
    monkeypatch.chdir(tmp_path / "ann")

    for asked in (Path("00_tiny.ipynb"), Path()):
        assert [each.learner for each in found_in(asked).submissions] == ["ann"]


def test_the_layout_of_nbgrader(tmp_path: Path) -> None:
    path = put(tmp_path / "submitted" / "ann" / "00_tiny" / "00_tiny.ipynb")
    put(tmp_path / "submitted" / "ann" / "00_tiny" / "timestamp.txt")

    for asked in (tmp_path / "submitted", path.parents[1], path.parent, path):
        found = found_in(asked)
        assert [each.learner for each in found.submissions] == ["ann"]
        assert found.set_aside == ()


def test_the_layout_of_nbgrader_under_an_assignments_name_of_their_own(tmp_path: Path) -> None:
    put(tmp_path / "submitted" / "ann" / "week 1" / "00_tiny.ipynb")
    put(tmp_path / "elsewhere" / "bob" / "week 1" / "00_tiny.ipynb")
    put(tmp_path / "elsewhere" / "bob" / "week 1" / "timestamp.txt")

    found = found_in(tmp_path / "submitted", tmp_path / "elsewhere")

    assert [each.learner for each in found.submissions] == ["ann", "bob"]


def test_learners_in_groups_are_told_apart_by_all_folders(tmp_path: Path) -> None:
    put(tmp_path / "a" / "ann" / "00_tiny.ipynb")
    put(tmp_path / "b" / "ann" / "00_tiny.ipynb")

    assert [each.learner for each in found_in(tmp_path).submissions] == ["a/ann", "b/ann"]


def test_of_several_notebooks_of_one_learner_the_newest_counts(tmp_path: Path) -> None:
    put(tmp_path / "ann" / "00_tiny.ipynb", age=50)
    put(tmp_path / "ann" / "00_tiny (1).ipynb", age=20)
    put(tmp_path / "ann" / "00_tiny (2).ipynb", age=30)

    found = found_in(tmp_path)

    assert counting(found, tmp_path) == [("ann", "00_tiny", "ann/00_tiny (1).ipynb")]
    assert set_aside(found, tmp_path) == {
        "ann/00_tiny (2).ipynb": "00_tiny (1).ipynb counts for this learner",
        "ann/00_tiny.ipynb": "00_tiny (1).ipynb counts for this learner",
    }


def test_of_notebooks_of_one_age_the_one_with_the_exact_name_counts(tmp_path: Path) -> None:
    put(tmp_path / "ann" / "00_tiny.ipynb")
    put(tmp_path / "ann" / "00_tiny (1).ipynb")

    assert counting(found_in(tmp_path), tmp_path) == [("ann", "00_tiny", "ann/00_tiny.ipynb")]


def test_a_fresh_release_never_counts_before_a_learners_work(tmp_path: Path) -> None:
    put(tmp_path / "ann" / "00_tiny.ipynb", age=500)
    put(tmp_path / "ann" / "00_tiny.new.ipynb", age=1)

    assert counting(found_in(tmp_path), tmp_path) == [("ann", "00_tiny", "ann/00_tiny.ipynb")]


def test_a_notebook_of_another_name_is_known_by_its_cells(tmp_path: Path) -> None:
    put(tmp_path / "ann" / "homework.ipynb", RELEASED_BYTES)

    assert counting(found_in(tmp_path), tmp_path) == [("ann", "00_tiny", "ann/homework.ipynb")]


def test_notebooks_of_several_people_in_one_folder_all_count(tmp_path: Path) -> None:
    put(tmp_path / "class" / "ann.ipynb", RELEASED_BYTES)
    put(tmp_path / "class" / "bob_00_tiny.ipynb")

    assert counting(found_in(tmp_path), tmp_path) == [
        ("class/ann", "00_tiny", "class/ann.ipynb"),
        ("class/bob_00_tiny", "00_tiny", "class/bob_00_tiny.ipynb"),
    ]


def test_every_other_file_is_listed_with_its_reason(tmp_path: Path) -> None:
    put(tmp_path / "ann" / "00_tiny.ipynb")
    put(tmp_path / "ann" / "data.csv")
    put(tmp_path / "ann" / "diary.ipynb", as_bytes(notebook(code("x = 1"))))
    put(tmp_path / "ann" / "broken.ipynb", b"{")
    put(tmp_path / "ann" / ".ipynb_checkpoints" / "00_tiny-checkpoint.ipynb")
    (tmp_path / "ann" / "01_other.ipynb").symlink_to(tmp_path / "ann" / "00_tiny.ipynb")
    (tmp_path / "eve").symlink_to(tmp_path / "ann", target_is_directory=True)

    found = found_in(tmp_path)

    assert [each.learner for each in found.submissions] == ["ann"]
    assert set_aside(found, tmp_path) == {
        "ann/.ipynb_checkpoints": "hidden",
        "ann/01_other.ipynb": "a symbolic link; links are not followed",
        "ann/broken.ipynb": (
            "not named like an assignment, and unreadable: the file is not valid JSON at line 1, column 2: "
            "Expecting property name enclosed in double quotes; the file looks cut off"
        ),
        "ann/data.csv": "not a notebook",
        "ann/diary.ipynb": "not named like an assignment, and holds none of their cells",
        "eve": "a symbolic link; links are not followed",
    }


def test_a_link_is_not_followed_even_when_it_is_named(tmp_path: Path) -> None:
    put(tmp_path / "ann" / "00_tiny.ipynb")
    link = tmp_path / "00_tiny.ipynb"
    link.symlink_to(tmp_path / "ann" / "00_tiny.ipynb")

    found = found_in(link)

    assert found.submissions == ()
    assert set_aside(found, tmp_path) == {"00_tiny.ipynb": "a symbolic link; links are not followed"}


def test_a_file_named_twice_is_found_once(tmp_path: Path) -> None:
    path = put(tmp_path / "ann" / "00_tiny.ipynb")

    found = found_in(tmp_path, path, tmp_path / "ann")

    assert len(found.submissions) == 1
    assert found.set_aside == ()


def test_folders_are_searched_to_a_depth(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * DEEPEST)
    put(deep / "00_tiny.ipynb")
    put(deep / "deeper" / "00_tiny.ipynb")

    found = found_in(tmp_path)

    assert [each.learner for each in found.submissions] == ["/".join("d" * DEEPEST)]
    assert list(set_aside(found, tmp_path).values()) == [f"a folder more than {DEEPEST} deep"]


def test_what_can_not_be_looked_at_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "ann" / "00_tiny.ipynb")
    locked = put(tmp_path / "bob" / "00_tiny.ipynb").parent
    closed = put(tmp_path / "eve" / "00_tiny.ipynb")
    scandir, lstat = os.scandir, Path.lstat

    def refusing_scandir(path: Path) -> object:
        if path == locked:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    def refusing_lstat(path: Path) -> os.stat_result:
        if path == closed:
            raise PermissionError(13, "Permission denied")
        return lstat(path)

    monkeypatch.setattr(os, "scandir", refusing_scandir)
    monkeypatch.setattr(Path, "lstat", refusing_lstat)

    found = found_in(tmp_path)

    assert [each.learner for each in found.submissions] == ["ann"]
    assert set_aside(found, tmp_path) == {
        "bob": "a folder that can't be read: Permission denied",
        "eve/00_tiny.ipynb": "it can't be looked at: Permission denied",
    }


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"there is no .*none"):
        found_in(tmp_path / "none")


def test_a_file_at_the_root_has_an_unnamed_learner() -> None:
    assert grading_submission._learner(Path("/00_tiny.ipynb"), Path("/00_tiny.ipynb"), TINY) == "unnamed"


def test_contents_are_those_of_a_regular_file_of_a_bearable_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "00_tiny.ipynb", b"bytes")
    (tmp_path / "link").symlink_to(path)
    os.mkfifo(tmp_path / "pipe")
    large = put(tmp_path / "large", b"x" * (2 << 20))
    monkeypatch.setattr(files_below, "MAX_FILE_BYTES", 1 << 20)

    assert contents(path) == b"bytes"
    for refused, why in [
        (tmp_path / "link", "can't be read: Too many levels of symbolic links"),
        (tmp_path / "pipe", "this is no regular file"),
        (tmp_path, "this is no regular file"),
        (large, "the file has 2 MB; the limit is 1 MB"),
    ]:
        with pytest.raises(Unreadable, match=why):
            contents(refused)
