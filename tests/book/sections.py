"""The sections of a page by the names that links use, and what stands in each."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from myst_parser.mdit_to_docutils.base import default_slugify

_LINK = re.compile(r"\]\((?P<page>\w+)\.ipynb#(?P<section>[\w-]+)\)")
_HEADING = re.compile(r"^(?P<marks>#{1,6}) (?P<title>.+)$", re.MULTILINE)


class Section(NamedTuple):
    """What stands between a heading and the next one: prose, and code cells with outputs, in order."""

    title: str
    depth: int
    parts: list[Any]

    @property
    def cells(self) -> list[Any]:
        """The code cells alone."""
        return [part for part in self.parts if not isinstance(part, str)]

    @property
    def prose(self) -> str:
        """The words alone."""
        return "\n\n".join(part for part in self.parts if isinstance(part, str))


class Link(NamedTuple):
    """Where a link into a section leads."""

    page: str
    section: str


def sections(page: Path) -> dict[str, Section]:
    """Give the sections of a notebook or a Markdown page, by the anchors that the book makes of titles."""
    found: dict[str, Section] = {}
    for part in _parts(page):
        if not isinstance(part, str):
            list(found.values())[-1].parts.append(part)
            continue
        prose, *headings = re.split(r"^(?=#{1,6} )", part, flags=re.MULTILINE)
        if prose.strip():
            list(found.values())[-1].parts.append(prose.strip())
        for text in headings:
            heading = _HEADING.match(text)
            assert heading is not None
            rest = text[heading.end() :].strip()
            title = heading["title"].strip()
            found[_anchor(title, found)] = Section(title, len(heading["marks"]), [rest] if rest else [])
    return found


def links(prose: str) -> list[Link]:
    """List the links into sections of notebooks."""
    return [Link(link["page"], link["section"]) for link in _LINK.finditer(prose)]


def _parts(page: Path) -> Iterator[Any]:
    if page.suffix == ".md":
        yield page.read_text(encoding="utf-8")
        return
    for cell in nbformat.read(page, as_version=4).cells:
        yield cell.source if cell.cell_type == "markdown" else cell


def _anchor(title: str, taken: dict[str, Section]) -> str:
    anchor = default_slugify(title)
    number = 1
    while anchor in taken:
        anchor, number = f"{anchor}-{number}", number + 1
    return anchor
