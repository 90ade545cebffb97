"""On each page, the first time that a term of the glossary is met in the text, it links to its definition.

The glossary is a page with MyST's `{glossary}`; the first paragraph under a term is its definition, which the
link carries as its title: a tooltip, what a screen reader says after the link, and what glossary.css shows
below a link that has the keyboard's focus. Terms in headings, code, formulas, links, captions, tables and
emphasis, which is also how titles are set, stand as they are. `glossary_silent` names terms that are defined
and not linked, because every page is made of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_NOT_PROSE = (
    nodes.title, nodes.rubric, nodes.literal, nodes.literal_block, nodes.doctest_block, nodes.math,
    nodes.math_block, nodes.reference, nodes.caption, nodes.legend, nodes.table, nodes.term, nodes.topic,
    nodes.raw, nodes.image, nodes.emphasis, nodes.footnote, nodes.citation, nodes.line_block,
    addnodes.pending_xref, addnodes.download_reference, addnodes.desc, addnodes.toctree, addnodes.glossary,
)  # fmt: skip


@dataclass(frozen=True)
class Definition:
    """Where a term is defined on the glossary's page, and how."""

    anchor: str
    text: str


def definitions(glossary: nodes.document) -> dict[str, Definition]:
    """The terms of a glossary's page; terms that share a definition are synonyms."""
    found: dict[str, Definition] = {}
    for item in glossary.findall(nodes.definition_list_item):
        paragraph = next(iter(item.findall(nodes.paragraph)), None)
        text = " ".join(paragraph.astext().split()) if paragraph else ""
        terms = list(item.findall(nodes.term))
        found |= {_plain(term): Definition(terms[0]["ids"][0], text) for term in terms}
    return found


def _plain(term: nodes.term) -> str:
    # a glossary keeps index entries inside its terms
    return "".join(child.astext() for child in term if not isinstance(child, addnodes.index)).strip()


def pattern(terms: Mapping[str, object]) -> re.Pattern[str]:
    """A term as whole words, or its plural; the longest first, the first letter in either case."""
    phrases = [r"\s+".join(map(re.escape, term.split())) for term in sorted(terms, key=len, reverse=True)]
    either = [
        f"[{phrase[0].lower()}{phrase[0].upper()}]{phrase[1:]}" if phrase[:2].islower() else phrase
        for phrase in phrases
    ]
    return re.compile(rf"(?<![\w’'-])(?P<term>{'|'.join(either)})(?P<plural>s?)(?![\w-])")


def link_first_mentions(page: nodes.document, terms: Mapping[str, Definition], target: str) -> set[str]:
    """Turn the first mention of each definition in a page's prose into a link; return the anchors linked."""
    if not terms:
        return set()
    finding, by_form = pattern(terms), {_form(term): definition for term, definition in terms.items()}
    linked: set[str] = set()
    for text in _runs(page):
        pieces = list(_pieces(str(text), finding, by_form, target, linked))
        if len(pieces) > 1:
            text.parent.replace(text, pieces)
    return linked


def _runs(page: nodes.document) -> Iterator[nodes.Text]:
    """The prose, in order; a line break in the source, which cuts a text in two, is mended first."""
    for first in list(page.findall(nodes.Text)):
        if first.parent is None or not _is_prose(first):
            continue
        place, run = first.parent.index(first), [first]
        for sibling in first.parent[place + 1 :]:
            if not isinstance(sibling, nodes.Text):
                break
            run.append(sibling)
        if len(run) > 1:
            joined = nodes.Text("".join(run))
            first.parent[place : place + len(run)] = [joined]
            for text in run:
                text.parent = None
            yield joined
        else:
            yield first


def _form(text: str) -> str:
    joined = " ".join(text.split())
    return joined[0].lower() + joined[1:] if not joined[1:2].isupper() else joined


def _pieces(
    text: str, finding: re.Pattern[str], by_form: Mapping[str, Definition], target: str, linked: set[str]
) -> Iterator[nodes.Node]:
    end = 0
    for match in finding.finditer(text):
        definition = by_form[_form(match["term"])]
        if definition.anchor in linked:
            continue
        linked.add(definition.anchor)
        yield nodes.Text(text[end : match.start()])
        yield nodes.reference(
            "", match[0], internal=True, refuri=f"{target}#{definition.anchor}", reftitle=definition.text,
            classes=["glossary-term"],
        )  # fmt: skip
        end = match.end()
    yield nodes.Text(text[end:])


def _is_prose(text: nodes.Text) -> bool:
    node: nodes.Node | None = text.parent
    in_paragraph = False
    while node is not None:
        if isinstance(node, _NOT_PROSE) or "no-glossary" in _classes(node):
            return False
        in_paragraph = in_paragraph or isinstance(node, nodes.paragraph)
        node = node.parent
    return in_paragraph


def _classes(node: nodes.Node) -> list[str]:
    return list(node["classes"]) if isinstance(node, nodes.Element) else []


def _terms(env: BuildEnvironment) -> dict[str, Definition]:
    page = env.config.glossary_page
    return definitions(env.get_doctree(page)) if page in env.all_docs else {}


def _rewrite_when_terms_change(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """After reading: pages that stand as they were are written again if the glossary says something else."""
    app.glossary_terms = _terms(env)  # type: ignore[attr-defined]
    said = hashlib.sha256(repr(app.glossary_terms).encode()).hexdigest()  # type: ignore[attr-defined]
    before, env.glossary_said = getattr(env, "glossary_said", None), said  # type: ignore[attr-defined]
    return [] if before == said else [page for page in env.all_docs if _has_links(app, page)]


def _has_links(app: Sphinx, page: str) -> bool:
    globs = app.config.glossary_linked
    return page != app.config.glossary_page and any(fnmatch(page, glob) for glob in globs)


def _start(app: Sphinx) -> None:
    if app.builder.format == "html":
        app.config.html_static_path.append(str(Path(__file__).parent / "assets" / "glossary"))
        app.add_css_file("glossary.css")


def _link(app: Sphinx, doctree: nodes.document, page: str) -> None:
    if app.builder.format != "html" or not _has_links(app, page):
        return
    terms = getattr(app, "glossary_terms", None)
    if terms is None:
        terms = app.glossary_terms = _terms(app.env)  # type: ignore[attr-defined]
    silent = {_form(term) for term in app.config.glossary_silent}
    spoken = {term: definition for term, definition in terms.items() if _form(term) not in silent}
    if spoken:
        target = app.builder.get_relative_uri(page, app.config.glossary_page)
        link_first_mentions(doctree, spoken, target)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the glossary's page, the pages that link to it, and the terms that don't."""
    app.add_config_value("glossary_page", "glossary", "env", types=(str,))
    app.add_config_value("glossary_linked", ["*"], "html", types=(list,))
    app.add_config_value("glossary_silent", [], "html", types=(list,))
    app.connect("builder-inited", _start)
    app.connect("env-updated", _rewrite_when_terms_change)
    app.connect("doctree-resolved", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
