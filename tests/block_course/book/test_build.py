"""`make book` says where the book is, or what is wrong with it."""

from pathlib import Path

import pytest

from block_course.book.build import build

CONFIG = "title: Small\nonly_build_toc_files: true\nexecute:\n  execute_notebooks: 'off'\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a course folder with a book of one page."""
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / "_config.yml").write_text(CONFIG)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (folder / "index.md").write_text("# Small\n")
    return folder


def test_the_book_is_built_where_asked_and_nowhere_else(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status = build(root, tmp_path / "out")

    page = tmp_path / "out" / "_build" / "html" / "index.html"
    assert status == 0
    assert page.is_file()
    assert str(page) in capfd.readouterr().out
    assert sorted(path.name for path in root.iterdir()) == ["_config.yml", "_toc.yml", "index.md"]


def test_a_warning_fails_the_build_and_is_shown(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "index.md").write_text("# Small\n\n{ref}`nowhere`\n")

    status = build(root)

    said = capfd.readouterr()
    assert status == 1
    assert "undefined label: 'nowhere'" in said.err
    assert "The book was not built" in said.err
    assert said.out == ""
