"""What a search engine or a message shows of a page: its title, and its first sentences."""

from __future__ import annotations

import html
import textwrap
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LENGTH = 200  # what is shown of a description, about


def description(doctree: nodes.document) -> str:
    """The beginning of a page's first paragraph outside boxes, cells and lists; formulas as source."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.document):
            words = " ".join(paragraph.astext().split())
            return textwrap.shorten(words, LENGTH, placeholder=" …")
    return ""


def tags(title: str, site: str, text: str, address: str) -> str:
    """The elements that say so, for a page's head; what isn't known is left out."""
    said = {"og:type": "article", "og:site_name": site, "og:title": title, "og:description": text}
    said["og:url"] = address
    elements = [
        f'<meta property="{name}" content="{html.escape(value)}" />' for name, value in said.items() if value
    ]
    if text:
        elements.append(f'<meta name="description" content="{html.escape(text)}" />')
    return "\n".join(elements)


def _put_in(app: Sphinx, page: str, _: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    if doctree is None:
        return
    title = app.env.titles[page].astext()
    address = str(context.get("pageurl") or "")
    found = tags(title, app.config.html_title or app.config.project, description(doctree), address)
    context["metatags"] = "\n".join([context.get("metatags", ""), found])


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to each page."""
    app.connect("html-page-context", _put_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
