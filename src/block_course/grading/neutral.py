"""A learner's text made harmless: nothing in it acts on a terminal, a spreadsheet or a reader's eye."""

from __future__ import annotations

import unicodedata

LONGEST_LINE = 300
LONGEST_TEXT = 64 << 10

_FORMULA = tuple("=+-@＝＋－＠")


def one_line(text: str, limit: int = LONGEST_LINE) -> str:
    """The text on one line, cut at `limit`; what can't be seen (controls, text direction) is spelled out."""
    return _cut("".join(map(_visible, " ".join(text[: 4 * limit].split()))), limit)


def lines(text: str, limit: int = LONGEST_TEXT) -> str:
    """The text with its line ends, cut at `limit`; what can't be seen is spelled out."""
    kept = _cut(text.replace("\r\n", "\n"), limit)
    return "\n".join("".join(map(_visible, line.expandtabs())) for line in kept.split("\n"))


def spreadsheet(text: str) -> str:
    """One line for a cell of a table; what a spreadsheet would take for a formula gets a `'` before it."""
    plain = one_line(text)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain


def storable(name: str) -> str:
    """A file's or a person's name as it is, except for bytes that are no text: those are spelled out."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode("ascii")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
