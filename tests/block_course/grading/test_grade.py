import csv
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from block_course.grading import batch
from block_course.grading.files import alone_in
from block_course.grading.fork_server import ForkServer, NotConfined, Settings
from block_course.grading.grade import BAD_USAGE, GRADED, GRADER_ERROR, run
from tests.block_course.grading.course import Course
from tests.block_course.grading.examples import KEY, submission

pytestmark = pytest.mark.slow


def test_a_folder_is_graded_into_results_and_grades(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.hand_in("eve", submission()[:300])
    (course.submitted / "eve" / "data.csv").touch()

    assert course.run(quiet=False) == GRADED

    results = course.results()
    assert {learner: each["points"] for learner, each in results.items()} == {
        "ann": 6.0,
        "bob": 0.0,
        "eve": 0.0,
    }
    with open(course.out / "grades.csv", newline="") as file:
        assert [row[:4] for row in csv.reader(file)][1:] == [
            ["ann", "00_tiny", "6", "6"],
            ["bob", "00_tiny", "0", "6"],
            ["eve", "00_tiny", "0", "6"],
        ]
    shown = capsys.readouterr().out
    assert "6 / 6" in shown
    assert "data.csv: not a notebook" in shown
    assert "Graded now: 3, before: 0." in shown


def test_what_stands_and_what_does_not_is_said_in_the_output_and_in_the_results(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.run(quiet=False)

    walls = course.about()["walls"]
    shown = capsys.readouterr().out
    assert "seccomp" in walls["standing"]  # type: ignore[index]
    assert "rlimits" in walls["standing"]  # type: ignore[index]
    assert not walls["unsafe"]  # type: ignore[index]
    assert set(walls["missing"]).isdisjoint(walls["standing"])  # type: ignore[index]
    assert f"Walls: {', '.join(walls['standing'])}. Missing:" in " ".join(shown.split())  # type: ignore[index]
    assert "UNSAFE" not in shown


def test_where_nothing_keeps_the_code_in_nothing_is_graded(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(settings: Settings) -> ForkServer:
        raise NotConfined("nothing keeps it in: seccomp (there is no libseccomp)")

    monkeypatch.setattr(batch, "ForkServer", refuse)

    assert course.run() == BAD_USAGE
    assert "Can't grade: nothing keeps it in: seccomp" in capsys.readouterr().err
    assert not (course.out / "results.json").exists()


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_than_on_linux_a_container_is_proposed(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], platform: str
) -> None:
    monkeypatch.setattr("sys.platform", platform)

    assert course.run(unsafe=True) == BAD_USAGE
    said = capsys.readouterr().err
    assert f"grading needs Linux, this is {platform}" in said
    assert 'docker run --rm -v "$PWD:/course"' in said


def test_the_results_name_the_secret_by_its_fingerprint_alone(course: Course) -> None:
    course.run()

    assert len(str(course.about()["secret"])) == 16
    for file in course.out.iterdir():
        assert KEY not in file.read_bytes()


def test_without_a_secret_one_is_made_and_used_again(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    assert course.run(secret=None) == GRADED
    first = course.about()["secret"]
    assert "A new secret was made" in capsys.readouterr().err
    assert (course.out / "secret").stat().st_mode & 0o777 == 0o600

    assert course.run(secret=None) == GRADED
    assert course.about()["secret"] == first
    assert capsys.readouterr().err == ""


def test_results_can_be_printed_as_json_and_nothing_else(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.run(as_json=True, quiet=False)

    assert json.loads(capsys.readouterr().out) == course.about()


def test_an_error_of_the_grader_is_listed_and_makes_the_status(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> None:
        raise ValueError("a fault of ours")

    with monkeypatch.context() as patch:
        patch.setattr("block_course.grading.worker.grade_one", broken)
        assert course.run() == GRADER_ERROR

    assert [each["points"] for each in course.results().values()] == [None, None]
    errors = capsys.readouterr().err
    assert errors.count("which has no points yet: ValueError: a fault of ours") == 2

    assert course.run() == GRADED
    assert course.results()["ann"]["points"] == 6.0


USAGE: dict[str, tuple[Callable[[Course], dict[str, object]], str]] = {
    "no workers": (lambda course: {"workers": 0}, "workers must be at least 1; got 0"),
    "no time": (lambda course: {"limits": (0.0, 60.0, 1024)}, "cell_seconds must be positive; got 0.0"),
    "an open secret": (lambda course: (course.secret.chmod(0o644), {})[1], "open to other users: chmod 600"),
    "no secret": (lambda course: {"secret": Path("/none")}, "can't be read: No such file"),
    "no submissions": (lambda course: (shutil.rmtree(course.submitted), {})[1], "there is no"),
    "no release": (
        lambda course: ((course.exercises / "00_tiny.ipynb").unlink(), {})[1],
        "there is no released notebook",
    ),
    "a pass mark in points": (lambda course: {"pass_mark": 150.0}, "a percentage from 0 to 100; got 150"),
    "a format that there isn't": (
        lambda course: {"formats": ("junit", "pdf")},
        "no format pdf; there are json, csv, gradescope, junit, markdown, classroom",
    ),
    "a roster that there isn't": (lambda course: {"roster": Path("/none.csv")}, "/none.csv can't be read"),
    "a store that is none": (lambda course: {"store": "store.db"}, "no SQLAlchemy URL"),
    "a file as folder": (lambda course: (course.out.write_text(""), {})[1], "can't be made: File exists"),
}


@pytest.mark.parametrize(("arrange", "sentence"), USAGE.values(), ids=USAGE.keys())
def test_bad_usage_is_one_sentence(
    course: Course,
    capsys: pytest.CaptureFixture[str],
    arrange: Callable[[Course], dict[str, object]],
    sentence: str,
) -> None:
    options = arrange(course)

    assert course.run(**options) == BAD_USAGE

    error = capsys.readouterr().err
    assert error.startswith("Can't grade: ")
    assert sentence in error
    assert error.count("\n") == 1


def test_an_empty_folder_is_graded_to_nothing(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(course.submitted)
    course.submitted.mkdir()

    assert course.run(quiet=False) == GRADED

    assert course.about()["results"] == []
    assert "Graded now: 0, before: 0." in capsys.readouterr().out


def test_a_submission_that_is_no_file_is_reported_unreadable(course: Course) -> None:
    path = course.hand_in("eve", b"")
    path.unlink()
    os.mkfifo(path)

    assert course.run() == GRADED

    mark = course.results()["eve"]["exercises"][0]
    assert (mark["verdict"], mark["why"]) == ("unreadable", "this is no regular file")


def test_naming_nothing_is_bad_usage(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([], course.out) == BAD_USAGE
    assert "no notebook and no folder was named" in capsys.readouterr().err


def test_two_graders_do_not_write_into_one_folder(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    course.out.mkdir()
    with alone_in(course.out):
        assert course.run() == BAD_USAGE

    assert "another grader is writing to" in capsys.readouterr().err


def test_learners_names_do_not_break_the_table(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    course.hand_in("[red]x[link=e] \x1b[31m =1+1", submission())
    raw = os.path.join(os.fsencode(course.submitted), b"caf\xe9")
    os.mkdir(raw)
    with open(os.path.join(raw, b"00_tiny.ipynb"), "wb") as file:
        file.write(submission())

    assert course.run(quiet=False) == GRADED

    shown = capsys.readouterr().out
    assert "[red]x[link=e] \\x1b[31m =1+1" in shown
    assert "caf\\udce9" in shown
    assert {"[red]x[link=e] \x1b[31m =1+1", "caf\\udce9"} < set(course.results())
