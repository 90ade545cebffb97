"""A submitted notebook as data: bytes in, cells out, everything bounded, nothing run."""

from __future__ import annotations

import codecs
import gc
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

MAX_FILE_BYTES = 64 << 20
MAX_PIECES = 2_000_000
"""Texts, numbers, lists and the like. 64 MB could hold ten times as many, which take gigabytes of memory."""
MAX_CELLS = 10_000
MAX_CELL_CHARACTERS = 4 << 20

Json = Any
Kind = Literal["code", "markdown", "raw"]

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PIECE = re.compile(r'"[^"]*+"?|[\[{,]')
"""What begins a value of JSON, or parts it from the next, in a text without escapes."""
_KINDS: dict[str, Kind] = {
    "code": "code",
    **dict.fromkeys(("markdown", "heading", "html"), "markdown"),
    "raw": "raw",
}
_WHAT: dict[type, str] = {
    list: "a list",
    dict: "an object",
    str: "a text",
    type(None): "null",
    int: "a number",
    float: "a number",
    bool: "true or false",
}


class Unreadable(Exception):
    """A file that no notebook can be read from; the message says what is wrong, and where."""


@dataclass(frozen=True)
class Cell:
    """One cell: its number in the file (from 1), what it is, its text, and nbgrader's data about it.

    `checksum` is of the cell as it was released.
    """

    number: int
    kind: Kind
    source: str
    grade_id: str | None = None
    locked: bool = False
    graded: bool = False
    solution: bool = False
    checksum: str | None = None


@dataclass(frozen=True)
class Notebook:
    """The cells of a file in order, and a note for each fault that was passed over."""

    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()


def read(data: bytes) -> Notebook:
    """The notebook in a file's bytes.

    What an honest file may have gone through is passed over with a note: a byte order mark, another encoding,
    nbformat 3, a cell's text as a list or as one string, metadata that is missing or of the wrong shape, null
    bytes, half surrogate pairs.

    Raises Unreadable if no cells can be had.
    """
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(f"the file has {len(data) >> 20} MB; the limit is {MAX_FILE_BYTES >> 20} MB")
    text, notes = _decode(data)
    content = _parse(text)
    if not isinstance(content, dict):
        raise Unreadable(f"the file is valid JSON, but {_WHAT[type(content)]} and not a notebook")
    version = content.get("nbformat", 4)
    if version != 4:
        # one that is nested as deeply as can be read can't be shown
        said = str(version)[:20] if isinstance(version, int | float | str) else _WHAT[type(version)]
        notes.append(f"nbformat is {said}, not 4")
    listed = _cells(content)
    if len(listed) > MAX_CELLS:
        raise Unreadable(f"the notebook has {len(listed)} cells; the limit is {MAX_CELLS}")
    cells = [_cell(number, each, notes) for number, each in enumerate(listed, 1)]
    return Notebook(tuple(each for each in cells if each is not None), tuple(notes))


def _decode(data: bytes) -> tuple[str, list[str]]:
    if not data.strip(b"\x00 \t\r\n"):
        raise Unreadable("the file is empty" if not data else "the file holds nothing but white space")
    if data.startswith(_UTF_16):
        try:
            return data.decode("utf-16"), ["the file is in UTF-16, not UTF-8"]
        except UnicodeDecodeError as error:
            raise Unreadable(f"the file looks like UTF-16 but isn't, at byte {error.start}") from None
    notes = ["the file begins with a byte order mark"] if data.startswith(codecs.BOM_UTF8) else []
    try:
        return data.decode("utf-8-sig"), notes
    except UnicodeDecodeError as error:
        notes.append(f"the file is not UTF-8 at byte {error.start}; read as Latin-1")
        return data.decode("latin-1"), notes


