"""Sections are found by the anchors that the book gives them, with their prose and their cells in order."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from .sections import Link, links, sections


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    cells = [
        new_markdown_cell("# A title\n\nFirst words.\n\n### A guess"),
        new_code_cell("print(1)", id="one"),
        new_markdown_cell("Words behind the cell.\n\n### A check that can't fail\n\nLast words."),
        new_code_cell("print(2)", id="two"),
        new_code_cell("print(3)", id="three"),
        new_markdown_cell("### A guess"),
    ]
    path = tmp_path / "05_page.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


def test_a_section_goes_from_its_heading_to_the_next_one(notebook: Path) -> None:
    found = sections(notebook)

    assert [(each.title, each.depth) for each in found.values()] == [
        ("A title", 1),
        ("A guess", 3),
        ("A check that can't fail", 3),
        ("A guess", 3),
    ]
    assert [cell.id for cell in found["a-guess"].cells] == ["one"]
    assert [cell.id for cell in found["a-check-that-cant-fail"].cells] == ["two", "three"]
    assert found["a-guess"].prose == "Words behind the cell."
    assert found["a-check-that-cant-fail"].parts[0] == "Last words."


def test_a_title_that_comes_twice_has_two_anchors(notebook: Path) -> None:
    assert list(sections(notebook)) == ["a-title", "a-guess", "a-check-that-cant-fail", "a-guess-1"]


def test_a_markdown_page_has_sections_too(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n\nOne.\n\n## Two\n\nThree.\n", encoding="utf-8")

    assert {name: each.prose for name, each in sections(page).items()} == {"title": "One.", "two": "Three."}


def test_links_into_sections_are_listed_and_other_links_are_not() -> None:
    prose = "See [one](05_page.ipynb#a-guess), [all](05_page) and [a label](#fig-x)."

    assert links(prose) == [Link("05_page", "a-guess")]
