"""Finding submissions: which files count, whose they are, and what becomes of every other file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from block_course.exercise import Assignment
from block_course.grading import naming
from block_course.grading.archive import BadArchive, LeftInside, Unpacked, is_archive, unpacked
from block_course.grading.downloads import Handed, handed, learners
from block_course.grading.files_below import OF_NBGRADER, SetAside, contents, files
from block_course.grading.notebook import Unreadable, read

_NOBODY: Mapping[str, str] = MappingProxyType({})
_LONGEST_TIME = 200


class NotFound(Exception):
    """A path that was asked for isn't there."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A learner's notebook for an assignment; `submitted` is when it was handed in, where that is known."""

    learner: str
    assignment: Assignment
    path: Path
    submitted: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What counts, by learner and assignment, and what was set aside, by path."""

    submissions: tuple[Submission, ...]
    set_aside: tuple[SetAside, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    submission: Submission
    likeness: naming.Likeness
    modified: int
    said: Handed | None = None


def find(
    paths: Iterable[Path],
    assignments: Sequence[Assignment],
    into: Path | None = None,
    roster: Mapping[str, str] = _NOBODY,
) -> Found:
    """The submissions in notebooks, folders and archives.

    A folder holds `<learner>/<stem>.ipynb`, nbgrader's `<learner>/<assignment>/<stem>.ipynb`, files as a
    learning platform names them, or is a learner's own. A zip file is unpacked below `into`. Of several
    notebooks of one learner for one assignment the newest counts. Symbolic links are not followed. Every file
    that doesn't count is listed with its reason. `roster` says what to call those whom a platform knows by
    other names.

    Raises NotFound for a path that doesn't exist.
    """
    looked_at: list[_Candidate | SetAside] = []
    seen: set[Path] = set()
    for root in paths:
        if not root.exists():
            raise NotFound(f"there is no {root}")
        if into is not None and is_archive(root):
            looked_at += _inside(root, into, roster, assignments)
            continue
        for found in files(root):
            if isinstance(found, SetAside):
                looked_at.append(found)
            elif (place := found.resolve()) not in seen:
                seen.add(place)
                looked_at.append(_candidate(found, root, assignments))
    candidates = [each for each in looked_at if isinstance(each, _Candidate)]
    set_aside = [each for each in looked_at if isinstance(each, SetAside)]
    counting, older = _newest(_told_apart(_as_platforms_say(candidates, roster)))
    return Found(tuple(counting), tuple(sorted([*set_aside, *older], key=lambda each: str(each.path))))


def _inside(
    archive: Path, into: Path, roster: Mapping[str, str], assignments: Sequence[Assignment]
) -> Iterator[_Candidate | SetAside]:
    try:
        for found in unpacked(archive, into, roster):
            if isinstance(found, LeftInside):
                yield SetAside(Path(f"{archive}/{found.name}"), found.reason)
            else:
                yield _taken_out(found, assignments)
    except BadArchive as error:
        yield SetAside(archive, str(error))


def _taken_out(found: Unpacked, assignments: Sequence[Assignment]) -> _Candidate | SetAside:
    spoken_of = naming.named(found.name, assignments) or _held(found.path, assignments)
    if isinstance(spoken_of, SetAside):
        return spoken_of
    submission = Submission(found.learner, spoken_of[0], found.path, found.submitted)
    return _Candidate(submission, "copy", found.order)


def _as_platforms_say(candidates: Sequence[_Candidate], roster: Mapping[str, str]) -> list[_Candidate]:
    """Those whose files lie in a folder as a platform named them belong to whom the names say."""
    downloads: dict[Path, list[Handed]] = {}
    for each in candidates:
        if each.said is not None:
            downloads.setdefault(_download(each), []).append(each.said)
    names = {place: learners(said, roster) for place, said in downloads.items()}
    return [
        each if each.said is None else _told(each, names[_download(each)][each.said], each.said)
        for each in candidates
    ]


def _download(candidate: _Candidate) -> Path:
    """The folder of a download that a file lies in, or whose folder it lies in."""
    folder = candidate.submission.path.parent
    return folder if handed(candidate.submission.path.name) is not None else folder.parent


def _told(candidate: _Candidate, learner: str, said: Handed) -> _Candidate:
    submitted = said.submitted or candidate.submission.submitted
    theirs = replace(candidate.submission, learner=learner, submitted=submitted)
    order = said.order or candidate.modified
    return replace(candidate, submission=theirs, likeness="copy", modified=order)


def _candidate(path: Path, root: Path, assignments: Sequence[Assignment]) -> _Candidate | SetAside:
    said = handed(path.name) or handed(f"{path.parent.name}/{path.name}")
    name = path.name if said is None else said.name
    spoken_of = naming.named(name, assignments) or _held(path, assignments)
    if isinstance(spoken_of, SetAside):
        return spoken_of
    assignment, likeness = spoken_of
    try:
        modified = path.lstat().st_mtime_ns
    except OSError as error:
        return SetAside(path, f"it can't be looked at: {error.strerror}")
    theirs = Submission(_learner(path, root, assignment), assignment, path, _timestamp(path))
    return _Candidate(theirs, likeness, modified, said)


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
    if len(between) == 2 and (top.name == "submitted" or (folder / OF_NBGRADER).exists()):
        between.pop()
    return "/".join(between) or top.name or "unnamed"


def _timestamp(path: Path) -> str:
    """What nbgrader has noted beside a notebook of when it was handed in."""
    try:
        return contents(path.parent / OF_NBGRADER)[:_LONGEST_TIME].decode("utf-8", "replace").strip()
    except Unreadable:
        return ""


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
