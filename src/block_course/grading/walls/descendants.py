"""Ending what a process has started."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

_MOST_ROUNDS, _PAUSE_SECONDS = 500, 0.002


def end_descendants(ancestor: int) -> None:
    """Kill what a process has started, and what that has started, until there is nothing left of it.

    It finds every one, because the orphans of a process that called `adopt_orphans` become its children. The
    first process of a pid namespace has no need to look: all others in there descend from it.
    """
    if ancestor == os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        return
    for _ in range(_MOST_ROUNDS):
        found = _descendants(ancestor)
        if not found:
            return
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)


def _descendants(ancestor: int) -> list[int]:
    """The living descendants of a process, by the parents that /proc tells."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                # the second field is a name in brackets, which may hold anything
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                if fields[0] != b"Z":
                    parents[int(entry.name)] = int(fields[1])
    found: list[int] = []
    level = {ancestor}
    while level:
        level = {process for process, parent in parents.items() if parent in level}
        found += level
    return found
