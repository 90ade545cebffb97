"""The grader's end of the line to a child: frames with deadlines, and what the child prints."""

from __future__ import annotations

import math
import os
import select
import socket
import time

from block_course.grading.wire import Frame, Gone, Late, decode, encode

MAX_OUTPUT_BYTES = 64 << 10

_PIECE = 1 << 16
_MOST_PIECES = 64


class Channel:
    """Frames to and from a child. While it waits, it empties the pipe of the child's output.

    Nothing blocks longer than the deadline, a moment of `time.monotonic()`.
    """

    def __init__(self, line: socket.socket, output: int) -> None:
        """Take over a connected socket and the reading end of a pipe."""
        self._line = line
        self._output = output
        line.setblocking(False)
        os.set_blocking(output, False)
        self._poll = select.poll()
        self._poll.register(output, select.POLLIN)
        self._ahead, self._kept = bytearray(), bytearray()
        self._keeping, self._ended = True, False
        self._cut = False

    def send(self, frame: Frame, deadline: float) -> None:
        """Send a frame. Raises Late, or Gone if the other end is closed."""
        rest = memoryview(encode(frame))
        while rest:
            try:
                rest = rest[self._line.send(rest) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)
            except OSError:
                raise Gone("the channel was closed") from None

    def receive(self, deadline: float) -> Frame:
        """The next frame. Raises Late, Gone or Malformed."""
        return decode(lambda size: self._read(size, deadline))

    def withhold(self) -> None:
        """From now on keep nothing of what is printed; what was printed so far is kept."""
        self._catch_up()
        self._keeping = False

    def printed(self) -> bytes:
        """What was printed so far, or before `withhold`; cut at 64 KiB."""
        self._catch_up()
        return bytes(self._kept) + (b"\n[cut]\n" if self._cut else b"")

    def close(self) -> None:
        """Close both ends that are ours."""
        self._line.close()
        os.close(self._output)

    def _catch_up(self) -> None:
        for _ in range(_MOST_PIECES if self._keeping else 0):
            if not self._drain():
                break

    def _read(self, size: int, deadline: float) -> bytes:
        while len(self._ahead) < size:
            self._wait(select.POLLIN, deadline)
            try:
                part = self._line.recv(_PIECE)
            except BlockingIOError:
                continue
            except OSError:
                raise Gone("the channel was closed") from None
            if not part:
                raise Gone("the channel was closed")
            self._ahead += part
        data = bytes(self._ahead[:size])
        del self._ahead[:size]
        return data

    def _wait(self, event: int, deadline: float) -> None:
        """Until the line is ready for the event; the output is emptied meanwhile."""
        self._poll.register(self._line, event)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Late("the time was used up")
            ready = dict(self._poll.poll(math.ceil(left * 1000)))
            if self._output in ready:
                self._drain()
            if self._line.fileno() in ready:
                return

    def _drain(self) -> bool:
        """Take a piece of the output; whether there may be more."""
        try:
            piece = os.read(self._output, _PIECE)
        except BlockingIOError:
            return False
        if not piece and not self._ended:
            self._ended = True
            self._poll.unregister(self._output)
        if self._keeping:
            room = MAX_OUTPUT_BYTES - len(self._kept)
            self._kept += piece[:room]
            self._cut = self._cut or len(piece) > room
        return not self._ended
