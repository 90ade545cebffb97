"""How much a process may use: memory, processor time, files, threads."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from pathlib import Path

MOST_FILE_BYTES = 16 << 20
MOST_OPEN_FILES = 64
MOST_THREADS = 64
SHARED_BYTES = 64 << 20
"""For the memory in which the grader lays the arguments of calls."""

Limits = dict[int, tuple[int, int]]


@dataclass(frozen=True)
class Usage:
    """What this process uses and the machine runs: bytes mapped, bytes of data, threads of all users."""

    size: int
    data: int
    threads: int


def usage() -> Usage:
    """What is used at this moment."""
    pages = [int(each) for each in Path("/proc/self/statm").read_text(encoding="ascii").split()]
    running = Path("/proc/loadavg").read_text(encoding="ascii").split()[3]
    page = resource.getpagesize()
    return Usage(pages[0] * page, pages[5] * page, int(running.partition("/")[2]))


def limits(used: Usage, memory_bytes: int, cpu_seconds: int, *, counted_apart: bool) -> Limits:
    """The limits of a child; `memory_bytes` is what it may add to what is used.

    The kernel counts the threads of a whole user. Where the box has no count of its own (`counted_apart`),
    all that run on the machine are granted on top.
    """
    threads = MOST_THREADS + (0 if counted_apart else used.threads)
    wanted = {
        resource.RLIMIT_AS: (used.size + SHARED_BYTES + memory_bytes,) * 2,
        resource.RLIMIT_DATA: (used.data + memory_bytes,) * 2,
        # the soft limit sends SIGXCPU, which tells why the process ended; the hard one only kills
        resource.RLIMIT_CPU: (cpu_seconds, cpu_seconds + 1),
        resource.RLIMIT_FSIZE: (MOST_FILE_BYTES,) * 2,
        resource.RLIMIT_NOFILE: (MOST_OPEN_FILES,) * 2,
        resource.RLIMIT_NPROC: (threads,) * 2,
        resource.RLIMIT_MEMLOCK: (0, 0),
        resource.RLIMIT_MSGQUEUE: (0, 0),
        resource.RLIMIT_CORE: (0, 0),
    }
    return {kind: _within_the_present(kind, *given) for kind, given in wanted.items()}


def set_limits(given: Limits) -> None:
    """Set them, for good."""
    for kind, soft_and_hard in given.items():
        resource.setrlimit(kind, soft_and_hard)


def are_set(given: Limits) -> bool:
    """Whether they hold."""
    return all(resource.getrlimit(kind) == soft_and_hard for kind, soft_and_hard in given.items())


def _within_the_present(kind: int, soft: int, hard: int) -> tuple[int, int]:
    """A limit that is narrower already stays: only root may widen it."""
    present = resource.getrlimit(kind)[1]
    if present == resource.RLIM_INFINITY:
        return soft, hard
    return min(soft, present), min(hard, present)
