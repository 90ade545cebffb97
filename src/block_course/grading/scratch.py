"""Removing a folder that a learner's code has written in."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def remove_tree(folder: Path) -> None:
    """Remove a folder whatever it holds: folders nested thousands deep, without permissions, symbolic links.

    Each folder found inside is first moved to the top, so that no path grows too long and nothing recurses.
    Nothing outside is followed or touched. Must not run while something still writes there.
    """
    waiting, moved = [folder], 0
    emptied: list[Path] = []
    while waiting:
        here = waiting.pop()
        with contextlib.suppress(FileNotFoundError):
            here.chmod(0o700)
            with os.scandir(here) as entries:
                found = list(entries)
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    os.chmod(entry.path, 0o700)  # a folder that can't be written in can't be moved
                    moved += 1
                    waiting.append(folder / f".removing-{os.getpid()}-{moved}")
                    os.rename(entry.path, waiting[-1])
                else:
                    os.unlink(entry.path)
            emptied.append(here)
    for here in reversed(emptied):
        here.rmdir()
