import base64
import io
import struct

import numpy as np
import pytest
from PIL import Image

from block_course.outputs import _raster
from block_course.outputs._raster import DATA_URI, raster_problem


def uri(data: bytes) -> str:
    return DATA_URI + base64.b64encode(data).decode()


def png(pixels: np.ndarray, **options: int) -> bytes:
    sink = io.BytesIO()
    Image.fromarray(pixels).save(sink, format="PNG", **options)
    return sink.getvalue()


PIXELS = np.random.default_rng(5).integers(0, 250, (4, 7, 3), dtype=np.uint8)


def test_the_same_pixels_agree_however_they_are_packed() -> None:
    loose, tight = png(PIXELS, compress_level=0), png(PIXELS, compress_level=9)

    assert loose != tight
    assert raster_problem(uri(loose), uri(tight)) is None


def test_one_pixel_off_by_one_level_is_caught() -> None:
    changed = PIXELS.copy()
    changed[2, 5, 1] += 1

    problem = raster_problem(uri(png(PIXELS)), uri(png(changed)))

    assert problem == "1 of 28 pixels changed, by up to 1 of 255 levels (limit 0)"
    assert raster_problem(uri(png(PIXELS)), uri(png(changed)), levels=1) is None


def test_another_size_is_caught() -> None:
    problem = raster_problem(uri(png(PIXELS)), uri(png(PIXELS[:, :6])))

    assert problem == "raster of 7 × 4 became 6 × 4 pixels"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (DATA_URI + "A", "base64"),
        (uri(b"GIF89a and more bytes than a header"), "no PNG header"),
        (uri(png(PIXELS)[:20]), "no PNG header"),
        (uri(png(PIXELS)[:60]), "its data are broken"),
        (uri(png(PIXELS)[:16] + struct.pack(">II", 7, 9) + png(PIXELS)[24:]), "its data are broken"),
        (uri(png(PIXELS)[:16] + struct.pack(">II", 10**5, 10**5)), "100000 × 100000 pixels are more than"),
    ],
    ids=["not base64", "a GIF", "cut in the header", "cut in the data", "wrong checksum", "bomb"],
)
def test_a_broken_png_is_a_problem_in_words(broken: str, reason: str) -> None:
    problem = raster_problem(uri(png(PIXELS)), broken)

    assert problem is not None
    assert problem.startswith("unreadable PNG: ")
    assert reason in problem


def test_the_limit_admits_a_figure_of_its_own_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_raster, "MAX_PIXELS", 28)

    assert raster_problem(uri(png(PIXELS)), uri(png(PIXELS, compress_level=0))) is None
