"""An element that computes in the page, around a table that stands there without it.

The table holds true numbers of the package. It is what is left in print, in a notebook
that is not trusted, and where no script runs; the element begins from `start`.
"""

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from transformer_block._page_table import page_table

_SHARED = ("arithmetic", "element")


@dataclass(frozen=True)
class Explorable:
    """What an `explore_…` function returns; a notebook shows it.

    subject names the element and its script. rows are worked examples under head, and
    start is what the element begins from, as JSON can say it.
    """

    subject: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    start: Mapping[str, Any]

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """Give the page its HTML, and a terminal the plain table."""
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def _repr_html_(self) -> str:
        """Wrap the table in the element that computes; no network is needed."""
        tag = f"explore-{self.subject.replace('_', '-')}"
        start = html.escape(json.dumps(self.start, separators=(",", ":")))
        return (
            f'<{tag} class="tex2jax_ignore mathjax_ignore" data-start="{start}">'
            f"{page_table(self.title, self.head, self.rows)}</{tag}>"
            f'<script type="module">\n{script(self.subject)}</script>'
        )

    def __str__(self) -> str:
        """The worked examples in columns."""
        lines = [self.head, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(map(str.ljust, line, widths)).rstrip() for line in lines
        )

    def __repr__(self) -> str:
        """As str: a cell's plain text is the table."""
        return str(self)


@cache
def script(subject: str) -> str:
    """One module for the page: the arithmetic, what all elements share, the element."""
    here = resources.files(__package__)
    files = (here.joinpath(f"{name}.js") for name in (*_SHARED, subject))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)
