import json
import os
import struct
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from block_course.grading import wire
from block_course.grading.wire import DTYPES, Array, Frame, Gone, Malformed, decode, encode
from tests.block_course.grading.frames import read_from

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
HEADS = st.dictionaries(TEXTS, SCALARS | TEXTS | st.lists(TEXTS, max_size=3), max_size=5)


@st.composite
def arrays(draw: st.DrawFn) -> Array:
    dtype = np.dtype(draw(st.sampled_from(sorted(DTYPES))))
    shape = draw(st_numpy.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
    order = draw(st.sampled_from("<>"))
    return draw(st_numpy.arrays(dtype.newbyteorder(order) if dtype.itemsize > 1 else dtype, shape))


def framed(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<I", len(text)) + text + body


def with_arrays(*specs: object) -> dict[str, object]:
    return {"head": {}, "arrays": list(specs)}


@given(HEADS, st.lists(arrays(), max_size=4))
def test_a_frame_comes_out_as_it_went_in(head: dict[str, object], sent: list[Array]) -> None:
    frame = decode(read_from(encode(Frame(head, tuple(sent)))))

    assert frame.head == head
    for before, after in zip(sent, frame.arrays, strict=True):
        assert after.dtype == before.dtype.newbyteorder("<")
        assert after.shape == before.shape
        assert after.tobytes() == before.astype(before.dtype.newbyteorder("<")).tobytes()
        assert after.flags.writeable


def test_an_array_that_is_a_strided_view_is_sent_by_its_values() -> None:
    table = np.arange(30, dtype=np.float32).reshape(5, 6)

    (array,) = decode(read_from(encode(Frame({}, (table[::2, 1::2].T,))))).arrays

    np.testing.assert_array_equal(array, table[::2, 1::2].T)


REFUSED = {
    "a length over the limit": struct.pack("<I", wire.MAX_HEADER_BYTES + 1),
    "no JSON": framed(b"\xff\xfe"),
    "a list as header": framed([]),
    "a number as header": framed(b"1"),
    "a key missing": framed({"head": {}}),
    "a key too many": framed({"head": {}, "arrays": [], "more": 1}),
    "a list as head": framed({"head": [], "arrays": []}),
    "a key twice": framed(b'{"head": {}, "arrays": [], "head": {}}'),
    "NaN": framed(b'{"head": {"x": NaN}, "arrays": []}'),
    "infinity": framed(b'{"head": {"x": -Infinity}, "arrays": []}'),
    "a number too large": framed(b'{"head": {"x": 1e999}, "arrays": []}'),
    "a number of 5,000 digits": framed(b'{"head": {"x": ' + b"9" * 5000 + b'}, "arrays": []}'),
    "half a surrogate pair": framed(b'{"head": {"x": "\\ud800"}, "arrays": []}'),
    "half a surrogate pair in a key": framed(b'{"head": {"\\udfff": 1}, "arrays": []}'),
    "lists nested 100,000 deep": framed(b'{"head": {"x": ' + b"[" * 100_000),
    "lists nested too deep": framed(b'{"head": {"x": [[[[[[[1]]]]]]]}, "arrays": []}'),
    "arrays that are no list": framed({"head": {}, "arrays": {}}),
    "too many arrays": framed(with_arrays(*[["u1", [0]]] * (wire.MAX_ARRAYS + 1))),
    "an array without a shape": framed(with_arrays(["f8"])),
    "objects": framed(with_arrays(["O", [1]])),
    "a dtype that is a list": framed(with_arrays([["f8"], [1]])),
    "a shape that is a text": framed(with_arrays(["f8", "22"])),
    "nine dimensions": framed(with_arrays(["f8", [1] * 9])),
    "a negative side": framed(with_arrays(["f8", [-1]])),
    "a side that is a bool": framed(with_arrays(["f8", [True]])),
    "a side that is a fraction": framed(with_arrays(["f8", [1.5]])),
    "a huge side": framed(with_arrays(["u1", [1 << 40]])),
    "a huge product": framed(with_arrays(["u1", [1 << 20, 1 << 20]])),
    "a huge product with a zero": framed(with_arrays(["f8", [0, 1 << 25]])),
    "a huge sum": framed(with_arrays(*[["u1", [wire.MAX_ARRAY_BYTES // 2]]] * 3)),
    "bools that are neither 0 nor 1": framed(with_arrays(["b1", [3]]), b"\x00\x01\x02"),
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED.keys())
def test_a_reader_refuses(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode(read_from(data))


@pytest.mark.parametrize("kept", [0, 3, 4, 20, -1])
def test_a_frame_that_is_cut_off_is_gone(kept: int) -> None:
    whole = encode(Frame({"x": 1}, (np.arange(3.0),)))

    with pytest.raises(Gone):
        decode(read_from(whole[:kept]))


def test_a_writer_refuses_what_a_reader_would() -> None:
    with pytest.raises(TypeError, match="dtype object is not one of"):
        encode(Frame({}, (np.array([None]),)))
    with pytest.raises(ValueError, match="JSON compliant"):
        encode(Frame({"x": float("nan")}))
    with pytest.raises(ValueError, match=r"a header of \d+ bytes is over the limit"):
        encode(Frame({"x": "y" * wire.MAX_HEADER_BYTES}))
    with pytest.raises(ValueError, match="at most 8"):
        encode(Frame({}, (np.zeros((1,) * 9),)))


def test_frames_pass_through_a_pipe_larger_than_its_buffer() -> None:
    reading, writing = os.pipe()
    sent = np.arange(100_000, dtype=np.float64)
    sender = threading.Thread(target=wire.write, args=(writing, encode(Frame({"n": 1}, (sent,)))))
    sender.start()

    frame = decode(wire.reader(reading))
    sender.join()
    os.close(writing)

    np.testing.assert_array_equal(frame.arrays[0], sent)
    with pytest.raises(Gone):
        wire.reader(reading)(1)
    os.close(reading)


def test_a_reset_connection_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    def reset(descriptor: int, size: int) -> bytes:
        raise ConnectionResetError

    monkeypatch.setattr(os, "read", reset)

    with pytest.raises(Gone):
        wire.reader(0)(1)
