"""The icon font cut down to the icons that the book shows, a few kilobytes inside the stylesheet."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FACE = re.compile(r"@font-face\s*\{[^}]*?(?:Font ?Awesome|FontAwesome)[^}]*\}", re.IGNORECASE)
_FONT = re.compile(r"""url\("?([^)"]+\.ttf)"?\)""")
_SHOWN = re.compile(r"""["'](?:\\([0-9a-fA-F]{2,6})\s?|(.))["']""")
_SOURCE = re.compile(r"src:[^;}]*")


def points(css: str) -> set[int]:
    r"""The characters that a stylesheet shows by itself: those of `content: "\f0c9"`."""
    return {int(digits, 16) if digits else ord(letter) for digits, letter in _SHOWN.findall(css)}


def cut_down(font: Path, kept: Iterable[int]) -> bytes | None:
    """A font with some characters only, as WOFF; None if it has none of them."""
    from fontTools import subset  # type: ignore[import-untyped]  # a third of a second to import

    options = subset.Options(flavor="woff", layout_features=[], hinting=False, notdef_outline=True)
    with subset.load_font(str(font), options) as cut:
        wanted = set(kept) & set(cut.getBestCmap())
        if not wanted:
            return None
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=wanted)
        subsetter.subset(cut)
        written = io.BytesIO()
        subset.save_font(cut, written, options)
    return written.getvalue()


def inlined(css: str, folder: Path) -> str:
    """A stylesheet that carries its icons: each icon font becomes data, without what is never shown."""
    shown = points(css)

    def carried(face: re.Match[str]) -> str:
        font = _FONT.search(face[0])
        data = cut_down(folder / font[1], shown) if font else None
        if data is None:
            return ""
        address = "data:font/woff;base64," + base64.b64encode(data).decode("ascii")
        return _SOURCE.sub(lambda _: f'src:url("{address}") format("woff")', face[0])

    return _FACE.sub(carried, css)
