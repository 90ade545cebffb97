"""Compare two PNGs that an SVG carries inside itself, pixel by pixel."""

from __future__ import annotations

import base64
import binascii
import io
import struct

import numpy as np
from PIL import Image

DATA_URI = "data:image/png;base64,"
MAX_PIXELS = 20_000_000
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class _UnreadablePng(ValueError):
    pass


def raster_problem(stored: str, computed: str, *, levels: float = 0) -> str | None:
    """Say how two PNG data URIs differ by more than `levels` of 255 in a channel; None if they agree.

    A PNG that is broken, or has over 20 million pixels, is a problem too.
    """
    try:
        old, new = _pixels(stored), _pixels(computed)
    except _UnreadablePng as error:
        return f"unreadable PNG: {error}"
    if old.shape != new.shape:
        return f"raster of {_size(old)} became {_size(new)} pixels"
    distance = np.abs(old - new).max(axis=-1)
    off = int((distance > levels).sum())
    if not off:
        return None
    return (
        f"{off} of {distance.size} pixels changed, by up to {distance.max()} of 255 levels (limit {levels:g})"
    )


def _size(pixels: np.ndarray) -> str:
    return f"{pixels.shape[1]} × {pixels.shape[0]}"


def _pixels(uri: str) -> np.ndarray:
    try:
        data = base64.b64decode(uri.removeprefix(DATA_URI))
    except binascii.Error as error:
        raise _UnreadablePng(str(error)) from None
    # the size stands in the header: a bomb is refused before it is unpacked
    if not data.startswith(_SIGNATURE) or len(data) < 24:
        raise _UnreadablePng("no PNG header")
    width, height = struct.unpack(">II", data[16:24])
    if width * height > MAX_PIXELS:
        raise _UnreadablePng(f"{width} × {height} pixels are more than the limit of {MAX_PIXELS}")
    try:
        with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
            return np.asarray(image.convert("RGBA")).astype(np.int16)
    except (OSError, SyntaxError, ValueError):  # Pillow raises all three, and its words name an address
        raise _UnreadablePng("its data are broken") from None
