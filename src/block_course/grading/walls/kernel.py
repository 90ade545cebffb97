"""Calls to the kernel for which Python has no function of its own."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import platform
from collections.abc import Iterator

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NETWORK = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000

# the options of prctl(2)
_SET_PARENT_DEATH_SIGNAL, _GET_PARENT_DEATH_SIGNAL = 1, 2
_GET_DUMPABLE, _SET_DUMPABLE = 3, 4
_SET_CHILD_SUBREAPER = 36
_SET_NO_NEW_PRIVS, _GET_NO_NEW_PRIVS = 38, 39

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_DETACH = 2
_CAPABILITY_VERSION_3 = 0x20080522


def prctl(option: int, argument: int = 0, more: int = 0) -> int:
    """Raises OSError if the kernel refuses."""
    libc = _libc()
    result: int = libc.prctl(ctypes.c_int(option), ctypes.c_ulong(argument), ctypes.c_ulong(more), 0, 0)
    return _checked(result, f"prctl({option})")


def syscall(what: str, number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """A system call by its number; integers go in as wide as a register. Raises OSError."""
    wide = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result: int = _libc().syscall(ctypes.c_long(number), *wide)
    return _checked(result, what)


def unshare(namespaces: int) -> None:
    """Leave the namespaces of these kinds for new ones. Raises OSError."""
    _checked(_libc().unshare(namespaces), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Raises OSError."""
    texts = [each.encode() if each is not None else None for each in (source, target, kind)]
    result = _libc().mount(*texts, ctypes.c_ulong(flags), options.encode())
    _checked(result, f"mount {target}")


def pivot_into(folder: str) -> None:
    """Make a mounted folder the root, and let go of the old one. Raises OSError."""
    os.chdir(folder)
    syscall("pivot_root", _PIVOT_ROOT[platform.machine()], b".", b".")
    # the old root lies over the new one now
    _checked(_libc().umount2(b".", _DETACH), "umount2")
    os.chdir("/")


def map_shared(descriptor: int, size: int) -> int:
    """The address at which a file's first bytes lie, shared with all who have mapped it. Raises OSError.

    Unlike `mmap.mmap` it keeps no descriptor.
    """
    libc = _libc()
    libc.mmap.restype = ctypes.c_void_p
    access = mmap.PROT_READ | mmap.PROT_WRITE
    address = libc.mmap(None, ctypes.c_size_t(size), access, mmap.MAP_SHARED, descriptor, ctypes.c_long(0))
    if address == ctypes.c_void_p(-1).value:
        _checked(-1, "mmap")
    return int(address)


def give_up_capabilities() -> None:
    """Drop them all, for good: there is no exec to gain any from. Raises OSError."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _checked(_libc().capset(header, nothing), "capset")


def hide_memory() -> None:
    """Keep other processes of the same user, unless it is root, from reading this one's memory."""
    prctl(_SET_DUMPABLE, 0)


def is_hidden() -> bool:
    """Whether they are kept from it."""
    return prctl(_GET_DUMPABLE) == 0


@contextlib.contextmanager
def hidden_memory() -> Iterator[None]:
    """The same for as long as the secret is in use."""
    before = prctl(_GET_DUMPABLE)
    hide_memory()
    try:
        yield
    finally:
        prctl(_SET_DUMPABLE, before)


def gain_nothing() -> None:
    """No program that this process becomes can have more rights than it has. Raises OSError."""
    prctl(_SET_NO_NEW_PRIVS, 1)


def gains_nothing() -> bool:
    """Whether that is so."""
    return prctl(_GET_NO_NEW_PRIVS) == 1


def die_with_parent(number: int) -> None:
    """Get a signal when the parent ends."""
    prctl(_SET_PARENT_DEATH_SIGNAL, number)


def parent_death_signal() -> int:
    """The signal that the kernel will send then."""
    number = ctypes.c_int()
    prctl(_GET_PARENT_DEATH_SIGNAL, ctypes.addressof(number))
    return number.value


def adopt_orphans() -> None:
    """Make the calling process the parent of each descendant whose own parent ends."""
    prctl(_SET_CHILD_SUBREAPER, 1)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
