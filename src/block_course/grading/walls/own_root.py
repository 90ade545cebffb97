"""A root of the box's own: an empty file system in which lies, to be read, what Python needs, and no more."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from block_course.grading.walls import kernel

# the flags of mount(2)
_READ_ONLY, _NO_SUID, _NO_DEVICES, _REMOUNT = 1, 2, 4, 32
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_KEPT = {  # a mount that is locked may lose none of these, each as statvfs names it and as mount does
    os.ST_RDONLY: _READ_ONLY,
    os.ST_NOSUID: _NO_SUID,
    os.ST_NODEV: _NO_DEVICES,
    os.ST_NOEXEC: 8,
    os.ST_NOATIME: 1024,
    os.ST_NODIRATIME: 2048,
    os.ST_RELATIME: 1 << 21,
}


def move_in(folder: str, readable: Iterable[str], withheld: Sequence[str]) -> None:
    """Make a root in an empty folder and move into it, for good, from a mount namespace of one's own.

    What lies below `readable` is there under its own name, what lies below `withheld` is empty, and nothing
    can be written. Raises OSError.
    """
    kernel.mount("none", "/", None, _RECURSIVE | _PRIVATE)
    kernel.mount("tmpfs", folder, "tmpfs", _NO_SUID | _NO_DEVICES, "size=1m,mode=755")
    empty = []
    for path in sorted({*readable, *withheld}, key=len):  # outer folders first
        if path in withheld:
            if os.path.isdir(f"{folder}{path}"):
                kernel.mount("tmpfs", f"{folder}{path}", "tmpfs", _NO_SUID | _NO_DEVICES, "size=64k,mode=755")
                empty.append(f"{folder}{path}")
        elif os.path.exists(path):
            _bring(path, folder)
    for each in [*empty, folder]:
        kernel.mount("none", each, None, _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_DEVICES)
    kernel.pivot_into(folder)


def _bring(path: str, folder: str) -> None:
    real = os.path.realpath(path)
    target = Path(f"{folder}{real}")
    if os.path.isdir(real):
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.touch()
    kernel.mount(real, str(target), None, _BIND | _RECURSIVE)
    kernel.mount("none", str(target), None, _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _flags(real))
    if real != path:
        link = Path(f"{folder}{path}")
        link.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(link):
            link.symlink_to(real)


def _flags(path: str) -> int:
    present = os.statvfs(path).f_flag
    return sum(flag for seen, flag in _KEPT.items() if present & seen and seen != os.ST_RDONLY)
