"""Real frames, and what becomes of them in the hands of an enemy who knows how frames are made."""

import json
import random
import struct
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np

from block_course.exercise import Manner
from block_course.grading import reply, wire
from block_course.grading.wire import Frame, Gone, Malformed, WireError, decode, encode
from tests.block_course.grading.examples import DOUBLE, SECRET, TINY

Json = Any

_CASE = DOUBLE.cases(SECRET.generator(TINY.stem, DOUBLE.id))[0]
REAL = tuple(
    map(
        encode,
        [
            Frame({"walls": ["private session", "seccomp", "landlock"]}),
            Frame({"refused": "landlock: Operation not permitted"}),
            Frame({"do": "cell", "name": "cell 3"}, (np.frombuffer(b"x = 1\nprint(x)", np.uint8),)),
            Frame({"status": "done", "message": ""}),
            Frame({"status": "raised", "message": "line 2: ValueError: é\u2028", "kinds": []}),
            reply.request(
                "double", Manner("numpy", "function", (), ("np.mean",)), _CASE, [["x", 0, "<f8", [2, 3]]], "0"
            ),
            Frame({"status": "returned", "message": "", "kinds": ["float64"]}, (np.ones((2, 3)),)),
            Frame(
                {"status": "returned", "message": "", "kinds": ["bool", "int64", "float32"]},
                (np.zeros((3, 2), np.bool_), np.arange(4), np.ones((0, 5), np.float32)),
            ),
            Frame({"ask": "vjp"}, (np.ones((1, 2, 4), np.float32), np.ones((1, 2, 4), np.float32))),
        ],
    )
)
"""One of each kind that passes between the grader and the box."""

_WORDS = ("head", "arrays", "status", "kinds", "message", "ask", "walls", "returned", "f8", "b1", "O", "")
_NUMBERS = (0, -1, 1, 7, 2**31, 2**63, 10**400, wire.MAX_ARRAY_BYTES, wire.MAX_ARRAY_BYTES + 1, 0.5, 1e308)
_TEXTS = ("\ud800", "\x00", "é" * 40, "[" * 60, "\u202e", "NaN")
_SHAPES = ([], [0], [2, 3], [1] * 8, [1] * 9, [0, 1 << 26], [1 << 20, 1 << 20], [-1], [True], [1.0], "2")
_RAW = (b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"[" * 3000, b"{", b"\xff", b'"\\udfff"', b"// no", b"")


def mutated(chance: random.Random) -> bytes:
    """A real frame after one to four changes: of its values, its announcements, its text or its bytes."""
    data = chance.choice(REAL)
    for _ in range(chance.randint(1, 4)):
        data = chance.choice(_CHANGES)(data, chance)
    return data


def read_from(data: bytes, asked: Callable[[int], None] = lambda size: None) -> Callable[[int], bytes]:
    """A `read` for `decode` that never gets more than a frame may hold; `asked` hears of each size."""
    file = BytesIO(data)

    def read(size: int) -> bytes:
        assert 0 <= size <= wire.MAX_ARRAY_BYTES
        asked(size)
        part = file.read(size)
        if len(part) < size:
            raise Gone("the bytes are at an end")
        return part

    return read


def taken(data: bytes, reads: Counter[int] | None = None) -> str:
    """Take bytes as the grader takes a child's, in every way in which it does; how that ended.

    `reads` counts the frames by the number of reads that they took.
    """
    sizes: list[int] = []
    try:
        frame = decode(read_from(data, sizes.append))
    except WireError as error:
        return type(error).__name__
    finally:
        if reads is not None:
            reads[len(sizes)] += 1
    assert sum(array.nbytes for array in frame.arrays) <= wire.MAX_ARRAY_BYTES
    assert all(array.dtype.str[1:] in wire.DTYPES for array in frame.arrays)
    assert encode(frame)
    for look in (reply.walls, reply.outcome, reply.question, lambda frame: reply.observation(frame, {})):
        try:
            look(frame)
        except Malformed:
            continue
    return "frame"


def _parts(data: bytes) -> tuple[bytes, bytes]:
    length = struct.unpack("<I", data[:4])[0] if len(data) >= 4 else 0
    return data[4 : 4 + length], data[4 + length :]


def _joined(header: bytes, body: bytes) -> bytes:
    return struct.pack("<I", len(header)) + header + body


def _value_changed(data: bytes, chance: random.Random) -> bytes:
    header, body = _parts(data)
    try:
        value = json.loads(header)
    except (ValueError, RecursionError):
        return _text_changed(data, chance)
    return _joined(json.dumps(_changed(value, chance)).encode(), body)


def _changed(value: Json, chance: random.Random) -> Json:
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(sorted(value))
        return _changed_object(value, key, chance)
    if isinstance(value, list) and value and chance.random() < 0.8:
        place = chance.randrange(len(value))
        return [*value[:place], _changed(value[place], chance), *value[place + chance.randint(0, 1) :]]
    return _drawn(chance)


def _changed_object(value: dict[str, Json], key: str, chance: random.Random) -> dict[str, Json]:
    what = chance.random()
    if what < 0.1:
        return {name: each for name, each in value.items() if name != key}
    if what < 0.2:
        return {**value, chance.choice(_WORDS): _drawn(chance)}
    return {**value, key: _changed(value[key], chance)}


def _drawn(chance: random.Random) -> Json:
    kind = chance.randrange(8)
    if kind < 2:
        return chance.choice(_NUMBERS)
    if kind < 4:
        return chance.choice(_WORDS + _TEXTS)
    if kind == 4:
        return [chance.choice(sorted(wire.DTYPES)), chance.choice(_SHAPES)]
    if kind == 5:
        return [chance.choice(_WORDS)] * chance.choice((0, 1, 3, wire.MAX_ARRAYS + 1))
    return {chance.choice(_WORDS): None} if kind == 6 else chance.choice((None, True, [[[[[[[[[]]]]]]]]]))


def _announced_changed(data: bytes, chance: random.Random) -> bytes:
    header, body = _parts(data)
    specs = [
        [chance.choice((*sorted(wire.DTYPES), "O")), chance.choice(_SHAPES)]
        for _ in range(chance.randint(0, 4))
    ]
    before, found, _ = header.rpartition(b'"arrays": ')
    return _joined(before + found + json.dumps(specs).encode() + b"}", body) if found else data


def _text_changed(data: bytes, chance: random.Random) -> bytes:
    header, body = _parts(data)
    place = chance.randrange(len(header) + 1)
    end = place + chance.choice((0, 0, 1, 5))
    return _joined(header[:place] + chance.choice(_RAW) + header[end:], body)


def _body_changed(data: bytes, chance: random.Random) -> bytes:
    header, body = _parts(data)
    more = chance.randbytes(chance.choice((0, 1, 8, 64)))
    return _joined(header, chance.choice((body + more, more, body[: len(body) // 2], more + body)))


def _length_changed(data: bytes, chance: random.Random) -> bytes:
    lengths = (0, 1, len(data), wire.MAX_HEADER_BYTES, wire.MAX_HEADER_BYTES + 1, 2**32 - 1)
    return struct.pack("<I", chance.choice(lengths)) + data[4:]


def _bytes_changed(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(min(len(changed), chance.randint(1, 3))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _spliced(data: bytes, chance: random.Random) -> bytes:
    other = chance.choice(REAL)
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other)) :]


_CHANGES = (
    _value_changed,
    _value_changed,
    _announced_changed,
    _text_changed,
    _body_changed,
    _length_changed,
    _bytes_changed,
    _spliced,
)
