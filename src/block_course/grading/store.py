"""What has been graded, kept so that a kill at any moment loses at most the submission under way."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from block_course.grading.neutral import spreadsheet
from block_course.grading.result import Result, has_grader_error

JOURNAL = "journal.jsonl"
RESULTS = "results.json"
GRADES = "grades.csv"
COLUMNS = ("learner", "assignment", "points", "of", "verdicts", "file")


class InUse(Exception):
    """Another grader is writing to the same folder."""


class Journal:
    """A line for each submission that was graded, written through to the disk; none is ever taken out."""

    def __init__(self, folder: Path) -> None:
        """Open the journal of a folder. Raises InUse."""
        self._file = open(folder / JOURNAL, "a+b")  # noqa: SIM115
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InUse(f"another grader is writing to {folder}") from None
        self._by_key: dict[str, Result] = {}
        self._latest: dict[tuple[str, str], Result] = {}
        self.damaged = 0
        self._load()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def find(self, key: str) -> Result | None:
        """The result under a key, unless the grader had failed on it: that is tried again."""
        result = self._by_key.get(key)
        return None if result is None or has_grader_error(result) else result

    def keep(self, key: str, result: Result) -> None:
        """Make a result the latest of its learner; when this returns, it is on the disk."""
        if self._latest.get((result["learner"], result["assignment"])) == result and key in self._by_key:
            return
        line = json.dumps({"key": key, "result": result}, allow_nan=False)
        self._file.write(line.encode("ascii") + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._take(key, result)

    def latest(self) -> list[Result]:
        """The latest result of each learner and assignment, in their order."""
        return [result for _, result in sorted(self._latest.items())]

    def _take(self, key: str, result: Result) -> None:
        self._by_key[key] = result
        self._latest[result["learner"], result["assignment"]] = result

    def _load(self) -> None:
        self._file.seek(0)
        end = 0
        for line in self._file:
            if not line.endswith(b"\n"):  # cut off by a kill; what follows must not be glued to it
                self._file.truncate(end)
                break
            end += len(line)
            try:
                entry = json.loads(line)
                self._take(entry["key"], entry["result"])
            except (ValueError, TypeError, KeyError):
                self.damaged += 1


def write_results(folder: Path, results: Iterable[Result], about: Mapping[str, Any]) -> None:
    """Write results.json and grades.csv, each in one step: a reader sees the old one or the new one."""
    in_order = list(results)
    whole = json.dumps({**about, "results": in_order}, indent=1, allow_nan=False)
    _write(folder / RESULTS, whole + "\n")
    _write(folder / GRADES, _table(in_order))


def _table(results: Iterable[Result]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for result in results:
        verdicts = "; ".join(f"{mark['id']}: {mark['verdict']}" for mark in result["exercises"])
        names = [spreadsheet(result[name]) for name in ("learner", "assignment")]
        points = "" if result["points"] is None else f"{result['points']:.10g}"
        table.writerow([*names, points, f"{result['of']:.10g}", verdicts, spreadsheet(result["file"])])
    return text.getvalue()


def _write(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(new, "w", encoding="utf-8", newline="") as file:
            file.write(text)
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
