"""One CPU for a grader and its box.

They take turns: one waits while the other works. On one CPU a turn passes in microseconds. To wake another
CPU, which sleeps meanwhile, takes longer than most answers do.
"""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_NAME = "\0block-course-cpu-{}"


@contextmanager
def one_cpu() -> Iterator[int | None]:
    """Keep this thread, and all that it starts, on a CPU that no other grader here has taken.

    Gives its number; None if each is taken, or where the system has no such thing (macOS, Windows): then
    nothing changes. Other programs are not kept from it: the system moves them to where there is room.
    """
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    # graders in other containers don't see these names: in one order all of them would take the first CPU
    in_any_order = random.sample(sorted(allowed), len(allowed))
    claim = next((claim for cpu in in_any_order if (claim := _claim(cpu)) is not None), None)
    if claim is None:
        yield None
        return
    cpu, name = claim
    with name:
        kept = _keep_to({cpu})
        try:
            yield cpu if kept else None
        finally:
            _keep_to(allowed)


def _keep_to(cpus: set[int]) -> bool:
    """Whether the system lets this thread keep to them: a sandbox may not, and a CPU may be gone."""
    with suppress(OSError):
        os.sched_setaffinity(0, cpus)
        return True
    return False


def _claim(cpu: int) -> tuple[int, socket.socket] | None:
    """A CPU with the name that stands for it: one process at a time can have that, until it ends."""
    try:
        name = socket.socket(socket.AF_UNIX)
    except OSError:  # a sandbox without sockets of this kind
        return None
    try:
        name.bind(_NAME.format(cpu))
    except OSError:
        name.close()
        return None
    return cpu, name
