"""A downloaded exercise says how to install the package."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from block_course.book.downloads import with_installation

from .conftest import Build

pytestmark = pytest.mark.slow

EXERCISE = new_notebook(
    cells=[new_markdown_cell("# Doubling\n\nWords.", id="title"), new_code_cell("x = 1", id="setup")]
)
FILES = {
    "index.md": "# Home\n\n{download}`one <exercises/doubling.ipynb>`, {download}`two <data.ipynb>`\n",
    "exercises/doubling.ipynb": json.dumps(EXERCISE),
    "data.ipynb": json.dumps(EXERCISE),
}
WITHOUT = {"exclude_patterns": ["exercises", "data.ipynb"]}


def downloaded(folder: Path, name: str) -> nbformat.NotebookNode:
    (path,) = (folder / "_downloads").glob(f"*/{name}")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_its_first_cell_says_how_and_the_rest_is_as_it_was(build: Build) -> None:
    built = build(FILES, "block_course.book.downloads", **WITHOUT)

    title, setup = downloaded(built.folder, "doubling.ipynb").cells
    assert title.source.startswith("# Doubling\n\nWords.\n\n*Is the package missing?*")
    assert "pip install '.[course]'" in title.source
    assert setup == EXERCISE.cells[1]


def test_other_downloads_are_left_alone(build: Build) -> None:
    built = build(FILES, "block_course.book.downloads", **WITHOUT)

    assert downloaded(built.folder, "data.ipynb") == EXERCISE


def test_a_named_repository_is_what_it_installs_from() -> None:
    told = with_installation(json.dumps(EXERCISE), "https://github.com/someone/the-course")

    assert (
        '%pip install "transformer-block[course] @ git+https://github.com/someone/the-course"'
        in json.loads(told)["cells"][0]["source"][-1]
    )


def test_a_notebook_without_text_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with a cell of text, and this one has none"):
        with_installation(json.dumps(new_notebook(cells=[new_code_cell("x = 1")])))
