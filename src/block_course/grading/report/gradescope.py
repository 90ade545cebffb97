"""Gradescope's `results.json`, one for each submission: `gradescope/<learner>/<assignment>.json`.

The fields: gradescope-autograders.readthedocs.io, "Autograder specifications".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from block_course.grading.neutral import as_json, terminal
from block_course.grading.report.place import written_for
from block_course.grading.report.words import SENTENCES, explained, is_full
from block_course.grading.result import GRADER_ERROR, Mark, Result

FOLDER = "gradescope"


def write(folder: Path, results: Iterable[Result], about: Mapping[str, Any]) -> None:
    """Write a file for each submission.

    Where the grader failed no score is said at all: Gradescope adds what there is and takes the rest for 0.
    """
    for result in results:
        with written_for(folder / FOLDER, result, ".json") as file:
            file.write(as_json(_results(result), indent=1) + "\n")


def _results(result: Result) -> dict[str, Any]:
    known = result["points"] is not None
    said = [*result["notes"], *result.get("comment", "").splitlines()]
    if not known:
        said.insert(0, SENTENCES[GRADER_ERROR])
    score = {"score": result["points"]} if known else {}
    return {
        **score,
        "execution_time": result["seconds"],
        "output": "\n".join(map(terminal, said)),
        "output_format": "text",
        "test_name_format": "text",
        "test_output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_test(mark, known=known) for mark in result["exercises"]],
    }


def _test(mark: Mark, *, known: bool) -> dict[str, Any]:
    score = {"score": mark["points"], "max_score": mark["of"]} if known else {}
    return {
        **score,
        "status": "passed" if is_full(mark) else "failed",
        "name": terminal(mark["title"]),
        "name_format": "text",
        "number": terminal(mark["id"]),
        "output": "\n".join(map(terminal, explained(mark))),
        "output_format": "text",
        "visibility": "visible",
    }
