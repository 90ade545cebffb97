"""Run a piece of work in a process of its own, so that no block can harm the audit.

A fork inherits the block, which need not be picklable, and whatever it does there
(exit, hang, print without end, write over its weights) ends with it. What comes back is
JSON.
"""

import json
import os
import select
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_LONGEST = 2**20


class Lost(Exception):
    """The work came to no end of its own; the message says how it went instead."""


def can_fork() -> bool:
    """Whether this platform forks reliably: Linux, without a CUDA context to lose."""
    torch = sys.modules.get("torch")
    initialized = torch is not None and torch.cuda.is_initialized()
    return sys.platform == "linux" and not initialized


def in_a_fork(work: Callable[[], Any], seconds: float) -> Any:
    """Run work() in a fork and return what it returned, which must be plain values.

    Raises: Lost if it did not end in time, or ended its process.
    """
    return Fork(work, seconds).answer()


def side_by_side(
    works: Iterable[Callable[[], Any]], seconds: float, at_once: int
) -> Iterator[Callable[[], Any]]:
    """For each work, in order, what gives its answer; the next ones run meanwhile.

    Up to at_once forks run; seconds is for each of them. Those that nobody waited for
    are ended with the iterator. An answer raises Lost as in_a_fork does.
    """
    running: deque[Fork] = deque()
    try:
        for work in works:
            running.append(Fork(work, seconds))
            if len(running) == at_once:
                yield running.popleft().answer
        while running:
            yield running.popleft().answer
    finally:
        for fork in running:
            fork.end()


class Fork:
    """A piece of work under way in a process of its own."""

    def __init__(self, work: Callable[[], Any], seconds: float) -> None:
        """Start it; its seconds count from here."""
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._read, write = os.pipe()
        self._child = os.fork()
        if not self._child:  # pragma: no cover, for coverage does not see into forks
            os.close(self._read)
            _as_child(work, write)
        os.close(write)

    def answer(self) -> Any:
        """Wait for what the work returned, and end its process. Raises: Lost."""
        try:
            return json.loads(self._received())
        except ValueError:
            raise Lost(_ending(self._child)) from None
        finally:
            self.end()

    def end(self) -> None:
        """End the process and what it started, whatever it is doing."""
        os.close(self._read)
        _end(self._child)

    def _received(self) -> bytes:
        """All that comes through the pipe before it closes.

        Raises: Lost when time is up, or for more than any answer is long.
        """
        parts: list[bytes] = []
        while sum(map(len, parts)) <= _LONGEST:
            left = max(0.0, self._until - time.monotonic())
            if not select.select([self._read], [], [], left)[0]:
                raise Lost(f"gave no answer in {self._seconds:g} s")
            part = os.read(self._read, 2**16)
            if not part:
                return b"".join(parts)
            parts.append(part)
        raise Lost(f"answered with more than {_LONGEST:,} bytes")


def in_a_thread(work: Callable[[], Any], seconds: float) -> Any:
    """Run work() beside this thread, where nothing forks: late work is left behind.

    Raises: Lost if it did not end in time, raised, or asked for the process to end.
    """
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(work())
        except SystemExit as ending:
            outcome.append(Lost(f"asked to exit with status {ending.code}"))
        except Exception as error:
            outcome.append(Lost(f"raised {type(error).__name__}: {error}"))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise Lost(f"gave no answer in {seconds:g} s")
    if isinstance(outcome[0], Lost):
        raise outcome[0]
    return outcome[0]


def _as_child(work: Callable[[], Any], write: int) -> None:  # pragma: no cover
    """Answer through the pipe and end here, whatever happens."""
    code = 1
    try:
        os.setpgid(0, 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        # a notebook's outputs are no files, and would reach it from here
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.set_num_threads(1)  # the parent's threads are not here
        answer = json.dumps(work()).encode()
        while answer:
            answer = answer[os.write(write, answer) :]
    except SystemExit as ending:
        if isinstance(ending.code, int):
            code = ending.code
    finally:
        os._exit(code)


def _ending(child: int) -> str:
    """How the fork ended; it is not waited for, so that its number stays its own."""
    found = os.WEXITED | os.WNOHANG | os.WNOWAIT
    for _ in range(200):
        ended = os.waitid(os.P_PID, child, found)
        if ended is None:
            time.sleep(0.005)
        elif ended.si_code == os.CLD_EXITED:
            return f"ended its process with status {ended.si_status}"
        else:
            return f"was ended by {signal.Signals(ended.si_status).name}"
    return "closed its connection and went on"


def _end(child: int) -> None:
    """Make sure that the fork and what it started are gone."""
    for kill in (os.killpg, os.kill):
        try:
            kill(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    os.waitpid(child, 0)