def _parse(text: str) -> Json:
    if _has_too_many_pieces(text):
        what = f"the file holds more than {MAX_PIECES:,} texts, numbers and lists"
        raise Unreadable(f"{what}; outputs hold most of them, so clear those and hand it in again")
    try:
        # strict=False: control characters inside a text are damage, not another meaning
        with _no_collecting():
            return json.loads(text, strict=False)
    except RecursionError:
        raise Unreadable("the file is JSON nested too deeply for a notebook") from None
    except json.JSONDecodeError as error:
        end = len(text.rstrip())
        cut = "; the file looks cut off" if error.pos >= end or "Unterminated" in error.msg else ""
        where = f"line {error.lineno}, column {error.colno}"
        raise Unreadable(f"the file is not valid JSON at {where}: {error.msg}{cut}") from None
    except ValueError as error:
        raise Unreadable(f"the file is not valid JSON: {str(error)[:80]}") from None


def _has_too_many_pieces(text: str) -> bool:
    """Whether the file holds too much. It is read once, without building anything of what it holds."""
    if sum(map(text.count, '"[{,')) <= MAX_PIECES:
        return False
    without_escapes = text.replace("\\\\", "").replace('\\"', "")
    return next(islice(_PIECE.finditer(without_escapes), MAX_PIECES, None), None) is not None


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Without looks for garbage: there is none, and they take most of the time of a file of many lists."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _cells(content: Mapping[str, Json]) -> list[Json]:
    cells = content.get("cells")
    if isinstance(cells, list):
        return cells
    worksheets = content.get("worksheets")
    if cells is None and isinstance(worksheets, list):
        pages = [each["cells"] for each in worksheets if isinstance(each, dict) and "cells" in each]
        return [cell for page in pages if isinstance(page, list) for cell in page]
    raise Unreadable(
        "the file is valid JSON, but has no cells" if cells is None else "the notebook's cells are no list"
    )


def _cell(number: int, content: Json, notes: list[str]) -> Cell | None:
    if not isinstance(content, dict):
        notes.append(f"cell {number} is no cell; left out")
        return None
    kind = _kind(number, content, notes)
    source = _source(number, content.get("source", content.get("input", "")), notes)
    nbgrader = _nbgrader(content)
    grade_id, checksum = nbgrader.get("grade_id"), nbgrader.get("checksum")
    return Cell(
        number,
        kind,
        source,
        grade_id=grade_id if isinstance(grade_id, str) else None,
        locked=nbgrader.get("locked") is True,
        graded=nbgrader.get("grade") is True,
        solution=nbgrader.get("solution") is True,
        checksum=checksum if isinstance(checksum, str) else None,
    )


def _kind(number: int, content: Mapping[str, Json], notes: list[str]) -> Kind:
    said = content.get("cell_type")
    known = _KINDS.get(said) if isinstance(said, str) else None
    if known is None:
        known = "code" if "outputs" in content else "raw"  # only code cells have outputs
        notes.append(f"cell {number} doesn't say what it is; read as a {known} cell")
    return known


def _source(number: int, content: Json, notes: list[str]) -> str:
    text = content
    if isinstance(content, list):
        lines = [each for each in content if isinstance(each, str)]
        text = "".join(lines)
        if len(lines) < len(content):
            notes.append(f"cell {number} has lines that are no text; read without them")
    if not isinstance(text, str):
        notes.append(f"cell {number} has no text")
        return ""
    if len(text) > MAX_CELL_CHARACTERS:
        notes.append(f"cell {number} has {len(text)} characters, over the limit; not run")
        return ""
    if "\x00" in text:
        notes.append(f"cell {number} holds null bytes; read without them")
        text = text.replace("\x00", "")
    whole = text.encode("utf-8", "replace").decode("utf-8")
    if whole != text:
        notes.append(f"cell {number} holds half a surrogate pair; read as ?")
    return whole


def _nbgrader(content: Mapping[str, Json]) -> Mapping[str, Json]:
    metadata = content.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return nbgrader if isinstance(nbgrader, dict) else {}
