"""Frames: all that passes between the grader and the box. A JSON header and raw arrays; never pickle.

```
frame  = length of the header (4 bytes, little-endian) · header · array bytes, one array after the other
header = {"head": {...}, "arrays": [["f8", [2, 3]], ...]}
```

The reader trusts nothing: whatever arrives, it gives a frame within the limits below or raises `WireError`.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Json = Any
"""What `json` reads: dict, list, str, int, float, bool, None."""

DTYPES = frozenset({"f2", "f4", "f8", "i4", "i8", "u1", "b1"})
MAX_HEADER_BYTES = 1 << 20
MAX_ARRAYS = 256
MAX_ARRAY_BYTES = 64 << 20
MAX_DIMENSIONS = 8
MAX_NESTING = 8

_LENGTH = struct.Struct("<I")


class WireError(Exception):
    """The other side can't be talked to any more."""


class Malformed(WireError):
    """Bytes came that are no frame."""


class Late(WireError):
    """The deadline passed."""


class Gone(WireError):
    """The other side closed the channel, or its process ended."""


@dataclass(frozen=True)
class Frame:
    """One message: a header of plain JSON values, and arrays of plain dtypes."""

    head: Mapping[str, Json]
    arrays: tuple[Array, ...] = ()


def encode(frame: Frame) -> bytes:
    """The bytes of a frame.

    Raises ValueError if the frame breaks a limit or holds a NaN in its header, TypeError for a value or a
    dtype that the wire doesn't carry.
    """
    arrays = [_little_endian(each) for each in frame.arrays]
    specs = [[each.dtype.str[1:], list(each.shape)] for each in arrays]
    header = json.dumps({"head": dict(frame.head), "arrays": specs}, allow_nan=False).encode("ascii")
    if len(header) > MAX_HEADER_BYTES:
        raise ValueError(f"a header of {len(header)} bytes is over the limit of {MAX_HEADER_BYTES}")
    try:
        _sizes(specs)
    except Malformed as error:
        raise ValueError(str(error)) from None
    return b"".join([_LENGTH.pack(len(header)), header, *(each.tobytes() for each in arrays)])


def decode(read: Callable[[int], bytes]) -> Frame:
    """The next frame from `read(n)`, which gives exactly n bytes or raises a WireError.

    Raises Malformed for anything that `encode` would not have written.
    """
    (length,) = _LENGTH.unpack(read(_LENGTH.size))
    if length > MAX_HEADER_BYTES:
        raise Malformed(f"a header of {length} bytes is over the limit of {MAX_HEADER_BYTES}")
    header = _parse(read(length))
    if not isinstance(header, dict) or set(header) != {"head", "arrays"}:
        raise Malformed("the header is not an object with head and arrays")
    if not isinstance(header["head"], dict):
        raise Malformed("head is not an object")
    specs = header["arrays"]
    sizes = _sizes(specs)
    arrays = tuple(_array(code, shape, read(size)) for (code, shape), size in zip(specs, sizes, strict=True))
    return Frame(header["head"], arrays)


def _little_endian(array: Array) -> Array:
    if array.dtype.str[1:] not in DTYPES:
        raise TypeError(f"dtype {array.dtype} is not one of {', '.join(sorted(DTYPES))}")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"))


def _parse(header: bytes) -> Json:
    try:
        value = json.loads(
            header.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the header is not JSON: {str(error)[:80]}") from None
    _check_values(value)
    return value


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    keys = dict(pairs)
    if len(keys) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return keys


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _check_values(value: Json) -> None:
    level: list[Json] = [value]
    for _ in range(MAX_NESTING):
        below: list[Json] = []
        for each in level:
            if isinstance(each, str):
                _check_text(each)
            elif isinstance(each, dict):
                below += [*each.keys(), *each.values()]
            elif isinstance(each, list):
                below += each
        level = below
    if level:
        raise Malformed(f"the header is nested more than {MAX_NESTING} deep")


def _check_text(text: str) -> None:
    # half a surrogate pair can't be written to a file later on
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise Malformed("a text holds half a surrogate pair")


def _sizes(specs: Json) -> list[int]:
    """The bytes of each announced array, all checked before the first of them is read."""
    if not isinstance(specs, list) or len(specs) > MAX_ARRAYS:
        raise Malformed(f"arrays is not a list of at most {MAX_ARRAYS}")
    sizes, total = [], 0
    for spec in specs:
        if not (isinstance(spec, list) and len(spec) == 2):
            raise Malformed("an array is not announced as [dtype, shape]")
        code, shape = spec
        if not (isinstance(code, str) and code in DTYPES):
            raise Malformed("an array's dtype is not a plain one")
        size, room = _bytes_and_room(int(code[1:]), shape)
        total += room
        if total > MAX_ARRAY_BYTES:
            raise Malformed(f"the arrays are over the limit of {MAX_ARRAY_BYTES} bytes")
        sizes.append(size)
    return sizes


def _bytes_and_room(item: int, shape: Sequence[Json] | Json) -> tuple[int, int]:
    """Bytes of an array, and the same without its zeros.

    An empty array of shape (0, 10¹²) is cheap to send, but its mean over the first axis is not.
    """
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        raise Malformed(f"a shape is not a list of at most {MAX_DIMENSIONS}")
    size, room = item, item
    for side in shape:
        if type(side) is not int or not 0 <= side <= MAX_ARRAY_BYTES:
            raise Malformed(f"a side of a shape is not a whole number from 0 to {MAX_ARRAY_BYTES}")
        size *= side
        room *= max(side, 1)
    return size, room


def _array(code: str, shape: list[int], data: bytes) -> Array:
    if code == "b1" and data.translate(None, b"\x00\x01"):
        raise Malformed("a bool array holds bytes other than 0 and 1")
    return np.frombuffer(data, dtype=f"<{code}").reshape(shape).copy()


def reader(descriptor: int) -> Callable[[int], bytes]:
    """A blocking `read(n)` for `decode`: exactly n bytes from a file descriptor, or Gone at its end."""

    def read(size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            try:
                part = os.read(descriptor, min(size - len(parts), 1 << 20))
            except ConnectionResetError:
                part = b""
            if not part:
                raise Gone("the channel was closed")
            parts += part
        return bytes(parts)

    return read


def write(descriptor: int, data: bytes) -> None:
    """Write all of `data` to a blocking file descriptor."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
