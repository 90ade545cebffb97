import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from block_course.grading import batch
from block_course.grading.grade import BAD_USAGE, GRADED, GRADER_ERROR, INTERRUPTED, run
from block_course.grading.judge import Task
from block_course.grading.result import Result
from block_course.grading.store import Journal
from block_course.grading.worker import Grader
from tests.block_course.grading.examples import KEY, RELEASED_BYTES, TINY, released_in, submission

pytestmark = pytest.mark.slow


class Course:
    """A folder of submissions, a folder of releases, a secret, and a place for the results."""

    def __init__(self, folder: Path) -> None:
        self.submitted = folder / "submitted"
        self.out = folder / "out"
        self.secret = folder / "secret"
        self.exercises = released_in(folder / "exercises")
        self.secret.write_bytes(KEY)
        self.secret.chmod(0o600)

    def hand_in(self, learner: str, data: bytes) -> Path:
        path = self.submitted / learner / "00_tiny.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def run(self, **options: object) -> int:
        options = {"secret": self.secret, "quiet": True, **options}
        return run([self.submitted], self.out, exercises=self.exercises, **options)  # type: ignore[arg-type]

    def results(self) -> dict[str, Result]:
        return {each["learner"]: each for each in self.about()["results"]}  # type: ignore[attr-defined]

    def about(self) -> dict[str, object]:
        written: dict[str, object] = json.loads((self.out / "results.json").read_text(encoding="utf-8"))
        return written

    def journal(self) -> list[str]:
        lines = (self.out / "journal.jsonl").read_text().splitlines()
        return [json.loads(line)["result"]["learner"] for line in lines]


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.setattr(batch, "assignments", lambda: (TINY,))
    course = Course(tmp_path)
    course.hand_in("ann", submission())
    course.hand_in("bob", RELEASED_BYTES)
    return course


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
    assert walls["standing"] == [  # type: ignore[index]
        "process of its own",
        "private session",
        "no_new_privs",
        "not dumpable",
        "rlimits",
    ]
    assert walls["not_confined"][:2] == ["file system", "network"]  # type: ignore[index]
    assert "people you don't trust must wait" in walls["warning"]  # type: ignore[index]
    shown = capsys.readouterr().out
    assert "rlimits. Not confined: file system, network," in shown
    assert "people you don't trust must wait" in shown


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


def test_a_second_run_grades_only_what_is_new_or_changed(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.run()
    course.hand_in("bob", submission("pass"))
    course.hand_in("eve", submission())
    shutil.move(course.submitted / "ann", course.submitted / "moved")
    shutil.move(course.submitted / "moved", course.submitted / "ann")

    course.run(quiet=False)

    assert "Graded now: 2, before: 1." in capsys.readouterr().out
    assert course.journal() == ["ann", "bob", "bob", "eve"]
    assert {name: each["points"] for name, each in course.results().items()} == {
        "ann": 6.0,
        "bob": 3.0,
        "eve": 6.0,
    }


def test_a_file_that_was_moved_is_not_graded_again_but_named_anew(course: Course) -> None:
    course.run()
    shutil.move(course.submitted / "ann" / "00_tiny.ipynb", course.submitted / "ann" / "00_tiny (1).ipynb")

    course.run()

    assert course.results()["ann"]["file"].endswith("00_tiny (1).ipynb")
    assert course.results()["ann"]["points"] == 6.0


def test_another_secret_other_limits_or_the_option_grade_all_again(course: Course) -> None:
    course.run()
    course.run(cell_seconds=9.0)
    course.run(regrade=True)
    course.secret.write_bytes(KEY + b" another")
    course.run()

    assert course.journal() == ["ann", "bob"] * 4


def test_results_of_earlier_runs_into_the_same_folder_stay(course: Course) -> None:
    course.run()
    shutil.rmtree(course.submitted / "ann")

    course.run()

    assert sorted(course.results()) == ["ann", "bob"]


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
    "no time": (lambda course: {"cell_seconds": 0.0}, "cell_seconds must be positive; got 0.0"),
    "an open secret": (lambda course: (course.secret.chmod(0o644), {})[1], "open to other users: chmod 600"),
    "no secret": (lambda course: {"secret": Path("/none")}, "can't be read: No such file"),
    "no submissions": (lambda course: (shutil.rmtree(course.submitted), {})[1], "there is no"),
    "no release": (
        lambda course: ((course.exercises / "00_tiny.ipynb").unlink(), {})[1],
        "there is no released notebook",
    ),
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


def test_another_system_is_refused_with_the_cure(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    assert course.run() == BAD_USAGE
    assert "grading needs Linux, this is darwin; a container" in capsys.readouterr().err


def test_two_graders_do_not_write_into_one_folder(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    course.out.mkdir()
    with Journal(course.out):
        assert course.run() == BAD_USAGE

    assert "another grader is writing to" in capsys.readouterr().err


def test_a_full_disk_is_said_and_what_was_graded_is_kept(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, kept = Journal.keep, []

    def filling(journal: Journal, key: str, result: Result) -> None:
        if kept:
            raise OSError(28, "No space left on device")
        kept.append(key)
        keep(journal, key, result)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "keep", filling)
        assert course.run() == GRADER_ERROR

    assert "The grader failed: [Errno 28] No space left on device" in capsys.readouterr().err
    assert course.run() == GRADED
    assert course.journal() == ["ann", "bob"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_writes_what_there_is_and_the_next_run_goes_on(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    grade = Grader.grade

    def interrupted(grader: Grader, task: Task) -> Result:
        if task.learner == "bob":
            signal.raise_signal(number)
        return grade(grader, task)

    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        patch.setattr(Grader, "grade", interrupted)
        assert course.run(quiet=False) == INTERRUPTED

    assert list(course.results()) == ["ann"]
    assert "The same command goes on where it stopped" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) == before
    assert course.run() == GRADED
    assert course.journal() == ["ann", "bob"]


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


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from block_course.grading import batch, grade
from tests.block_course.grading.examples import TINY
batch.assignments = lambda: (TINY,)
folder = Path({folder!r})
sys.exit(grade.run([folder / "submitted"], folder / "out", secret=folder / "secret",
                   exercises=folder / "exercises", quiet=True))
"""


def test_a_grader_that_is_killed_loses_nothing_and_grades_nothing_twice(
    course: Course, tmp_path: Path
) -> None:
    learners = [f"l{number:02}" for number in range(12)]
    shutil.rmtree(course.submitted)
    for learner in learners:
        course.hand_in(learner, submission())
    root = str(Path(__file__).resolve().parents[3])
    program = KILLED.format(root=root, folder=str(tmp_path))
    journal = course.out / "journal.jsonl"

    for before in (2, 6):  # killed when so many are done, in the midst of the next
        with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path) as grader:
            while not journal.exists() or journal.read_bytes().count(b"\n") <= before:
                assert grader.poll() is None
                time.sleep(0.001)
            grader.kill()
    status = course.run()

    assert status == GRADED
    assert sorted(course.journal()) == learners
    assert [each["points"] for each in course.results().values()] == [6.0] * len(learners)
