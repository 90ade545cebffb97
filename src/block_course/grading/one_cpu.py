"""One CPU for a grader and its box.

They take turns: one waits while the other works. On one CPU a turn passes in microseconds. To wake another
CPU, which sleeps meanwhile, takes longer than most answers do.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

_NAME = "\0block-course-cpu-{}"


@contextmanager
def one_cpu() -> Iterator[int | None]:
    """Keep this thread, and all that it starts, on a CPU that no other grader here has taken.

    Gives its number; None if each is taken, or where the system has no such thing (macOS, Windows): then
    nothing changes. Other programs are not kept from it: the system moves them to where there is room.
    """
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    claim = next((claim for cpu in sorted(allowed) if (claim := _claim(cpu)) is not None), None)
    if claim is None:
        yield None
        return
    cpu, name = claim
    with name:
        os.sched_setaffinity(0, {cpu})
        try:
            yield cpu
        finally:
            os.sched_setaffinity(0, allowed)


def _claim(cpu: int) -> tuple[int, socket.socket] | None:
    """A CPU with the name that stands for it: one process at a time can have that, until it ends."""
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(_NAME.format(cpu))
    except OSError:
        name.close()
        return None
    return cpu, name
