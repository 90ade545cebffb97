"""The walls around a learner's code. The box puts them up and looks at each before it runs anything.

This is the place where more walls go. What stands and what doesn't is said in the output and in the results.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path

WARNING = (
    "Notebooks of people you don't trust must wait until these are confined too, or be graded in a container "
    "that holds nothing else and has no network."
)

_NOT_CONFINED = ("file system", "network", "other processes of the same user")

MOST_FILE_BYTES = 16 << 20
MOST_OPEN_FILES = 64
_MOST_ROUNDS, _PAUSE_SECONDS = 500, 0.002

# the options of prctl(2)
_SET_PARENT_DEATH_SIGNAL, _GET_PARENT_DEATH_SIGNAL = 1, 2
_GET_DUMPABLE, _SET_DUMPABLE = 3, 4
_SET_CHILD_SUBREAPER = 36
_SET_NO_NEW_PRIVS, _GET_NO_NEW_PRIVS = 38, 39

Limits = dict[int, tuple[int, int]]


def put_up(parent: int, memory_bytes: int, cpu_seconds: int) -> tuple[str, ...]:
    """Lock the calling process in for good, and give the names of the walls that stand.

    `memory_bytes` is what the process may add to what it has now. `parent` is the fork server: a process
    whose server is gone already doesn't go on.

    Raises OSError if a wall is refused, or does not stand when looked at.
    """
    os.setsid()
    _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    _prctl(_SET_NO_NEW_PRIVS, 1)
    hide_memory()
    limits = _limits(memory_bytes, cpu_seconds)
    for kind, soft_and_hard in limits.items():
        resource.setrlimit(kind, soft_and_hard)
    return _looked_at(parent, limits)


def not_confined() -> tuple[str, ...]:
    """What a learner's code can still reach."""
    return _NOT_CONFINED if os.geteuid() else (*_NOT_CONFINED, "all that root may do")


def hide_memory() -> None:
    """Keep other processes of the same user, unless it is root, from reading this one's memory."""
    _prctl(_SET_DUMPABLE, 0)


@contextlib.contextmanager
def hidden_memory() -> Iterator[None]:
    """The same for as long as the secret is in use."""
    before = _prctl(_GET_DUMPABLE)
    hide_memory()
    try:
        yield
    finally:
        _prctl(_SET_DUMPABLE, before)


def adopt_orphans() -> None:
    """Make the calling process the parent of each descendant whose own parent ends."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def _looked_at(parent: int, limits: Limits) -> tuple[str, ...]:
    alive = os.getppid() == parent and _parent_death_signal() == signal.SIGKILL
    standing = {
        "process of its own": alive,
        "private session": os.getsid(0) == os.getpid(),
        "no_new_privs": _prctl(_GET_NO_NEW_PRIVS) == 1,
        "not dumpable": _prctl(_GET_DUMPABLE) == 0,
        "rlimits": all(resource.getrlimit(kind) == given for kind, given in limits.items()),
    }
    for name, stands in standing.items():
        if not stands:
            raise OSError(f"the wall {name!r} does not stand")
    return tuple(standing)


def _limits(memory_bytes: int, cpu_seconds: int) -> Limits:
    pages = [int(each) for each in Path("/proc/self/statm").read_text(encoding="ascii").split()]
    size, data = pages[0] * resource.getpagesize(), pages[5] * resource.getpagesize()
    wanted = {
        resource.RLIMIT_AS: (size + memory_bytes,) * 2,
        resource.RLIMIT_DATA: (data + memory_bytes,) * 2,
        # the soft limit sends SIGXCPU, which tells why the process ended; the hard one only kills
        resource.RLIMIT_CPU: (cpu_seconds, cpu_seconds + 1),
        resource.RLIMIT_FSIZE: (MOST_FILE_BYTES,) * 2,
        resource.RLIMIT_NOFILE: (MOST_OPEN_FILES,) * 2,
        resource.RLIMIT_CORE: (0, 0),
    }
    return {kind: _within_the_present(kind, *given) for kind, given in wanted.items()}


def _within_the_present(kind: int, soft: int, hard: int) -> tuple[int, int]:
    """A limit that is narrower already stays: only root may widen it."""
    present = resource.getrlimit(kind)[1]
    if present == resource.RLIM_INFINITY:
        return soft, hard
    return min(soft, present), min(hard, present)


def _parent_death_signal() -> int:
    number = ctypes.c_int()
    _prctl(_GET_PARENT_DEATH_SIGNAL, ctypes.addressof(number))
    return number.value


def _prctl(option: int, argument: int = 0) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result: int = libc.prctl(option, ctypes.c_ulong(argument), 0, 0, 0)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")
    return result


def end_descendants(ancestor: int) -> None:
    """Kill what a process has started, and what that has started, until there is nothing left of it.

    It finds every one, because the orphans of a process that called `adopt_orphans` become its children.
    """
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
