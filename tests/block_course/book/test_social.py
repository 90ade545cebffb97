"""A page says what it is about where a link to it is shown."""

import pytest
from bs4 import BeautifulSoup

from block_course.book.social import tags

from .conftest import Build

pytestmark = pytest.mark.slow

SOCIAL = "block_course.book.social"
PAGE = """# Shapes & <axes>

:::{note}
A box comes first.
:::

Does "the same in" give the same out, with $x_t$ at each place?

Another paragraph.
"""


def said(page: str) -> dict[str, str]:
    found = BeautifulSoup(page, "html.parser").select("meta[property], meta[name=description]")
    return {str(each.get("property", each.get("name"))): str(each["content"]) for each in found}


def test_a_page_says_its_title_and_its_first_paragraph(build: Build) -> None:
    built = build(
        {"index.md": PAGE},
        SOCIAL,
        html_title="The book",
        myst_enable_extensions=["colon_fence", "dollarmath"],
        html_baseurl="https://example.org/book/",
    )

    words = "Does “the same in” give the same out, with x_t at each place?"
    assert said(built.page()) == {
        "og:type": "article",
        "og:site_name": "The book",
        "og:title": "Shapes & <axes>",
        "og:description": words,
        "og:url": "https://example.org/book/index.html",
        "description": words,
    }


def test_a_long_paragraph_is_cut_between_words(build: Build) -> None:
    built = build({"index.md": "# Home\n\n" + "sequence " * 40}, SOCIAL)

    text = said(built.page())["og:description"]
    assert len(text) <= 200
    assert text.endswith("sequence …")


def test_a_page_without_a_paragraph_has_no_description(build: Build) -> None:
    built = build({"index.md": "# Home\n"}, SOCIAL)

    assert set(said(built.page())) == {"og:type", "og:site_name", "og:title"}


def test_quotes_and_brackets_stay_text() -> None:
    assert 'content="a &quot;b&quot; &lt;c&gt;"' in tags('a "b" <c>', "", "", "")
