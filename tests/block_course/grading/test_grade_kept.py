import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from block_course.grading import worker
from block_course.grading.grade import GRADED, GRADER_ERROR, INTERRUPTED
from block_course.grading.judge import Task
from block_course.grading.result import Result
from block_course.grading.store import Journal
from block_course.grading.worker import Grader
from tests.block_course.grading.course import Course
from tests.block_course.grading.examples import KEY, submission

pytestmark = pytest.mark.slow


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


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from block_course.grading import batch, grade, worker
from tests.block_course.grading.examples import TINY
batch.assignments = lambda: (TINY,)
worker.version = lambda assignment: "one version"  # whoever edits the sources meanwhile
folder = Path({folder!r})
sys.exit(grade.run([folder / "submitted"], folder / "out", secret=folder / "secret",
                   exercises=folder / "exercises", quiet=True))
"""


def test_a_grader_that_is_killed_loses_nothing_and_grades_nothing_twice(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "version", lambda assignment: "one version")
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
