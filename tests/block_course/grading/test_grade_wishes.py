import zipfile
from pathlib import Path

import pytest

from block_course.grading.grade import BELOW_PASS_MARK, GRADED
from tests.block_course.grading.course import Course
from tests.block_course.grading.examples import submission

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


def test_times_are_passed_through_and_follow_the_learner(course: Course, tmp_path: Path) -> None:
    times = tmp_path / "times.csv"
    times.write_text("learner,submitted\nann,2026-11-30 18:02\n")
    course.hand_in("eve", submission())

    course.run(times=times)

    assert {name: each.get("submitted") for name, each in course.results().items()} == {
        "ann": "2026-11-30 18:02",
        "bob": None,
        "eve": None,
    }
    times.write_text("learner,submitted\nann,19:00\neve,20:00\n")
    course.run(times=times)
    course.run()
    assert course.results()["ann"]["submitted"] == "19:00"
    assert course.results()["eve"]["submitted"] == "20:00"
    assert course.gradings() == ["ann", "bob"]


def test_a_downloaded_archive_is_graded_and_its_roster_names_them(course: Course, tmp_path: Path) -> None:
    archive, roster = tmp_path / "submissions.zip", tmp_path / "roster.csv"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("leeann_17_5_00_tiny.ipynb", submission())
    roster.write_text("id,login id\n17,ann\n18,bob\n")
    course.submitted = archive

    assert course.run(roster=roster) == GRADED

    assert {name: each["points"] for name, each in course.results().items()} == {"ann": 6.0}
    assert course.about()["roster"] == {"00_tiny": {"missing": ["bob"], "unknown": []}}
