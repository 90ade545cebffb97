"""Landlock: which files a process may open. The kernel has it since 5.13, and any user may use it."""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
from collections.abc import Iterable, Sequence

from block_course.grading.walls import kernel

# the same numbers on every architecture
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_HIGH = 16
"""Where the descriptor lies: a child fills the places below."""
_PATH_BENEATH = 1

_WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_OF_FILES_SINCE = {1: (1 << 13) - 1, 2: 1 << 13, 3: _TRUNCATE, 5: 1 << 15}
_TCP, _ABSTRACT_SOCKETS_AND_SIGNALS = 3, 3


def version() -> int:
    """What the kernel offers, as a number. Raises OSError if it offers nothing."""
    return kernel.syscall("landlock_create_ruleset", _CREATE_RULESET, None, 0, _VERSION)


def ruleset(readable: Iterable[str], withheld: Sequence[str], writable_files: Iterable[str] = ()) -> int:
    """A descriptor of the rules that what lies below `readable` may be read, `withheld` excepted.

    All that the kernel can forbid beyond that is forbidden: to write, make, remove or run files, TCP, and
    signals and abstract sockets to processes outside. Raises OSError.
    """
    offered = version()
    files = sum(rights for since, rights in _OF_FILES_SINCE.items() if since <= offered)
    attributes = [files]
    if offered >= 4:
        attributes.append(_TCP)
    if offered >= 6:
        attributes.append(_ABSTRACT_SOCKETS_AND_SIGNALS)
    packed = struct.pack(f"={len(attributes)}Q", *attributes)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    rules = kernel.syscall("landlock_create_ruleset", _CREATE_RULESET, buffer, len(packed), 0)
    for path in readable:
        for part, rights in _parts(path, withheld):
            _allow(rules, part, rights)
    for path in writable_files:
        _allow(rules, path, (_READ_FILE | _WRITE_FILE | _TRUNCATE) & files)
    high = fcntl.fcntl(rules, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(rules)
    return high


def restrict(rules: int) -> None:
    """Keep the calling process to the rules, for good. Raises OSError."""
    kernel.syscall("landlock_restrict_self", _RESTRICT_SELF, rules, 0)


def _parts(path: str, withheld: Sequence[str]) -> list[tuple[str, int]]:
    """A path, or, where something below it is withheld, the folder's names and each part of it that isn't.

    Rules only add: what one grants below a folder no other takes away.
    """
    if not os.path.isdir(path):
        return [(path, _READ_FILE)]
    if not any(each.startswith(f"{path.rstrip('/')}/") for each in withheld):
        return [(path, _READ_FILE | _READ_DIR)]
    parts = [(path, _READ_DIR)]
    with os.scandir(path) as entries:
        for entry in entries:
            real = os.path.realpath(entry.path)
            if not any(real == each or real.startswith(f"{each}/") for each in withheld):
                parts += _parts(entry.path, withheld)
    return parts


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # what isn't there, or can't be reached, can't be read either
        return
    try:
        packed = struct.pack("=Qi", rights, descriptor)
        rule = ctypes.create_string_buffer(packed, len(packed))
        kernel.syscall(f"landlock_add_rule {path}", _ADD_RULE, rules, _PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)
