"""The book as it is built now: whole, offline, and with words for its figures."""

import json
import re
from pathlib import Path

import pytest
import yaml

from block_course.book.build import build

from .conftest import COURSE
from .faults import page_faults, pages, style_faults

pytestmark = pytest.mark.slow


def chapters() -> list[str]:
    toc = yaml.safe_load((COURSE / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])]


def test_no_page_has_a_fault(book: Path) -> None:
    faults = {page.name: page_faults(page) for page in pages(book)}

    assert {name: found for name, found in faults.items() if found} == {}


def test_no_stylesheet_has_a_fault(book: Path) -> None:
    faults = {sheet.name: style_faults(sheet) for sheet in book.rglob("*.css")}

    assert {name: found for name, found in faults.items() if found} == {}


def test_the_pages_are_those_of_the_table_of_contents(book: Path) -> None:
    built = {page.relative_to(book).with_suffix("").as_posix() for page in pages(book)}

    assert built == {*chapters(), "index", "genindex", "search"}


def test_every_figure_of_a_chapter_is_on_its_page(book: Path) -> None:
    for chapter in chapters():
        source = COURSE / f"{chapter}.ipynb"
        if not source.exists() or source.parent.name != "chapters" or not source.name[0].isdigit():
            continue
        cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
        figures = sum(
            "image/svg+xml" in output.get("data", {}) for cell in cells for output in cell.get("outputs", [])
        )
        page = (book / f"{chapter}.html").read_text(encoding="utf-8")
        assert len(re.findall(r"<figure\b", page)) >= figures > 0, chapter


def test_nothing_of_the_machine_is_in_the_pages(book: Path) -> None:
    for page in pages(book):
        assert str(COURSE) not in page.read_text(encoding="utf-8"), page.name


def test_two_builds_are_alike(book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "7")

    assert build(COURSE, tmp_path) == 0

    again = tmp_path / "_build" / "html"
    files = {path.relative_to(book) for path in book.rglob("*") if path.is_file()}
    assert {path.relative_to(again) for path in again.rglob("*") if path.is_file()} == files
    assert [name for name in sorted(files) if (book / name).read_bytes() != (again / name).read_bytes()] == []
