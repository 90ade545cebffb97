"""Author and year, in the text and before each entry of the bibliography: (Ba et al., 2016).

Two papers by the same authors in one year are told apart in references.bib: `year = {2016a}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pybtex.plugin
import sphinxcontrib.bibtex.plugin
from pybtex.style.formatting.unsrt import Style as UnsortedStyle
from pybtex.style.labels import BaseLabelStyle
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

if TYPE_CHECKING:
    from docutils import nodes
    from pybtex.database import Entry
    from sphinx.application import Sphinx


class AuthorYearLabels(BaseLabelStyle):  # type: ignore[misc]
    """Labels such as `Ba et al., 2016`, the words that a citation in the text uses."""

    def format_labels(self, entries: Sequence[Entry]) -> Iterator[str]:
        """Yield one label an entry, in the order given."""
        for entry in entries:
            names = [
                " ".join([*person.prelast_names, *person.last_names]).strip("{}")  # BibTeX's own, for a team
                for person in entry.persons["author"]
            ]
            authors = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
            yield f"{authors}, {entry.fields['year']}"


class AuthorYearEntries(UnsortedStyle):  # type: ignore[misc]
    """Entries sorted by author, each after its label."""

    default_label_style = AuthorYearLabels
    default_sorting_style = "author_year_title"


@dataclass
class AuthorYearCitations(AuthorYearReferenceStyle):
    """Citations in round brackets: (Ba et al., 2016; Xiong et al., 2020), Ba et al. (2016)."""

    bracket_parenthetical: BracketStyle = field(default_factory=lambda: BracketStyle("(", ")", "; "))
    bracket_textual: BracketStyle = field(default_factory=lambda: BracketStyle("(", ")"))


def _as_a_list(
    app: Sphinx, page: str, _: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """A bibliography is a list; docutils gives its entries a role that is deprecated and no list's."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app: Sphinx) -> dict[str, Any]:
    """Register `block_author_year` for bibtex_default_style and bibtex_reference_style."""
    name = "block_author_year"
    pybtex.plugin.register_plugin("pybtex.style.formatting", name, AuthorYearEntries)
    sphinxcontrib.bibtex.plugin.register_plugin(
        "sphinxcontrib.bibtex.style.referencing", name, AuthorYearCitations
    )
    app.connect("html-page-context", _as_a_list)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
