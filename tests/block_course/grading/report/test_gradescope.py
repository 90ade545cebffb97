import json
from pathlib import Path
from typing import Any

from block_course.grading.report import gradescope
from block_course.grading.result import Result
from tests.block_course.grading.graded import mark, result


def written(folder: Path, given: Result) -> dict[str, Any]:
    gradescope.write(folder, [given], {})
    (path,) = folder.rglob("*.json")
    assert path == folder / "gradescope" / "ann" / "00_tiny.json"
    read: dict[str, Any] = json.loads(path.read_text())
    return read


def test_each_exercise_is_a_test_with_its_score(tmp_path: Path) -> None:
    given = result(marks=(mark(points=3.0, verdict="pass"), mark("tiny.g", points=1.0, diagnosis="ddof")))

    about = written(tmp_path, {**given, "notes": ["cell 3: 1 / 0"], "comment": "see me"})

    assert about["score"] == 4.0
    assert about["output"] == "cell 3: 1 / 0\nsee me"
    assert [(each["status"], each["score"], each["max_score"]) for each in about["tests"]] == [
        ("passed", 3.0, 3.0),
        ("failed", 1.0, 3.0),
    ]
    assert "this misconception gives: ddof" in about["tests"][1]["output"]


def test_nothing_is_taken_for_html_or_markdown(tmp_path: Path) -> None:
    about = written(tmp_path, result())

    assert {about[name] for name in ("output_format", "test_name_format", "test_output_format")} == {"text"}
    assert about["stdout_visibility"] == "hidden"
    assert (about["tests"][0]["name_format"], about["tests"][0]["output_format"]) == ("text", "text")


def test_where_the_grader_failed_no_score_is_said_at_all(tmp_path: Path) -> None:
    broken = mark("tiny.g", "grader error", None)

    about = written(tmp_path, result(marks=(mark(points=3.0, verdict="pass"), broken)))

    assert "score" not in about
    assert not any("score" in each or "max_score" in each for each in about["tests"])
    assert "for a reason that isn't yours" in about["output"]
