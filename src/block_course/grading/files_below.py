"""The files below a folder that may be notebooks, and what they hold: nothing is followed, all is bounded."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from block_course.grading import naming
from block_course.grading.notebook import MAX_FILE_BYTES, Unreadable

DEEPEST = 8
OF_NBGRADER = "timestamp.txt"
_A_LINK = "a symbolic link; links are not followed"


@dataclass(frozen=True, slots=True)
class SetAside:
    """A file that isn't graded, and why."""

    path: Path
    reason: str


def contents(path: Path) -> bytes:
    """The bytes of a submitted file, which must be a regular file of a bearable size.

    Raises Unreadable.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                raise Unreadable("this is no regular file")
            if about.st_size > MAX_FILE_BYTES:
                what = f"the file has {about.st_size >> 20} MB"
                raise Unreadable(f"{what}; the limit is {MAX_FILE_BYTES >> 20} MB")
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(MAX_FILE_BYTES + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Unreadable(f"the file can't be read: {error.strerror}") from None


def files(root: Path) -> Iterator[Path | SetAside]:
    """The notebooks that a path is or that lie below it, and every other file with its reason."""
    if not root.is_dir():
        yield SetAside(root, _A_LINK) if root.is_symlink() else root
        return
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield SetAside(folder, f"a folder that can't be read: {error.strerror}")
            continue
        for entry in found:
            path = folder / entry.name
            if entry.is_symlink():
                yield SetAside(path, _A_LINK)
            elif entry.name.startswith("."):
                yield SetAside(path, "hidden")
            elif entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    waiting.append((path, depth + 1))
                else:
                    yield SetAside(path, f"a folder more than {DEEPEST} deep")
            elif entry.name.casefold().endswith(naming.SUFFIX):
                yield path
            elif entry.name != OF_NBGRADER:
                yield SetAside(path, "not a notebook")
