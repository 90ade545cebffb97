"""The lists of a class: who should have handed something in, what else they are called, and when they did."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from block_course.grading.neutral import terminal

COLUMNS = ("learner", "student", "login id", "login", "username", "user", "id", "email", "name")
"""What the column with the learners' names may be called, the first that is there being taken."""
TIMES = ("submitted", "submission time", "submitted at", "timestamp", "time", "last modified (submission)")
"""What the column with the times may be called: Moodle's grading worksheet has the last of these."""
_MOODLE = ("full name",)
_MOST_BYTES = 32 << 20


class RosterError(Exception):
    """A roster that can't be used; the message says why."""


def read_roster(path: Path) -> tuple[str, ...]:
    """The names in a CSV file, as the learners' folders are called. Columns may be parted by , or ; or tabs.

    Raises RosterError if it can't be read, has no such column, or names someone twice.
    """
    heads, rows = _table(path, "roster")
    column = _column(path, "roster", heads, COLUMNS)
    names = [row[column] for row in rows if row[column]]
    twice = sorted({each for each in names if names.count(each) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise RosterError(f"the roster {path} names {terminal(', '.join(twice))} more than once")
    return tuple(names)


def read_known_by(path: Path) -> dict[str, str]:
    """By all that a roster says of someone, in lower case, what it calls them: numbers, logins, full names.

    What it says of more than one is left out. Raises RosterError.
    """
    heads, rows = _table(path, "roster")
    column = _column(path, "roster", heads, COLUMNS)
    found: dict[str, set[str]] = {}
    for row in rows:
        said = dict(zip(heads, row, strict=True))
        whole = f"{said.get('first name', '')} {said.get('last name', said.get('surname', ''))}".strip()
        for text in {*row, whole} - {""} if row[column] else ():
            found.setdefault(text.casefold(), set()).add(row[column])
    return {text: names.pop() for text, names in found.items() if len(names) == 1}


def read_times(path: Path) -> dict[tuple[str, str], str]:
    """When learners handed in, by learner and assignment, which is empty where the file names none.

    Raises RosterError.
    """
    heads, rows = _table(path, "list of times")
    who = _column(path, "list of times", heads, (*COLUMNS, *_MOODLE))
    when = _column(path, "list of times", heads, TIMES)
    what = heads.index("assignment") if "assignment" in heads else None
    return {(row[who], "" if what is None else row[what]): row[when] for row in rows if row[who]}


def _table(path: Path, what: str) -> tuple[list[str], list[list[str]]]:
    """The heads of the columns in lower case, and the rows, all of one length and stripped."""
    lines = _text(path, what).splitlines()
    if not lines:
        raise RosterError(f"the {what} {path} is empty")
    try:
        rows = list(csv.reader(lines, delimiter=max(",;\t", key=lines[0].count), strict=True))
    except csv.Error as error:
        raise RosterError(f"the {what} {path} is no CSV file: {error}") from None
    heads = [each.strip().casefold() for each in rows[0]]
    wide = [[each.strip() for each in [*row, *[""] * len(heads)][: len(heads)]] for row in rows[1:]]
    return heads, wide


def _column(path: Path, what: str, heads: list[str], wanted: Sequence[str]) -> int:
    found = next((heads.index(each) for each in wanted if each in heads), None)
    if found is None:
        said = terminal(", ".join(heads))
        raise RosterError(f"the {what} {path} has the columns {said}; one of {', '.join(wanted)} is needed")
    return found


def _text(path: Path, what: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise RosterError(f"the {what} {path} can't be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise RosterError(f"the {what} {path} has more than {_MOST_BYTES >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RosterError(f"the {what} {path} is not UTF-8: {error.reason} at byte {error.start}") from None
