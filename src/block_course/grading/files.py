"""The files of a run: each written in one step, in a folder that one grader uses at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LOCK = ".lock"


class InUse(Exception):
    """Another grader is writing to the same folder."""


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other graders out of a folder; a killed one keeps nobody out. Raises InUse."""
    with open(folder / LOCK, "a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(f"another grader is writing to {folder}") from None
        yield


@contextmanager
def written(path: Path) -> Iterator[IO[str]]:
    """A text file that takes its place when all is written: a reader sees the old one or the new one."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(new, "w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name too must survive a power cut
    finally:
        os.close(folder)
