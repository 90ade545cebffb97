"""Files of real notebooks after damage: to their values, to their text, to their bytes."""

import copy
import json
import random
from typing import Any

from block_course.grading.worker import EXERCISES

Json = Any

STEMS = ("03_layer_norm", "08_block")
_SOLUTIONS = EXERCISES.parent / "solutions"
RELEASED = {stem: (EXERCISES / f"{stem}.ipynb").read_bytes() for stem in STEMS}
REAL = {
    stem: (json.loads(RELEASED[stem]), json.loads((_SOLUTIONS / f"{stem}.ipynb").read_bytes()))
    for stem in STEMS
}
"""The notebooks that an assignment is handed in as: as it was released, and solved."""

_KEYS = (
    "cells",
    "cell_type",
    "source",
    "metadata",
    "nbgrader",
    "grade_id",
    "nbformat",
    "worksheets",
    "input",
)
_NAMES = ("layer_norm-forward", "layer_norm-forward-check", "block-forward", "code", "raw", "markdown", "x")
_TEXTS = ("\ud800", "x = '\udfff'", "\x00", "\u202e\u2028\x85", "%%time\n", "%", "!", "é" * 300, "x" * 70_000)
_NUMBERS = (0, -1, 1, 3, 4.0, 10**400, 1e308, float("nan"), float("-inf"), True, None)
_RAW = (b"NaN", b"1e999", b"9" * 5000, b"[" * 1200, b"{" * 90, b'"', b"\\", b"\\u", b'"\\ud800"', b",", b"//")
_BYTES = (b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe9", b"\r\n", b"\x1a", b"\xed\xa0\x80", b"}", b"]")


def damaged(stem: str, chance: random.Random) -> bytes:
    """The file of a notebook after one to four changes."""
    content = copy.deepcopy(chance.choice(REAL[stem]))
    for _ in range(chance.randint(0, 3)):
        content = chance.choice(_CHANGES)(content, chance)
    data = _written(content, chance)
    for _ in range(chance.choice((0, 0, 1, 2))):
        data = chance.choice(_BYTE_CHANGES)(data, chance)
    return data


def _place(content: Json, chance: random.Random) -> tuple[Json, Json]:
    """A list or object somewhere inside, and the key of one of its members."""
    within: Json = {"whole": content}
    key: Json = "whole"
    while isinstance(within[key], dict | list) and within[key] and chance.random() < 0.85:
        within = within[key]
        key = chance.choice([*within] if isinstance(within, dict) else range(len(within)))
    return within, key


def _other_value(content: Json, chance: random.Random) -> Json:
    within, key = _place(content, chance)
    within[key] = _value(chance)
    return within["whole"] if key == "whole" else content


def _value(chance: random.Random) -> Json:
    made: Json = chance.choice((*_TEXTS, *_NUMBERS, *_NAMES, [], {}, "list", "object", "deep"))
    if made == "list":
        return [_value(chance) for _ in range(chance.randint(1, 4))]
    if made == "object":
        return {chance.choice(_KEYS): _value(chance) for _ in range(3)}
    if made == "deep":
        deep: Json = "x = 1"
        for _ in range(chance.choice((3, 40, 400, 900))):
            deep = [deep] if chance.random() < 0.5 else {"source": deep}
        return deep
    return copy.deepcopy(made)


def _without_a_key(content: Json, chance: random.Random) -> Json:
    within, key = _place(content, chance)
    del within[key]
    return content


def _key_renamed(content: Json, chance: random.Random) -> Json:
    within, key = _place(content, chance)
    if isinstance(within, dict) and key != "whole":
        within[chance.choice((*_KEYS, *_TEXTS))] = within.pop(key)
    return content


def _wrapped(content: Json, chance: random.Random) -> Json:
    within, key = _place(content, chance)
    within[key] = [within[key]] * chance.choice((1, 2))
    return within["whole"] if key == "whole" else content


def _cells_moved(content: Json, chance: random.Random) -> Json:
    if isinstance(content, dict) and isinstance(content.get("cells"), list):
        chance.shuffle(content["cells"])
        content["cells"] *= chance.choice((1, 2))
    return content


def _as_nbformat_3(content: Json, chance: random.Random) -> Json:
    if isinstance(content, dict) and "cells" in content:
        content["worksheets"] = [{"cells": content.pop("cells")}, _value(chance)]
        content["nbformat"] = chance.choice((3, "3", 2, None))
    return content


def _cells_tagged(content: Json, chance: random.Random) -> Json:
    cells = content.get("cells") if isinstance(content, dict) else None
    for cell in cells if isinstance(cells, list) else ():
        if isinstance(cell, dict) and chance.random() < 0.5:
            cell["id"] = chance.choice(("", "same", 7, "\ud800", "x" * 3000, None))
            cell["attachments"] = {"a.png": {"image/png": chance.choice(("iVBOR", 0, ["x"]))}}
            if isinstance(cell.get("source"), list):
                cell["source"] = "".join(map(str, cell["source"]))
    return content


_CHANGES = (
    *(_other_value, _other_value, _without_a_key, _key_renamed, _wrapped),
    *(_cells_moved, _as_nbformat_3, _cells_tagged),
)


def _written(content: Json, chance: random.Random) -> bytes:
    text = json.dumps(content, indent=chance.choice((None, 1)), ensure_ascii=chance.random() < 0.5)
    encoding = chance.choice(("utf-8",) * 6 + ("utf-8-sig", "latin-1", "utf-16", "utf-32", "utf-16-be"))
    return text.encode(
        encoding, chance.choice(("surrogatepass", "replace")) if encoding != "latin-1" else "replace"
    )


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def _piece_out(data: bytes, chance: random.Random) -> bytes:
    start = chance.randint(0, len(data))
    return data[:start] + data[start + chance.randint(1, 400) :]


def _put_in(data: bytes, chance: random.Random) -> bytes:
    start = chance.choice((0, chance.randint(0, len(data))))
    return data[:start] + chance.choice((*_RAW, *_BYTES)) * chance.choice((1, 1, 2, 50)) + data[start:]


def _twice(data: bytes, chance: random.Random) -> bytes:
    """A key a second time, with another value."""
    key = f'"{chance.choice(_KEYS)}": '.encode()
    return data.replace(key, key + chance.choice((b"7, ", b"[], ", b"{}, ")) + key, chance.choice((1, -1)))


def _line_ends(data: bytes, chance: random.Random) -> bytes:
    return data.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\x00", b"")))


_BYTE_CHANGES = (_cut, _piece_out, _put_in, _put_in, _twice, _line_ends)
