import json
from pathlib import Path
from typing import Any

import pytest

from block_course.grading.report import classroom
from block_course.grading.result import Mark
from tests.block_course.grading.graded import mark, result

FULL, PART = mark(verdict="pass", points=3.0), mark("tiny.g", points=1.0)
BROKEN = mark("tiny.h", "grader error", None)


def written(folder: Path, *marks: Mark) -> dict[str, Any]:
    classroom.write(folder, [result(marks=marks)], {})
    read: dict[str, Any] = json.loads((folder / "classroom" / "ann" / "00_tiny.json").read_text())
    return read


@pytest.mark.parametrize(
    ("marks", "status", "most", "scores"),
    [
        ((FULL,), "pass", 3.0, [3.0]),
        ((FULL, PART), "fail", 6.0, [3.0, 1.0]),
        ((FULL, BROKEN), "error", 0, [0, 0]),
    ],
    ids=["full marks", "less", "a failure of the grader's own"],
)
def test_the_reporter_finds_a_status_and_points(
    tmp_path: Path, marks: tuple[Mark, ...], status: str, most: float, scores: list[float]
) -> None:
    about = written(tmp_path, *marks)

    assert (about["version"], about["status"], about["max_score"]) == (1, status, most)
    assert [each["score"] for each in about["tests"]] == scores


def test_each_exercise_is_a_test(tmp_path: Path) -> None:
    about = written(tmp_path, FULL, PART, BROKEN)

    assert [each["status"] for each in about["tests"]] == ["pass", "fail", "error"]
    assert about["tests"][1]["name"] == "tiny.g: F"
    assert "fails: the values (0 of 2)" in about["tests"][1]["message"]
