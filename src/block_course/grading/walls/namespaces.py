"""Namespaces: processes, the network, shared memory and mounts of the box's own, where the machine allows it.

They are entered once, by the fork server, and every child is in them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from block_course.grading.walls import kernel
from block_course.grading.walls.forked import forked

USER, PIDS, NETWORK, IPC, MOUNTS = (
    "user namespace",
    "pid namespace",
    "network namespace",
    "ipc namespace",
    "mount namespace",
)
_KINDS = {
    NETWORK: kernel.NEW_NETWORK,
    IPC: kernel.NEW_IPC,
    PIDS: kernel.NEW_PIDS,
    MOUNTS: kernel.NEW_MOUNTS,
}

_PRIVATE, _REMOVE, _LOOK = 0, 0, 2
_OWNER_ONLY = 0o600


@dataclass(frozen=True)
class Namespaces:
    """Those that the calling process is in now, and why it is in no others."""

    entered: tuple[str, ...]
    missing: dict[str, str]


def enter() -> Namespaces:
    """Enter what the machine allows.

    With a pid namespace, the process that comes back is a child of the one that called, and the first in
    there: when it ends, all others do. The one that called waits for it, and leaves as it did.
    """
    alone, with_user = _allowed(user=False), {}
    if not any(why == "" for why in alone.values()):
        with_user = _allowed(user=True)
    through_user = "" in with_user.values()
    found = with_user if through_user else alone
    wanted = [name for name, why in found.items() if why == ""]
    missing = {name: why for name, why in found.items() if why}
    with _tests() as tests:
        _unshare([name for name in wanted if name != MOUNTS], user=through_user)
        if PIDS in wanted:
            _become_the_first()
        # the process that waits stays outside: a root that changes, changes for all in the namespace
        _unshare([name for name in wanted if name == MOUNTS], user=False)
        for name in wanted:
            if name in tests and tests[name]():
                missing[name] = "it was entered, and what it should shut out is still in reach"
    user = (USER,) if through_user else ()
    return Namespaces((*user, *(name for name in wanted if name not in missing)), missing)


def _allowed(*, user: bool) -> dict[str, str]:
    """For each kind of namespace why it can't be entered, or nothing: tried in a process of its own."""

    def attempt() -> dict[str, str]:
        if user:
            _own_user_namespace()
        found = {}
        for name, kind in _KINDS.items():
            try:
                kernel.unshare(kind)
                found[name] = ""
            except OSError as error:
                found[name] = str(error.strerror)
        return found

    try:
        allowed: dict[str, str] = forked(attempt)
    except OSError as error:
        return dict.fromkeys(_KINDS, str(error))
    return allowed


def _unshare(wanted: list[str], *, user: bool) -> None:
    if user:
        _own_user_namespace()
    for name in wanted:
        kernel.unshare(_KINDS[name])


def _own_user_namespace() -> None:
    """In it this process may do what root may, over nothing that was there before. Ids stay."""
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.NEW_USER)
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def _become_the_first() -> None:
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        sys.exit(0 if status == 0 else 1)
    kernel.die_with_parent(signal.SIGKILL)


@contextlib.contextmanager
def _tests() -> Iterator[dict[str, Callable[[], bool]]]:
    """For a namespace, whether something of the old one is in reach from the new one."""
    with socket.create_server(("127.0.0.1", 0)) as listener, _shared_memory() as is_there:
        address = listener.getsockname()

        def connects() -> bool:
            with contextlib.suppress(OSError):
                socket.create_connection(address, timeout=1.0).close()
                return True
            return False

        yield {NETWORK: connects, IPC: is_there, PIDS: lambda: os.getppid() != 0}


@contextlib.contextmanager
def _shared_memory() -> Iterator[Callable[[], bool]]:
    """A segment that lasts as long as this process holds it, and whether it is found by its id."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    segment = libc.shmget(_PRIVATE, ctypes.c_size_t(1), _OWNER_ONLY)
    address = libc.shmat(segment, None, 0)
    libc.shmctl(segment, _REMOVE, None)
    about = ctypes.create_string_buffer(256)
    try:
        yield lambda: segment >= 0 and libc.shmctl(segment, _LOOK, about) == 0
    finally:
        libc.shmdt(ctypes.c_void_p(address))
