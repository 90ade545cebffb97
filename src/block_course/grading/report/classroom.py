"""What GitHub Classroom's grading reporter reads, one file for each submission: `classroom/…/….json`.

The fields: github.com/classroom-resources/autograding-grading-reporter, which takes them in base64.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from block_course.grading.neutral import as_json, terminal
from block_course.grading.report.place import written_for
from block_course.grading.report.words import explained, is_full
from block_course.grading.result import GRADER_ERROR, Mark, Result

FOLDER = "classroom"


def write(folder: Path, results: Iterable[Result], about: Mapping[str, Any]) -> None:
    """Write a file for each submission.

    Where the grader failed the most that can be earned is 0: the reporter then tells Classroom no points.
    """
    for result in results:
        with written_for(folder / FOLDER, result, ".json") as file:
            file.write(as_json(_runner(result)) + "\n")


def _runner(result: Result) -> dict[str, Any]:
    known = result["points"] is not None
    full = all(map(is_full, result["exercises"]))
    return {
        "version": 1,
        "status": "error" if not known else "pass" if full else "fail",
        "max_score": result["of"] if known else 0,
        "tests": [_test(mark, known=known) for mark in result["exercises"]],
    }


def _test(mark: Mark, *, known: bool) -> dict[str, Any]:
    failed = "error" if mark["verdict"] == GRADER_ERROR else "fail"
    return {
        "name": terminal(f"{mark['id']}: {mark['title']}"),
        "status": "pass" if is_full(mark) else failed,
        "score": mark["points"] if known else 0,
        "message": "\n".join(map(terminal, explained(mark))),
        "test_code": terminal(mark["id"]),
        "filename": "",
        "line_no": 0,
        "duration": 0,
    }
