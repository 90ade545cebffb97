"""Author and year, the same words in the text and in the list."""

import re

import pytest

from .conftest import Build

pytestmark = pytest.mark.slow

EXTENSIONS = ("sphinxcontrib.bibtex", "block_course.book.bibliography")
ENTRY = "@misc{{{key}, author = {{{author}}}, title = {{On {key}}}, year = {{{year}}}}}\n"


def cited(build: Build, text: str, *entries: tuple[str, str, str]) -> str:
    references = "".join(ENTRY.format(key=key, author=author, year=year) for key, author, year in entries)
    page = f"# Home\n\n{text}\n\n```{{bibliography}}\n```\n"
    built = build(
        {"index.md": page, "references.bib": references},
        *EXTENSIONS,
        bibtex_bibfiles=["references.bib"],
        bibtex_default_style="block_author_year",
        bibtex_reference_style="block_author_year",
    )
    assert built.warnings == ""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", built.page()))


def test_a_citation_in_brackets_names_authors_and_year(build: Build) -> None:
    text = cited(
        build,
        "Norms help {cite:p}`one,two`.",
        ("one", "Ba, Jimmy and Kiros, Jamie and Hinton, Geoffrey", "2016"),
        ("two", "Zhang, Biao and Sennrich, Rico", "2019"),
    )

    assert "Norms help (Ba et al., 2016; Zhang and Sennrich, 2019)." in text


def test_a_citation_in_the_sentence_brackets_the_year_alone(build: Build) -> None:
    text = cited(build, "As {cite:t}`one` shows.", ("one", "Shazeer, Noam", "2020"))

    assert "As Shazeer (2020) shows." in text


def test_entries_are_sorted_by_author_and_begin_with_the_citations_words(build: Build) -> None:
    text = cited(
        build,
        "{cite:p}`one,two,three`",
        ("one", "Xiong, Ruibin and Yang, Yunchang and He, Di", "2020"),
        ("two", "van den Oord, Aaron and Li, Yazhe", "2018"),
        ("three", "Ba, Jimmy", "2016a"),
    )

    labels = re.findall(r"\[([^]]+), (\d{4}\w?)\]", text)
    assert labels == [("Ba", "2016a"), ("van den Oord and Li", "2018"), ("Xiong et al.", "2020")]
