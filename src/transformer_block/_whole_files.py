"""Files that stand in their place whole or not at all, whenever the writer dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK, DRAFT = ".lock", ".draft"


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Wait until no other process writes into the folder; a dead one holds nothing."""
    # a file of its own, open for writing: a network file system locks no folder
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in its place in one step, once all of it is on the disk.

    Until then what stood there stands; a draft that was cut off is written anew.
    """
    draft = path.with_name(DRAFT)
    draft.unlink(missing_ok=True)
    try:
        _write_through(draft, data)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)  # a full disk needs the room
        raise
    keep_names(path.parent)


def keep_names(folder: Path) -> None:
    """Have the disk know which names the folder holds, also after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_through(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
