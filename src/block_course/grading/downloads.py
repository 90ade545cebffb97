"""What learning platforms call the files that they hand out: whose a file is, and which attempt."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

_CANVAS = re.compile(
    r"(?P<who>[^_/]+)_(?P<late>LATE_)?(?P<id>[0-9]{1,20}|[A-Za-z0-9]{5})_(?P<attachment>[0-9]{1,20})_(?P<name>[^/]+)"
)
"""`smithbob_LATE_340934_208490284_block-1.ipynb`: a name without spaces, the user's id, the upload's id."""
_MOODLE = re.compile(
    r"(?P<who>[^/]+)_(?P<id>[0-9]{1,20})_assignsubmission_(?P<kind>[a-z]+)_?(?P<inside>/(?:.*/)?)?(?P<name>[^/]+)"
)
"""`Bob Smith_1234567_assignsubmission_file_/block.ipynb`, or the same without a folder."""
_BLACKBOARD = re.compile(
    r"(?P<what>[^/]+)_(?P<who>[^_/]+)_attempt_(?P<at>\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d)(?:_(?P<name>[^/]+)|\.ipynb)"
)
"""`Block_smithb_attempt_2026-11-30-18-02-11_block.ipynb`."""


@dataclass(frozen=True, slots=True)
class Handed:
    """Whose a downloaded file is: what the platform calls them, and numbers and names that it knows them by.

    `order` grows with each attempt, `submitted` says what its name tells of the time.
    """

    who: str
    number: str
    known_by: tuple[str, ...]
    name: str
    order: int = 0
    submitted: str = ""


def handed(path: str) -> Handed | None:
    """What a path in a download of Canvas, Moodle or Blackboard says; None for any other path."""
    if (found := _MOODLE.fullmatch(path)) is not None:
        if found["kind"] != "file":
            return None
        who = found["who"].replace("_", " ").strip()
        return Handed(who, found["id"], (f"Participant {found['id']}", who), found["name"])
    if (found := _BLACKBOARD.fullmatch(path)) is not None:
        day, time = found["at"][:10], found["at"][11:].replace("-", ":")
        order = int(re.sub(r"\D", "", found["at"]))
        return Handed(found["who"], "", (found["who"],), found["name"] or path, order, f"{day} {time}")
    if (found := _CANVAS.fullmatch(path)) is not None:
        late = "LATE" if found["late"] else ""
        who = f"{found['who']}_{found['id']}"
        return Handed(who, "", (found["id"],), found["name"], int(found["attachment"]), late)
    return None


def learners(files: Iterable[Handed], roster: Mapping[str, str]) -> dict[Handed, str]:
    """What to call the learner of each file: as the roster does, if it knows them, or as the platform does.

    Two people of one name are told apart by their numbers.
    """
    files = list(files)
    numbers: dict[str, set[str]] = defaultdict(set)
    for each in files:
        numbers[each.who].add(each.number)
    return {each: _name(each, roster, alone=len(numbers[each.who]) == 1) for each in files}


def _name(file: Handed, roster: Mapping[str, str], *, alone: bool) -> str:
    first, *others = file.known_by
    # another with the same name may be meant by it
    for known_by in (first, *others) if alone else (first,):
        if known_by.casefold() in roster:
            return roster[known_by.casefold()]
    return file.who if alone else f"{file.who} {file.number}"


def leads_out(path: str) -> bool:
    """Whether a path in an archive leads out of it, or into a place of its own choosing."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    return path.startswith(("/", "\\")) or ".." in parts or bool(parts and ":" in parts[0])
