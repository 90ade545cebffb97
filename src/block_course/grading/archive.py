"""Zip files of submissions, as platforms hand them out: only notebooks are taken out, and only so much."""

from __future__ import annotations

import hashlib
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from block_course.grading.downloads import Handed, handed, leads_out, learners
from block_course.grading.naming import SUFFIX
from block_course.grading.neutral import file_name
from block_course.grading.notebook import MAX_FILE_BYTES

MOST_MEMBERS = 200_000
MOST_BYTES = 8 << 30
UNPACKED = "unpacked"

_PIECE = 1 << 20
_ENCRYPTED = 0x1
_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How a member may be packed. The others give gigabytes for the first bytes that are asked for."""
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)
_NO_ARCHIVE = (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError, OSError)
"""What opening one raises: a newer version of the format and names that are no text are among it."""


class BadArchive(Exception):
    """An archive that nothing is taken out of; the message says why."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A notebook that was taken out: where it is now, whose it is, and its place among their attempts."""

    path: Path
    learner: str
    name: str
    order: int
    submitted: str


@dataclass(frozen=True, slots=True)
class LeftInside:
    """A member that was not taken out, and why."""

    name: str
    reason: str


def is_archive(path: Path) -> bool:
    """Whether a file is taken for one, by its name."""
    return path.suffix.casefold() == ".zip" and path.is_file()


def unpacked(archive: Path, into: Path, roster: Mapping[str, str]) -> Iterator[Unpacked | LeftInside]:
    """Take the notebooks out of an archive, below a folder of their own in `into`.

    No name in the archive becomes a path: each file gets a number. Raises BadArchive, before anything is
    written, for one that is none or that holds more than a course could.
    """
    with _opened(archive) as file:
        members = _looked_through(file)
        # the names of two archives may be the same, their places are not
        digest = hashlib.sha256(str(archive.resolve()).encode("utf-8", "surrogateescape")).hexdigest()
        folder = into / UNPACKED / f"{archive.stem[:40]}-{digest[:8]}"
        folder.mkdir(parents=True, exist_ok=True)
        yield from _taken_out(file, members, folder, roster)


def _opened(archive: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(archive)
    except _NO_ARCHIVE as error:
        raise BadArchive(f"{archive} is no zip file that can be read: {error}") from None


def _looked_through(file: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    members = [each for each in file.infolist() if not each.filename.endswith("/")]
    if len(members) > MOST_MEMBERS:
        raise BadArchive(f"{file.filename} holds {len(members)} files; the limit is {MOST_MEMBERS}")
    size = sum(each.file_size for each in members)
    if size > MOST_BYTES:
        what = f"{file.filename} would be {size >> 30} GB when unpacked"
        raise BadArchive(f"{what}; the limit is {MOST_BYTES >> 30} GB")
    return members


def _taken_out(
    file: zipfile.ZipFile, members: list[zipfile.ZipInfo], folder: Path, roster: Mapping[str, str]
) -> Iterator[Unpacked | LeftInside]:
    notebooks: dict[zipfile.ZipInfo, Handed] = {}
    for member in members:
        said = _said(member)
        if isinstance(said, str):
            yield LeftInside(member.filename, said)
        else:
            notebooks[member] = said
    names = learners(notebooks.values(), roster)
    for number, (member, said) in enumerate(notebooks.items()):
        stem = said.name[: -len(SUFFIX)]
        path = folder / f"{number:06}-{file_name(stem)}{SUFFIX}"
        try:
            _write(file, member, path)
        except _DAMAGE as error:
            yield LeftInside(member.filename, f"it can't be unpacked: {error}")
        else:
            yield Unpacked(path, names[said], said.name, said.order, said.submitted)


def _said(member: zipfile.ZipInfo) -> Handed | str:
    """Whose a member is and when it was handed in, or why it is left inside."""
    if leads_out(member.filename):
        return "its name leads out of the archive"
    path = PurePosixPath(member.filename)
    if not path.parts:
        return "it has no name"
    if path.name.startswith(".") or path.parts[0] == "__MACOSX":
        return "hidden"
    if path.suffix.casefold() == ".zip":
        return "an archive in an archive"
    if path.suffix.casefold() != SUFFIX:
        return "not a notebook"
    if member.file_size > MAX_FILE_BYTES:
        return f"it has {member.file_size >> 20} MB; the limit is {MAX_FILE_BYTES >> 20} MB"
    if member.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if member.compress_type not in _WAYS:
        return "it is packed in an unusual way"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "a symbolic link; links are not followed"
    at = "{:04}-{:02}-{:02} {:02}:{:02}:{:02}".format(*member.date_time)
    found = handed(member.filename)
    if found is not None and found.number:  # Moodle's: a file's date is when it was handed in
        return Handed(
            found.who, found.number, found.known_by, found.name, int("".join(filter(str.isdigit, at))), at
        )
    if found is not None:
        return found
    folders = [each for each in path.parts[:-1] if each != "submitted"]
    if not folders:
        return "its name doesn't say whose it is"
    return Handed(folders[0], "", (folders[0],), path.name, int("".join(filter(str.isdigit, at))))


def _write(file: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    """Take a member out, and no more of it than it was said to have."""
    left = member.file_size
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with file.open(member) as packed, open(new, "wb") as out:
            while left > 0 and (piece := packed.read(min(left, _PIECE))):
                out.write(piece)
                left -= len(piece)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
