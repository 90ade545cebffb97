"""`grades.csv`: a row for each learner and assignment, for a spreadsheet or a learning platform."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from block_course.grading.files import written
from block_course.grading.neutral import spreadsheet
from block_course.grading.result import Result

GRADES = "grades.csv"
COLUMNS = ("learner", "assignment", "points", "of", "verdicts", "file", "attempt", "submitted", "comment")


def write(folder: Path, results: Iterable[Result], about: Mapping[str, Any]) -> None:
    """Write the table. Points that aren't known are empty, which is not zero."""
    with written(folder / GRADES) as file:
        # all in quotation marks: where a semicolon parts columns, a name with one in it begins no new cell
        table = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        table.writerow(COLUMNS)
        for result in results:
            verdicts = "; ".join(f"{mark['id']}: {mark['verdict']}" for mark in result["exercises"])
            table.writerow(
                [
                    *(spreadsheet(result[name]) for name in ("learner", "assignment")),
                    "" if result["points"] is None else f"{result['points']:.10g}",
                    f"{result['of']:.10g}",
                    spreadsheet(verdicts),
                    spreadsheet(result["file"]),
                    result.get("attempt", ""),
                    spreadsheet(result.get("submitted", "")),
                    spreadsheet(result.get("comment", "")),
                ]
            )
