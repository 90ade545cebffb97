"""A page asks for one stylesheet and one script, and both hold what the page needs."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from sphinx.errors import ExtensionError

from block_course.book import lean

from .conftest import Build, Built

pytestmark = pytest.mark.slow

LEAN = "block_course.book.lean"
THEME = {"html_theme": "sphinx_book_theme", "html_theme_options": {"secondary_sidebar_items": []}}
FILES = {
    "index.md": "# Home\n\n```{toctree}\nsecond\n```\n",
    "second.md": "# Second\n\n:::{note}\nA note.\n:::\n",
    "_static/extra.css": ".note .on-no-page{top:0} .later p{top:0} .note p{margin:1px}",
}


def made(build: Build, files: dict[str, str], **config: object) -> Built:
    built = build(files, LEAN, "sphinx_copybutton", html_static_path=["_static"], **{**THEME, **config})
    assert (built.status, built.warnings) == (0, "")
    return built


@pytest.fixture
def built(build: Build) -> Built:
    return made(build, FILES, html_css_files=["extra.css"], myst_enable_extensions=["colon_fence"])


def loaded(page: str) -> list[str]:
    soup = BeautifulSoup(page, "html.parser")
    sheets = [str(each["href"]) for each in soup.select("link[rel=stylesheet]")]
    return sheets + [str(each["src"]) for each in soup.select("script[src]")]


@pytest.mark.parametrize("name", ["index", "second", "genindex"])
def test_a_page_loads_one_stylesheet_and_one_script(built: Built, name: str) -> None:
    sheet, script = loaded(built.page(name))

    assert re.fullmatch(r"_static/book\.css\?v=[0-9a-f]{8}", sheet)
    assert script == sheet.replace("css", "js")


def test_the_page_of_search_loads_its_own_scripts_after_the_common_one(built: Built) -> None:
    scripts = [url.partition("?")[0] for url in loaded(built.page("search"))[1:]]

    assert scripts == [
        "_static/book.js",
        "_static/searchtools.js",
        "_static/language_data.js",
        "searchindex.js",
    ]
    assert not re.search(r"<script src", built.page("search")), "each is deferred, so they run in order"


def test_the_stylesheet_has_what_pages_use_and_not_the_rest(built: Built) -> None:
    css = (built.folder / "_static" / "book.css").read_text(encoding="utf-8")

    assert ".note p{margin:1px}" in css
    assert ".on-no-page" not in css
    assert ".fa-bars:before" in css
    assert ".fa-truck" not in css
    assert "data:font/woff" in css


def test_what_they_are_made_from_is_not_in_the_book(built: Built) -> None:
    left = {
        path.relative_to(built.folder / "_static").as_posix() for path in _files(built.folder / "_static")
    }

    assert not {name for name in left if name.endswith((".css", ".map", ".ttf", ".woff2"))} - {"book.css"}
    assert not {name for name in left if "fontawesome.js" in name and "LICENSE" not in name}


def test_a_second_build_with_another_element_finds_its_style(build: Build, built: Built) -> None:
    before = built.page("index")

    after = made(
        build,
        {"second.md": "# Second\n\n:::{note}\n:class: later\nA note.\n:::\n"},
        html_css_files=["extra.css"],
        myst_enable_extensions=["colon_fence"],
    )

    css = (after.folder / "_static" / "book.css").read_text(encoding="utf-8")
    assert ".later p" in css
    assert loaded(after.page("index")) != loaded(before), "a browser must not take the old stylesheet"
    assert loaded(after.page("index"))[0] == loaded(after.page("second"))[0]


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_page_does_not_lay_out_all_of_itself_as_it_loads(built: Built) -> None:
    script = (built.folder / "_static" / "book.js").read_text(encoding="utf-8")

    assert "data-bs-spy" not in built.page("index")
    assert "data-bs-target" in built.page("index")
    assert 'addEventListener("load",' not in script.rpartition("scrollWidth>")[2]


@pytest.mark.parametrize(
    "script", ["", '"complete"===document.readyState?P():window.addEventListener("load",Q)']
)
def test_another_theme_that_looks_for_boxes_otherwise_fails_the_build(script: str) -> None:
    with pytest.raises(ExtensionError, match="in 0 places; 1 was known"):
        lean.without_boxes(script)
