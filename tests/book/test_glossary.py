"""The glossary: each term is defined in words that fit a tooltip, and met in the chapter that it names."""

import json
import re
from typing import NamedTuple

import pytest

from .conftest import COURSE

LONGEST = 260


class Entry(NamedTuple):
    terms: list[str]
    paragraphs: list[str]

    @property
    def chapters(self) -> list[str]:
        return re.findall(r"\]\((\d\d_\w+)\)", " ".join(self.paragraphs[1:]))

    @property
    def names(self) -> list[str]:
        """Its terms, and in emphasis what the chapter says in their place."""
        said = re.findall(r"\*([^*]+)\*", " ".join(self.paragraphs[1:]))
        return [name.lower().replace("_", " ") for name in (*self.terms, *said)]


def entries() -> list[Entry]:
    page = (COURSE / "chapters" / "glossary.md").read_text(encoding="utf-8")
    (body,) = re.findall(r"```\{glossary\}\n(?::\w+:\n)*\n(.*?)\n```", page, re.DOTALL)
    found = []
    for block in re.split(r"\n\n(?=\S)", body):
        lines = block.splitlines()
        terms = [line for line in lines if line.strip() and not line.startswith(" ")]
        text = "\n".join(line.strip() for line in lines if line.startswith(" ") or not line)
        found.append(Entry(terms, [part for part in text.split("\n\n") if part]))
    return found


ENTRIES = entries()


def prose(chapter: str) -> str:
    cells = json.loads((COURSE / "chapters" / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = " ".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return " ".join(text.lower().replace("*", "").split())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.terms[0])
def test_a_definition_fits_a_tooltip_and_names_its_chapter(entry: Entry) -> None:
    definition = entry.paragraphs[0]

    assert not re.search(r"[$`*\[\]]", definition), "a tooltip has no formulas, marks or links"
    assert definition.endswith(".")
    assert len(definition) <= LONGEST
    assert entry.chapters, "a chapter introduces it"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.terms[0])
def test_a_term_is_met_in_the_chapter_that_is_said_to_introduce_it(entry: Entry) -> None:
    text = prose(entry.chapters[0])

    assert any(name in text for name in entry.names)


def test_no_term_is_defined_twice_and_the_order_is_the_alphabet_s() -> None:
    terms = [term.lower() for entry in ENTRIES for term in entry.terms]
    first = [entry.terms[0].lower() for entry in ENTRIES]

    assert len(set(terms)) == len(terms)
    assert first == sorted(first)
