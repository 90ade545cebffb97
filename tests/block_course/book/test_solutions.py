"""Solutions stand in the book, each behind a click, and one switch leaves them out."""

import json
from pathlib import Path

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbformat.v4.rwbase import split_lines

from block_course.book.solutions import folded, without_solutions

from .conftest import Build

pytestmark = [
    pytest.mark.slow,
    # sphinx_external_toc looks at every object that there is, at what torch has deprecated too
    pytest.mark.filterwarnings("ignore:.*reduce_op.*:FutureWarning"),
]

ANSWER = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION\n"
NOTEBOOK = new_notebook(
    cells=[
        new_markdown_cell("# Doubling: the exercises\n\nWords."),
        new_code_cell(ANSWER),
        new_code_cell('check("doubling.double", double)'),
    ]
)
TOC = {
    "format": "jb-book",
    "root": "index",
    "parts": [
        {"caption": "Chapters", "chapters": [{"file": "chapter"}]},
        {"caption": "Solutions", "chapters": [{"file": "solutions/doubling"}]},
    ],
}
FILES = {
    "index.md": "# Home\n",
    "chapter.md": "# A chapter\n",
    "solutions/doubling.ipynb": nbformat.writes(NOTEBOOK),
    "_toc.yml": yaml.safe_dump(TOC),
}
EXTENSIONS = ("sphinx_external_toc", "sphinx_togglebutton", "block_course.book.solutions")


def test_an_answer_is_folded_and_the_check_is_not(build: Build) -> None:
    built = build(FILES, *EXTENSIONS, external_toc_exclude_missing=True)

    page = BeautifulSoup(built.page("solutions/doubling"), "html.parser")
    heading = page.find("h1")
    assert heading is not None
    assert heading.get_text().startswith("Doubling: solutions")
    (behind_a_click,) = page.find_all("details")
    assert behind_a_click.summary.get_text(" ", strip=True).startswith("Show a solution")
    assert "return 2 * x" in behind_a_click.get_text()
    assert "SOLUTION" not in page.get_text()
    assert "check(" in page.get_text()
    assert "check(" not in behind_a_click.get_text()


def test_the_switch_leaves_them_out_of_the_pages_and_of_the_contents(build: Build) -> None:
    built = build(FILES, *EXTENSIONS, external_toc_exclude_missing=True, solutions_shown=False)

    assert not built.warnings
    assert (built.folder / "chapter.html").exists()
    assert not (built.folder / "solutions").exists()
    assert "Solutions" not in built.page()
    assert not [
        path for path in built.folder.rglob("*") if path.is_file() and b"return 2" in path.read_bytes()
    ]


def test_a_table_of_contents_keeps_all_that_is_no_solution() -> None:
    shorter = without_solutions(TOC)

    assert shorter == {**TOC, "parts": TOC["parts"][:1]}
    assert without_solutions({"root": "index"})["root"] == "index"


def test_folding_changes_no_code_but_the_marks() -> None:
    cells = json.loads(folded(nbformat.writes(NOTEBOOK)))["cells"]

    assert cells[1]["source"] == "def double(x):\n    return 2 * x"
    assert cells[1]["metadata"]["tags"] == ["hide-input"]
    assert cells[2]["source"] == 'check("doubling.double", double)'


def test_a_link_to_an_exercise_hands_out_the_notebook(build: Build) -> None:
    text = "# One\n\n[Download it](../exercises/doubling.ipynb), or [see](../chapter.md).\n"
    page = new_notebook(cells=[new_code_cell("x = [1]"), new_markdown_cell(text)])
    files = FILES | {"chapters/one.ipynb": json.dumps(split_lines(page), indent=1)}
    files |= {"exercises/doubling.ipynb": nbformat.writes(NOTEBOOK)}
    files["_toc.yml"] = files["_toc.yml"].replace(
        "file: chapter\n", "file: chapter\n  - file: chapters/one\n"
    )

    built = build(files, *EXTENSIONS, external_toc_exclude_missing=True)

    links = BeautifulSoup(built.page("chapters/one"), "html.parser").find_all("a", download=True)
    (target,) = [link["href"] for link in links]
    handed_out = built.folder / "chapters" / str(target)
    assert handed_out.read_text(encoding="utf-8") == files["exercises/doubling.ipynb"]


def test_each_solution_notebook_of_the_course_is_in_the_book() -> None:
    course = Path(__file__).parents[3]
    toc = yaml.safe_load((course / "_toc.yml").read_text(encoding="utf-8"))
    listed = [each["file"] for part in toc["parts"] for each in part["chapters"]]

    stems = sorted(path.stem for path in (course / "solutions").glob("*.ipynb"))
    assert [each for each in listed if each.startswith("solutions/")] == [
        f"solutions/{stem}" for stem in stems
    ]
