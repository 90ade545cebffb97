"""Finding submissions: which files count, whose they are, and what becomes of every other file."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from block_course.exercise import Assignment
from block_course.grading import naming
from block_course.grading.notebook import MAX_FILE_BYTES, Unreadable, read

DEEPEST = 8
_OF_NBGRADER = "timestamp.txt"
_A_LINK = "a symbolic link; links are not followed"


class NotFound(Exception):
    """A path that was asked for isn't there."""


@dataclass(frozen=True)
class Submission:
    """A learner's notebook for an assignment."""

    learner: str
    assignment: Assignment
    path: Path


@dataclass(frozen=True)
class SetAside:
    """A file that isn't graded, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Found:
    """What counts, by learner and assignment, and what was set aside, by path."""

    submissions: tuple[Submission, ...]
    set_aside: tuple[SetAside, ...]


@dataclass(frozen=True)
class _Candidate:
    submission: Submission
    likeness: naming.Likeness
    modified: int


def find(paths: Iterable[Path], assignments: Sequence[Assignment]) -> Found:
    """The submissions in notebooks and folders.

    A folder holds `<learner>/<stem>.ipynb`, nbgrader's `<learner>/<assignment>/<stem>.ipynb`, or is a
    learner's own. Of several notebooks of one learner for one assignment the newest counts. Symbolic links
    are not followed. Every file that doesn't count is listed with its reason.

    Raises NotFound for a path that doesn't exist.
    """
    candidates: list[_Candidate] = []
    set_aside: list[SetAside] = []
    seen: set[Path] = set()
    for root in paths:
        if not root.exists():
            raise NotFound(f"there is no {root}")
        for found in _files(root):
            if isinstance(found, SetAside):
                set_aside.append(found)
            elif (place := found.resolve()) not in seen:
                seen.add(place)
                looked_at = _candidate(found, root, assignments)
                if isinstance(looked_at, SetAside):
                    set_aside.append(looked_at)
                else:
                    candidates.append(looked_at)
    counting, older = _newest(_told_apart(candidates))
    return Found(tuple(counting), tuple(sorted([*set_aside, *older], key=lambda each: str(each.path))))


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


def _files(root: Path) -> Iterator[Path | SetAside]:
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
            elif entry.name != _OF_NBGRADER:
                yield SetAside(path, "not a notebook")


def _candidate(path: Path, root: Path, assignments: Sequence[Assignment]) -> _Candidate | SetAside:
    spoken_of = naming.named(path.name, assignments) or _held(path, assignments)
    if isinstance(spoken_of, SetAside):
        return spoken_of
    assignment, likeness = spoken_of
    try:
        modified = path.lstat().st_mtime_ns
    except OSError as error:
        return SetAside(path, f"it can't be looked at: {error.strerror}")
    return _Candidate(Submission(_learner(path, root, assignment), assignment, path), likeness, modified)


def _held(path: Path, assignments: Sequence[Assignment]) -> tuple[Assignment, naming.Likeness] | SetAside:
    try:
        held = naming.holding(read(contents(path)), assignments)
    except Unreadable as error:
        return SetAside(path, f"not named like an assignment, and unreadable: {error}")
    if held is None:
        return SetAside(path, "not named like an assignment, and holds none of their cells")
    return held, "other"


def _learner(path: Path, root: Path, assignment: Assignment) -> str:
    """Whose a file is, from the folders it lies in.

    Below the folder that was asked for, the first folder is the learner's. A folder called as the assignment
    is nbgrader's. Where there are more folders than that, all their names together tell learners apart.
    """
    folder = path.absolute().parent
    top = root.absolute() if root.is_dir() else folder
    between = list(folder.relative_to(top).parts)
    if between and _is_of(between[-1], assignment):
        between.pop()
    elif not between and _is_of(top.name, assignment):
        top = top.parent
    if len(between) == 2 and (top.name == "submitted" or (folder / _OF_NBGRADER).exists()):
        between.pop()
    return "/".join(between) or top.name or "unnamed"


def _is_of(name: str, assignment: Assignment) -> bool:
    return naming.named(name, [assignment]) is not None


def _told_apart(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Several files of one folder whose names hold more than the assignment's may be of several people.

    Then the file's name belongs to the learner's, so that nobody's work is taken for an older copy.
    """
    others = Counter(_place(each) for each in candidates if each.likeness == "other")
    return [
        _renamed(each) if each.likeness == "other" and others[_place(each)] > 1 else each
        for each in candidates
    ]


def _place(candidate: _Candidate) -> tuple[Path, str]:
    return candidate.submission.path.parent, candidate.submission.assignment.stem


def _renamed(candidate: _Candidate) -> _Candidate:
    submission = candidate.submission
    learner = f"{submission.learner}/{submission.path.stem}"
    return replace(candidate, submission=replace(submission, learner=learner))


def _newest(candidates: Sequence[_Candidate]) -> tuple[list[Submission], list[SetAside]]:
    groups: dict[tuple[str, str], list[_Candidate]] = {}
    for each in candidates:
        groups.setdefault((each.submission.learner, each.submission.assignment.stem), []).append(each)
    counting: list[Submission] = []
    older: list[SetAside] = []
    for _, group in sorted(groups.items()):
        in_order = [each.submission for each in sorted(group, key=_rank)]
        best = in_order.pop()
        counting.append(best)
        older += [SetAside(each.path, f"{best.path.name} counts for this learner") for each in in_order]
    return counting, older


def _rank(candidate: _Candidate) -> tuple[bool, int, bool, str]:
    path = candidate.submission.path
    exact = path.stem == candidate.submission.assignment.stem
    return not naming.is_fresh_release(path), candidate.modified, exact, str(path)
