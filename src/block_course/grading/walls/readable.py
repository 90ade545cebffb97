"""What a learner's code may read: Python, its packages and the system's libraries; nothing of the course."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator, Sequence

_OF_THE_SYSTEM = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/fonts",
    "/usr/share/zoneinfo",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/gnu/store",
    "/nix/store",
    "/dev/random",
    "/dev/urandom",
)
_PATHS_OF_PYTHON = ("stdlib", "platstdlib", "purelib", "platlib")
_FOLDERS_OF_A_PREFIX = ("lib", "lib64")

WRITABLE = (os.devnull,)


def readable(withheld: Sequence[str]) -> tuple[str, ...]:
    """The folders and files, outer ones first, without those that lie in another."""
    found = {os.path.abspath(each) for each in _candidates(withheld) if os.path.exists(each)}
    return tuple(path for path in sorted(found) if not any(_lies_in(path, other) for other in found - {path}))


def lies_in_one(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of the folders or lies below one."""
    return any(path == each or _lies_in(path, each) for each in folders)


def _candidates(withheld: Sequence[str]) -> Iterator[str]:
    yield from _OF_THE_SYSTEM
    yield from filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    for prefix in prefixes:
        yield from (os.path.join(prefix, each) for each in _FOLDERS_OF_A_PREFIX)
    yield from (sysconfig.get_path(each) for each in _PATHS_OF_PYTHON)
    for path in filter(None, sys.path):
        # an environment may lie in the folder of the course; the course's own modules are not for reading
        if lies_in_one(path, sorted(prefixes)) or not lies_in_one(path, withheld):
            yield path


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder.rstrip('/')}/")
