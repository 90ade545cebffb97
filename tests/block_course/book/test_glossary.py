"""A page links each term of the glossary once, where prose first has it, and says there what it means."""

import pytest
from bs4 import BeautifulSoup, Tag

from .conftest import Build, Built

pytestmark = pytest.mark.slow

GLOSSARY = """# Terms

```{glossary}
norm
  What rescales a token.

layer norm
layer normalization
  A norm over `D` features.

  More of it.

KV cache
  Keys and values that stay.

token
  One row.

branch
  What reads the stream.
```
"""
EXTENSION = "block_course.book.glossary"


def build_pages(build: Build, *texts: str, glossary: str = GLOSSARY, **config: object) -> Built:
    """A book of one page for each text, page0, page1 and so on, and the glossary."""
    files = {f"page{number}.md": f"# A page\n\n{text}\n" for number, text in enumerate(texts)}
    listed = "\n".join([*(name.removesuffix(".md") for name in files), "terms"])
    files |= {"index.md": f"# Home\n\n```{{toctree}}\n{listed}\n```\n", "terms.md": glossary}
    return build(files, EXTENSION, glossary_page="terms", **config)


def links(built: Built, page: str = "page0") -> list[Tag]:
    return BeautifulSoup(built.page(page), "html.parser").select("a.glossary-term")


def words(built: Built, page: str = "page0") -> list[str]:
    return [link.get_text() for link in links(built, page)]


def test_the_first_mention_is_a_link_with_the_definition_as_its_title(build: Build) -> None:
    (link,) = links(build_pages(build, "A token comes in. A token goes out.\n\nAnother token."))

    assert link.get_text() == "token"
    assert link["href"] == "terms.html#term-token"
    assert link["title"] == "One row."
    assert str(link.previous_sibling) == "A "
    assert str(link.next_sibling) == " comes in. A token goes out."


def test_the_longest_term_is_taken_and_synonyms_share_one_link(build: Build) -> None:
    built = build_pages(build, "Layer normalization is called layer norm; it is a norm.")

    assert words(built) == ["Layer normalization", "norm"]
    long, short = links(built)
    assert (long["href"], long["title"]) == ("terms.html#term-layer-norm", "A norm over D features.")
    assert (short["href"], short["title"]) == ("terms.html#term-norm", "What rescales a token.")


def test_plurals_capitals_bold_type_and_line_breaks_are_found(build: Build) -> None:
    found = {
        "Three tokens": "tokens",
        "Token by itself": "Token",
        "a layer\nnorm over two lines": "layer\nnorm",
        "the KV caches": "KV caches",
        "a **token** in bold": "token",
        "a token’s features": "token",
    }

    built = build_pages(build, *found)

    assert [words(built, f"page{number}") for number in range(len(found))] == [
        [word] for word in found.values()
    ]


def test_no_other_word_and_no_place_but_prose_has_a_link(build: Build) -> None:
    texts = [
        "tokenizer, subtoken, token-wise, pre-norm and a kv cache",
        "## The token",
        "`token` as code",
        "{math}`token` as a formula",
        "[a token](https://example.org)",
        "*The norm of a token*, which is a title",
        "| token |\n| --- |\n| norm |",
        "```python\ntoken = norm\n```",
        ":::{figure} https://example.org/a.png\nA token in a caption\n:::",
    ]

    built = build_pages(build, *texts, myst_enable_extensions=["colon_fence"])

    assert [words(built, f"page{number}") for number in range(len(texts))] == [[]] * len(texts)


def test_silent_terms_are_defined_and_not_linked(build: Build) -> None:
    built = build_pages(build, "A token and its norm.", glossary_silent=["token"])

    assert words(built) == ["norm"]


def test_only_the_pages_that_are_asked_for_have_links_and_never_the_glossary(build: Build) -> None:
    built = build_pages(build, "A token.", "A token.", glossary_linked=["*1", "terms"])

    assert [words(built, page) for page in ("page0", "page1", "terms")] == [[], ["token"], []]


def test_a_book_without_a_glossary_is_built_as_it_is(build: Build) -> None:
    built = build({"index.md": "# Home\n\nA token.\n"}, EXTENSION)

    assert not built.warnings
    assert links(built, "index") == []


def test_a_changed_definition_reaches_pages_that_did_not_change(build: Build) -> None:
    build_pages(build, "A token.")

    changed = {"terms.md": GLOSSARY.replace("One row.", "A row of features.")}
    again = build(changed, EXTENSION, glossary_page="terms")

    assert [link["title"] for link in links(again)] == ["A row of features."]


def test_pages_are_not_written_again_for_a_glossary_that_says_the_same(build: Build) -> None:
    first = build_pages(build, "A token.")
    written = (first.folder / "page0.html").stat().st_mtime_ns

    again = build({"terms.md": f"{GLOSSARY}\nMore words.\n"}, EXTENSION, glossary_page="terms")

    assert "More words." in again.page("terms")
    assert (again.folder / "page0.html").stat().st_mtime_ns == written
