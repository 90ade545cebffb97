from pathlib import Path

import pytest

from block_course.grading.report import summary
from tests.block_course.grading.graded import result


def lines(folder: Path, names: str = "ab", **about: object) -> list[str]:
    results = [result(name, points) for name, points in zip(names, (1.0, None, 3.0), strict=False)]
    summary.write(folder, results, about)
    return (folder / "summary.md").read_text(encoding="utf-8").splitlines()


def test_a_row_for_each_submission_and_the_counts(tmp_path: Path) -> None:
    assert lines(tmp_path, pass_mark=50.0) == [
        "## Grades",
        "",
        "| learner | assignment | points | of | what happened |",
        "| --- | --- | ---: | ---: | --- |",
        "| `a` | `00_tiny` | 1 (below) | 3 | `wrong` |",
        "| `b` | `00_tiny` | — | 3 | `grader error` |",
        "",
        "Submissions: 2, not graded yet because the grader failed: 1, below the pass mark of 50 %: 1.",
    ]


def test_a_long_table_ends_with_a_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "MOST_ROWS", 2)

    found = lines(tmp_path, "abc")

    assert "and 1 more, in grades.csv" in found
    assert found[-1] == "Submissions: 3, not graded yet because the grader failed: 1."


def test_who_is_missing_or_unknown_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "_MOST_NAMES", 2)

    found = lines(tmp_path, roster={"00_tiny": {"missing": ["x", "y", "z"], "unknown": []}})

    assert found[-1] == "`00_tiny`, missing (3): `x`, `y` and 1 more"


def test_marks_that_prove_nothing_say_so(tmp_path: Path) -> None:
    assert any("these points prove nothing" in line for line in lines(tmp_path, walls={"unsafe": True}))
    assert not any("prove" in line for line in lines(tmp_path, walls={"unsafe": False}))
