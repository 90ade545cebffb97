"""Building the book: where it lies when it worked, what was wrong when it didn't."""

import sys
from pathlib import Path

import pytest

from block_course.book import build as building
from block_course.book.build import build


def stand_in(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Let a short program stand in for the builder, which takes seconds."""
    monkeypatch.setattr(building, "command", lambda course, out: [sys.executable, "-c", program])


def test_warnings_are_errors_and_all_of_them_are_shown(tmp_path: Path) -> None:
    words = building.command(tmp_path, tmp_path / "elsewhere")

    assert {"-W", "-n", "--keep-going"} < set(words)
    assert words[words.index("--path-output") + 1] == str(tmp_path / "elsewhere")


def test_a_built_book_is_pointed_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(monkeypatch, "print('words that nobody needs')")

    assert build(tmp_path) == 0
    assert capsys.readouterr().out == f"The book: {tmp_path / '_build' / 'html' / 'index.html'}\n"


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (
            "print('reading'); print('a.md:3: WARNING: no such label'); exit(1)",
            "a.md:3: WARNING: no such label\n",
        ),
        ("print('out of memory'); exit(1)", "out of memory\n"),
    ],
)
def test_a_failed_build_says_what_was_wrong(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    program: str,
    told: str,
) -> None:
    stand_in(monkeypatch, program)

    assert build(tmp_path) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert (
        shown.err
        == f"{told}The book was not built; the whole story is in {tmp_path / '_build' / 'book.log'}\n"
    )
