"""The list of a class: who should have handed something in."""

from __future__ import annotations

import csv
from pathlib import Path

from block_course.grading.neutral import terminal

COLUMNS = ("learner", "student", "login id", "login", "username", "user", "id", "email", "name")
"""What the column with the learners' names may be called, the first that is there being taken."""
_MOST_BYTES = 32 << 20


class RosterError(Exception):
    """A roster that can't be used; the message says why."""


def read_roster(path: Path) -> tuple[str, ...]:
    """The names in a CSV file, as the learners' folders are called. Columns may be parted by , or ; or tabs.

    Raises RosterError if it can't be read, has no such column, or names someone twice.
    """
    lines = _text(path).splitlines()
    if not lines:
        raise RosterError(f"the roster {path} is empty")
    try:
        rows = list(csv.reader(lines, delimiter=max(",;\t", key=lines[0].count), strict=True))
    except csv.Error as error:
        raise RosterError(f"the roster {path} is no CSV file: {error}") from None
    heads = [each.strip().casefold() for each in rows[0]]
    column = next((heads.index(each) for each in COLUMNS if each in heads), None)
    if column is None:
        wanted = ", ".join(COLUMNS)
        raise RosterError(f"the roster {path} has the columns {terminal(', '.join(heads))}; one of {wanted}")
    names = [row[column].strip() for row in rows[1:] if len(row) > column and row[column].strip()]
    twice = sorted({each for each in names if names.count(each) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise RosterError(f"the roster {path} names {terminal(', '.join(twice))} more than once")
    return tuple(names)


def _text(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise RosterError(f"the roster {path} can't be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise RosterError(f"the roster {path} has more than {_MOST_BYTES >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RosterError(f"the roster {path} is not UTF-8: {error.reason} at byte {error.start}") from None
