from pathlib import Path

import pytest

from block_course.grading.grade import BELOW_PASS_MARK, GRADED
from tests.block_course.grading.course import Course

pytestmark = pytest.mark.slow


def test_a_submission_below_the_pass_mark_makes_the_status(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    assert course.run(pass_mark=0.0) == GRADED
    assert course.run(pass_mark=50.0, quiet=False) == BELOW_PASS_MARK

    assert "Below the pass mark of 50 %: 1" in capsys.readouterr().out
    assert course.about()["pass_mark"] == 50.0


def test_the_roster_is_told_of_in_the_output_and_in_the_results(
    course: Course, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("learner\nann\ncy\n")

    assert course.run(roster=roster, quiet=False) == GRADED

    assert course.about()["roster"] == {"00_tiny": {"missing": ["cy"], "unknown": ["bob"]}}
    shown = capsys.readouterr().out
    assert "00_tiny, missing (1): cy" in shown
    assert "00_tiny, unknown (1): bob" in shown


def test_other_formats_are_written_beside_the_results(course: Course) -> None:
    course.run(formats=("junit", "markdown", "gradescope", "classroom"))

    written = {str(path.relative_to(course.out)) for path in course.out.rglob("*") if path.is_file()}
    assert written == {
        ".lock",
        "store.db",
        "results.json",
        "grades.csv",
        "junit.xml",
        "summary.md",
        *(
            f"{name}/{learner}/00_tiny.json"
            for name in ("gradescope", "classroom")
            for learner in ("ann", "bob")
        ),
    }
