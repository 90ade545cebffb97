"""Removing a folder that a learner's code has written in."""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: Path) -> None:
    """Remove a folder whatever it holds: folders nested thousands deep, without permissions, symbolic links.

    It steps from folder to folder, so that no path grows too long, nothing recurses and one descriptor is
    open. Nothing outside is followed or touched. Must not run while something still writes there.
    """
    try:
        folder.chmod(0o700)
        here = os.open(folder, _FOLDER)
    except FileNotFoundError:
        return
    above: list[str] = []
    waiting = [_without_files(here)]
    while waiting:
        if waiting[-1]:
            name = waiting[-1].pop()
            os.chmod(name, 0o700, dir_fd=here)
            above.append(name)
            here = _stepped(here, name)
            waiting.append(_without_files(here))
            continue
        waiting.pop()
        if above:
            here = _stepped(here, "..")
            os.rmdir(above.pop(), dir_fd=here)
    os.close(here)
    folder.rmdir()


def _without_files(here: int) -> list[str]:
    """Remove a folder's files, and give the names of the folders in it."""
    with os.scandir(here) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name, dir_fd=here)
    return [name for name, is_folder in found if is_folder]


def _stepped(here: int, name: str) -> int:
    there = os.open(name, _FOLDER, dir_fd=here)
    os.close(here)
    return there
