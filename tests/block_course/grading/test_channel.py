import os
import socket
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from block_course.grading import channel as grading_channel
from block_course.grading import wire
from block_course.grading.channel import Channel
from block_course.grading.wire import Frame, Gone, Late, Malformed, encode


class Ends:
    """A channel, and the ends that a child would have."""

    def __init__(self) -> None:
        ours, self.line = socket.socketpair()
        reading, self.output = os.pipe()
        self.channel = Channel(ours, reading)

    def close(self) -> None:
        self.line.close()
        if self.output >= 0:
            os.close(self.output)
        self.output = -1


@pytest.fixture
def ends() -> Iterator[Ends]:
    ends = Ends()
    yield ends
    ends.close()
    ends.channel.close()


def soon() -> float:
    return time.monotonic() + 20.0


def test_frames_larger_than_any_buffer_go_both_ways(ends: Ends) -> None:
    sent = np.arange(200_000, dtype=np.float64)

    def reply() -> None:
        frame = wire.decode(wire.reader(ends.line.fileno()))
        wire.write(ends.line.fileno(), encode(Frame({"n": 1}, frame.arrays)) + encode(Frame({"n": 2})))

    child = threading.Thread(target=reply)
    child.start()

    ends.channel.send(Frame({}, (sent,)), soon())
    first, second = (ends.channel.receive(soon()) for _ in range(2))
    child.join()

    np.testing.assert_array_equal(first.arrays[0], sent)
    assert (first.head, second.head) == ({"n": 1}, {"n": 2})


def test_a_child_that_says_nothing_is_late(ends: Ends) -> None:
    with pytest.raises(Late):
        ends.channel.receive(time.monotonic() + 0.02)


def test_a_child_that_says_a_little_now_and_then_is_late_all_the_same(ends: Ends) -> None:
    over = threading.Event()

    def drip() -> None:
        for byte in encode(Frame({}, (np.zeros(1000),))):
            if over.wait(0.005):
                return
            ends.line.send(bytes([byte]))

    child = threading.Thread(target=drip)
    child.start()

    with pytest.raises(Late):
        ends.channel.receive(time.monotonic() + 0.1)
    over.set()
    child.join()


def test_a_child_that_does_not_listen_is_late(ends: Ends) -> None:
    with pytest.raises(Late):
        ends.channel.send(Frame({}, (np.zeros(1_000_000),)), time.monotonic() + 0.02)


def test_a_closed_line_is_gone(ends: Ends) -> None:
    ends.line.close()

    with pytest.raises(Gone):
        ends.channel.receive(soon())
    with pytest.raises(Gone):
        ends.channel.send(Frame({}), soon())


def test_a_line_closed_with_unread_data_is_gone(ends: Ends) -> None:
    ends.channel.send(Frame({}), soon())
    ends.line.close()

    with pytest.raises(Gone):
        ends.channel.receive(soon())


def test_bytes_that_are_no_frame_are_malformed(ends: Ends) -> None:
    ends.line.send(b"\x02\x00\x00\x00[]")

    with pytest.raises(Malformed):
        ends.channel.receive(soon())


def test_a_signal_that_there_is_room_where_there_is_none_is_waited_out(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Busy:
        def __init__(self, line: socket.socket) -> None:
            self.line, self.refusals = line, 2

        def fileno(self) -> int:
            return self.line.fileno()

        def _refuse(self) -> None:
            self.refusals -= 1
            if self.refusals >= 0:
                raise BlockingIOError

        def send(self, data: memoryview) -> int:
            self._refuse()
            return self.line.send(data)

        def recv(self, size: int) -> bytes:
            self._refuse()
            return self.line.recv(size)

    line = ends.channel._line
    monkeypatch.setattr(ends.channel, "_line", Busy(line))
    ends.channel.send(Frame({"n": 3}), soon())
    ends.line.send(encode(Frame({"n": 4})))
    monkeypatch.setattr(ends.channel, "_line", Busy(line))

    assert ends.channel.receive(soon()).head == {"n": 4}
    assert wire.decode(wire.reader(ends.line.fileno())).head == {"n": 3}
    monkeypatch.undo()


def test_what_was_printed_before_the_withholding_is_kept_and_the_rest_is_not(ends: Ends) -> None:
    os.write(ends.output, b"before")
    assert ends.channel.printed() == b"before"

    os.write(ends.output, b" and still before")
    ends.channel.withhold()
    os.write(ends.output, b"after")
    ends.channel.withhold()

    assert ends.channel.printed() == b"before and still before"


def test_a_child_that_prints_without_end_is_not_held_up_and_is_cut(ends: Ends) -> None:
    def shout() -> None:
        for _ in range(40):
            os.write(ends.output, b"x" * 50_000)
        ends.line.send(encode(Frame({"n": 1})))

    child = threading.Thread(target=shout)
    child.start()

    assert ends.channel.receive(soon()).head == {"n": 1}
    child.join()
    printed = ends.channel.printed()
    assert printed == b"x" * grading_channel.MAX_OUTPUT_BYTES + b"\n[cut]\n"


def test_keeping_up_with_a_child_that_prints_without_end_has_an_end(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading_channel, "_MOST_PIECES", 3)
    monkeypatch.setattr(grading_channel, "_PIECE", 2)
    os.write(ends.output, b"12345678")

    assert ends.channel.printed() == b"123456"
    ends.channel.withhold()
    assert ends.channel.printed() == b"12345678"


def test_a_child_that_closes_its_output_can_still_answer(ends: Ends) -> None:
    os.write(ends.output, b"last words")
    os.close(ends.output)
    ends.output = -1
    child = threading.Timer(0.05, lambda: ends.line.send(encode(Frame({"n": 1}))))
    child.start()

    assert ends.channel.receive(soon()).head == {"n": 1}
    child.join()
    assert ends.channel.printed() == b"last words"
    ends.channel.withhold()
    assert ends.channel.printed() == b"last words"
