"""A learner's text made harmless: it acts on no terminal, page, spreadsheet, log or reader's eye."""

from __future__ import annotations

import hashlib
import html
import json
import re
import unicodedata
from typing import Any

LONGEST_LINE = 300
LONGEST_TEXT = 64 << 10

_FORMULA = re.compile(r"(^|[;,|]\s*)([\"'\s]*)(?=[=+\-@＝＋－＠])")
"""Its first sign, at the start of a cell, or where another program would have one start."""
_PLAIN_NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,62}[a-z0-9_]|[a-z0-9_]")
_PLAIN_STUDENT = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.@ -]{0,62}[A-Za-z0-9_])?")
_LIKE_OURS = re.compile(r".*-[0-9a-f]{16}")
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def one_line(text: str, limit: int = LONGEST_LINE) -> str:
    """The text on one line, cut at `limit`; what can't be seen (controls, text direction) is spelled out."""
    return _cut("".join(map(_visible, " ".join(text[: 4 * limit].split()))), limit)


def lines(text: str, limit: int = LONGEST_TEXT) -> str:
    """The text with its line ends, cut at `limit`; what can't be seen is spelled out."""
    kept = _cut(text.replace("\r\n", "\n"), limit)
    return "\n".join("".join(map(_visible, line.expandtabs())) for line in kept.split("\n"))


def terminal(text: str, limit: int = LONGEST_LINE) -> str:
    """One line for a terminal or a log; what a CI service would take for a command (`::`, `##`) is broken."""
    return one_line(text, limit).replace("::", ":\\x3a").replace("##", "#\\x23")


def markup(text: str) -> str:
    """A text that `one_line` or `lines` has made, for HTML and XML, inside an element or an attribute."""
    return html.escape(text, quote=True).replace("::", ":&#58;").replace("##", "#&#35;")


def markdown(text: str, limit: int = LONGEST_LINE) -> str:
    """One line as a span of code, where Markdown looks for no link, image, mention or HTML."""
    plain = terminal(text, limit).replace("`", "\\x60").replace("|", "\\x7c")
    return f"`{plain}`" if plain else ""


def as_json(value: Any, indent: int | None = None) -> str:
    """The value in ASCII, with nothing that a CI service would take for a command in a log."""
    return json.dumps(value, indent=indent, allow_nan=False).replace("##", "#\\u0023")


def file_name(text: str) -> str:
    """A name for a file or folder on any system, which no other text gets.

    A plain name in lower case stays; another keeps what is plain in it, before a digest that tells it apart.
    """
    is_plain = _PLAIN_NAME.fullmatch(text) and not _LIKE_OURS.fullmatch(text) and not _DEVICES.fullmatch(text)
    if is_plain:
        return text
    letters = unicodedata.normalize("NFKD", text[:200]).encode("ascii", "ignore").decode("ascii").lower()
    kept = re.sub(r"[^a-z0-9]+", "-", letters)[:40].strip("-") or "x"
    return f"{kept}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def student_id(text: str) -> str:
    """A learner's name for nbgrader, which makes folders of it: as it is where it is plain."""
    is_plain = _PLAIN_STUDENT.fullmatch(text) and not _LIKE_OURS.fullmatch(text)
    return text if is_plain else file_name(text)


def spreadsheet(text: str) -> str:
    """One line for a cell of a table; what a spreadsheet would take for a formula gets a `'` before it.

    That a program might part cells at semicolons where we part them at commas is thought of too.
    """
    return _FORMULA.sub(r"\1'\2", one_line(text)).replace("##", "#\\x23")


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
