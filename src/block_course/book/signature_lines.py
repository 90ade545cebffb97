"""A signature's parameters, each on its line, as lines and not as a list of definitions without terms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

# Sphinx writes <dl><dd>parameter</dd> … </dl> behind the opening bracket; no list lies inside
_PARAMETERS = re.compile(r'(<span class="sig-paren">[(\[]</span>)\s*<dl>(.*?)</dl>', re.DOTALL)


def as_lines(body: str) -> str:
    """A page's body whose signatures hold their parameters in lines."""

    def lines(found: re.Match[str]) -> str:
        inner = found[2].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
        return f"{found[1]}{inner}"

    return _PARAMETERS.sub(lines, body)


def _rewrite(app: Sphinx, page: str, _: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    if "body" in context:
        context["body"] = as_lines(context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to each page."""
    app.connect("html-page-context", _rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
