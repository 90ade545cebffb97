"""A chapter opens elsewhere by a button, if the book says where it lies."""

import json

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_markdown_cell, new_notebook
from sphinx.errors import ConfigError

from block_course.book.launching import options

from .conftest import Build

pytestmark = pytest.mark.slow

BUTTONS = {
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
    "notebook_interface": "jupyterlab",
}
ADDRESS = "https://github.com/someone/the-course"
CHAPTER = {"index.ipynb": json.dumps(new_notebook(cells=[new_markdown_cell("# Shapes", id="a")]))}


def links(build: Build, **given: object) -> dict[str, str]:
    theme = {"launch_buttons": BUTTONS, "repository_branch": "main", **given}
    built = build(
        CHAPTER, "block_course.book.launching", html_theme="sphinx_book_theme", html_theme_options=theme
    )
    assert (built.status, built.warnings) == (0, "")
    found = BeautifulSoup(built.page(), "html.parser").select(".dropdown-launch-buttons a")
    return {each.get_text(strip=True): str(each["href"]) for each in found}


def test_a_named_repository_makes_buttons_that_lead_to_the_chapter(build: Build) -> None:
    assert links(build, repository_url=ADDRESS) == {
        "Binder": "https://mybinder.org/v2/gh/someone/the-course/main?urlpath=lab/tree/index.ipynb",
        "Colab": "https://colab.research.google.com/github/someone/the-course/blob/main/index.ipynb",
    }


def test_a_deploy_workflow_names_it_by_a_variable(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOK_REPOSITORY", ADDRESS)

    assert links(build, repository_url="").keys() == {"Binder", "Colab"}


def test_without_a_repository_there_are_no_buttons(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOOK_REPOSITORY", raising=False)

    assert links(build, repository_url="") == {}


def test_the_configuration_goes_before_the_variable() -> None:
    assert (
        options({"repository_url": ADDRESS}, {"BOOK_REPOSITORY": "https://x.org/a/b"})["repository_url"]
        == ADDRESS
    )


@pytest.mark.parametrize("address", ["someone/the-course", "https://github.com/someone", "http://a.b/c/d"])
def test_what_is_no_address_of_a_repository_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="is https://HOST/OWNER/NAME, not "):
        options({}, {"BOOK_REPOSITORY": address})
