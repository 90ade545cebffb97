"""Figures that keep their place before they are loaded, and are loaded when a reader comes near.

A page of ten figures would else ask for all of them at once, beside the stylesheet that its first view waits
for, and text would move as each arrives.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.builders.html import StandaloneHTMLBuilder

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_FIGURE = re.compile(r'<img (?![^>]*\bloading=)([^>]*?\bsrc="([^"]*_images/[^"]+\.svg)"[^>]*?) ?/?>')
_SIZE = re.compile(r'<svg [^>]*?\bwidth="([\d.]+)pt" height="([\d.]+)pt"')
_PIXELS_PER_POINT = 4 / 3
_HEAD = 1000  # characters of a file, in which its size stands


def placed(page: str, folder: Path) -> str:
    """A page of that folder whose figures say how large they are, and that they may come late."""

    def told(figure: re.Match[str]) -> str:
        with open(folder / figure[2], encoding="utf-8") as file:
            size = _SIZE.search(file.read(_HEAD))
        if size is None:
            return figure[0]
        width, height = (round(float(each) * _PIXELS_PER_POINT) for each in size.groups())
        return f'<img {figure[1]} width="{width}" height="{height}" loading="lazy" />'

    return _FIGURE.sub(told, page)


def _place(app: Sphinx, exception: Exception | None) -> None:
    if exception or not isinstance(app.builder, StandaloneHTMLBuilder):
        return
    for name in app.env.found_docs:
        path = Path(app.builder.get_outfilename(name))
        page = path.read_text(encoding="utf-8")
        changed = placed(page, path.parent)
        if changed != page:
            path.write_text(changed, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect after the figures have been copied."""
    app.connect("build-finished", _place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
