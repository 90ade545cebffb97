"""Trying each wall at what it forbids, in a process of its own, before any learner's code runs."""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from block_course.grading.walls import kernel, limits
from block_course.grading.walls.forked import forked

_NOBODY_HERE = "/a path that nobody has"
_THREAD_BYTES = 64 << 10


class StillOpen(Exception):
    """What should have been refused was done."""


def of_seccomp() -> None:
    """A socket, a process, a program, a signal, memory in a file, a file's removal: each is refused."""
    refused("a socket", socket.socket, errno.EPERM)
    refused("a new process", _fork, errno.EPERM)
    refused("a program", lambda: os.execv(_NOBODY_HERE, ["x"]), errno.EPERM)
    refused("a signal to another process", lambda: os.kill(os.getppid(), 0), errno.EPERM)
    refused("a file in memory", lambda: os.memfd_create("x"), errno.EPERM)
    refused("to remove a file", lambda: os.unlink(_NOBODY_HERE), errno.EPERM)


def of_deadly_calls(install: Callable[[], object]) -> None:
    """A call that no honest code makes ends the process."""

    def attempt() -> None:
        install()
        kernel.unshare(kernel.NEW_IPC)

    try:
        forked(attempt)
    except OSError as error:
        if "ended" in str(error):
            return
    raise StillOpen("a new namespace did not end the process")


def of_files(secret: str, home: str) -> None:
    """A file that is not for reading, the names in the root, and a new file: each is refused."""
    refused("to read a file of the grader's", lambda: _open(secret), errno.EACCES)
    refused("to list the root", lambda: os.listdir("/"), errno.EACCES)
    refused(
        "to write a file",
        lambda: _open(os.path.join(home, "x"), os.O_CREAT | os.O_WRONLY),
        errno.EACCES,
        errno.EROFS,
    )


def of_own_root(outside: str, home: str) -> None:
    """A file of the course is not there, and nothing can be written anywhere."""
    refused("to find a file of the course", lambda: os.stat(outside), errno.ENOENT)
    for folder in ("/", home):
        write = partial(_open, os.path.join(folder, "x"), os.O_CREAT | os.O_WRONLY)
        refused(f"to write in {folder}", write, errno.EROFS)


def of_other_user(private: str, root: int) -> None:
    """A file that is its owner's alone, and to be root again: each is refused."""
    refused("to read a private file", lambda: _open(private), errno.EACCES)
    refused("to become root again", lambda: os.setresuid(root, root, root), errno.EPERM)


def of_capabilities() -> None:
    """What needs a right of root's is refused."""
    refused("to change the root", lambda: os.chroot("/"), errno.EPERM)
    refused("to own a name of the network", lambda: socket.sethostname(socket.gethostname()), errno.EPERM)


def of_limits(given: limits.Limits) -> None:
    """Memory, open files and threads beyond the limits are refused."""
    import mmap
    import resource

    most_bytes = given[resource.RLIMIT_AS][0]
    refused("memory beyond the limit", lambda: mmap.mmap(-1, most_bytes).close(), errno.ENOMEM)
    most_threads = given[resource.RLIMIT_NPROC][0]
    refused("threads beyond the limit", lambda: _start_threads(most_threads))
    refused(
        "files beyond the limit",
        lambda: [os.open(os.devnull, os.O_RDONLY) for _ in range(limits.MOST_OPEN_FILES + 1)],
        errno.EMFILE,
    )


def works(needed: Sequence[str], home: str) -> None:
    """What all code needs can be done: Python's files read, output dropped, an empty folder listed."""
    for path in needed:
        _open(path)
    _open(os.devnull, os.O_WRONLY)
    if os.listdir(home):
        raise StillOpen("the folder of a learner's code is not empty")


def refused(what: str, act: Callable[[], Any], *numbers: int) -> None:
    """Raises StillOpen if it is not refused, or for another reason than the wall gives."""
    try:
        act()
    except OSError as error:
        if numbers and error.errno not in numbers:
            raise StillOpen(f"{what} was refused for another reason: {error}") from None
        return
    except RuntimeError:  # threading's word for it
        return
    raise StillOpen(f"{what} was not refused")


def _open(path: str, flags: int = os.O_RDONLY) -> None:
    os.close(os.open(path, flags))


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)
    os.wait()


def _start_threads(count: int) -> None:
    threading.stack_size(_THREAD_BYTES)
    done = threading.Event()
    try:
        for _ in range(count + 1):
            threading.Thread(target=done.wait, daemon=True).start()
    finally:
        done.set()
