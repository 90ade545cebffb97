import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from block_course.grading import batch, worker
from block_course.grading.budget import Grade
from block_course.grading.grade import GRADED, GRADER_ERROR, INTERRUPTED
from block_course.grading.judge import Task
from block_course.grading.result import Result
from block_course.grading.store import Store, StoreError
from block_course.grading.worker import Grader, Terms
from tests.block_course.grading.course import Course
from tests.block_course.grading.examples import KEY, RIGHT_ADD, RIGHT_DOUBLE, submission

pytestmark = pytest.mark.slow


def test_a_second_run_grades_only_what_is_new_or_changed(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.run()
    course.hand_in("bob", submission("pass"))
    course.hand_in("eve", submission(f"{RIGHT_DOUBLE}  # eve's own"))
    shutil.move(course.submitted / "ann", course.submitted / "moved")
    shutil.move(course.submitted / "moved", course.submitted / "ann")

    course.run(quiet=False)

    assert "Graded now: 2, before: 1." in capsys.readouterr().out
    assert course.gradings() == ["ann", "bob", "bob", "eve"]
    assert {name: each["attempt"] for name, each in course.results().items()} == {
        "ann": 1,
        "bob": 2,
        "eve": 1,
    }
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
    course.run(limits=(9.0, 60.0, 1024))
    course.run(regrade=True)
    course.secret.write_bytes(KEY + b" another")
    course.run()

    assert course.gradings() == ["ann", "bob"] * 4


def test_results_of_earlier_runs_into_the_same_folder_stay(course: Course) -> None:
    course.run()
    shutil.rmtree(course.submitted / "ann")

    course.run()

    assert sorted(course.results()) == ["ann", "bob"]


def test_a_full_disk_is_said_and_what_was_graded_is_kept(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, kept = Store.keep, []

    def filling(store: Store, key: str, result: Result) -> None:
        if kept:
            raise StoreError("the store refused: database or disk is full")
        kept.append(key)
        keep(store, key, result)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "keep", filling)
        assert course.run() == GRADER_ERROR

    assert "The grader failed: the store refused: database or disk is full." in capsys.readouterr().err
    assert course.run() == GRADED
    assert course.gradings() == ["ann", "bob"]


@pytest.fixture
def heeds_ctrl_c() -> Iterator[None]:
    """What a shell starts in the background ignores Ctrl-C, and so would this test."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_ctrl_c")
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
    assert course.gradings() == ["ann", "bob"]


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from block_course.grading import grade, wishes, worker
from tests.block_course.grading.examples import TINY
wishes.assignments = lambda: (TINY,)
worker.version = lambda assignment: "one version"  # whoever edits the sources meanwhile
folder = Path({folder!r})
sys.exit(grade.run([folder / "submitted"], folder / "out", secret=folder / "secret",
                   exercises=folder / "exercises", quiet=True))
"""


def count(course: Course) -> int:
    """How many gradings are in the store of a run under way."""
    try:
        return len(course.gradings()) if (course.out / "store.db").exists() else 0
    except sqlite3.OperationalError:  # the tables are being made
        return 0


def test_a_grader_that_is_killed_at_random_moments_loses_nothing_and_grades_nothing_twice(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "version", lambda assignment: "one version")
    points = {f"l{number:02}": (6.0, 3.0, 0.0)[number % 3] for number in range(24)}
    shutil.rmtree(course.submitted)
    for learner, earned in points.items():
        double = f"{RIGHT_DOUBLE if earned == 6.0 else 'pass'}  # {learner}"
        course.hand_in(learner, submission(double, RIGHT_ADD if earned else "pass"))
    root = str(Path(__file__).resolve().parents[3])
    program = KILLED.format(root=root, folder=str(tmp_path))
    chance = random.Random(5)

    for _ in range(3):
        more, moment = count(course) + chance.randint(1, 4), chance.uniform(0.0, 0.05)
        with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path) as grader:
            while count(course) < more:
                assert grader.poll() is None
                time.sleep(0.001)
            time.sleep(moment)  # in the midst of another
            grader.kill()
        told = course.gradings()
        assert len(told) == len(set(told))
    status = course.run()

    assert status == GRADED
    assert sorted(course.gradings()) == sorted(points)
    assert {name: each["points"] for name, each in course.results().items()} == points


@contextmanager
def all_at_once(terms: Terms, workers: int) -> Iterator[Grade]:
    """Several workers, as a run sees them: all submissions are under way before the first is done."""
    with Grader(terms) as grader:
        yield lambda tasks: iter([(task, grader.grade(task)) for task in list(tasks)])


@pytest.mark.parametrize("side_by_side", [False, True])
def test_of_files_that_are_the_same_one_is_graded_and_each_learner_gets_the_result(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, side_by_side: bool
) -> None:
    course.hand_in("eve", submission())
    if side_by_side:
        monkeypatch.setattr(batch, "team", all_at_once)

    course.run(quiet=False)

    assert course.gradings() == ["ann", "bob"]
    assert {name: each["points"] for name, each in course.results().items()} == {
        "ann": 6.0,
        "bob": 0.0,
        "eve": 6.0,
    }
    assert course.results()["eve"]["file"].endswith("eve/00_tiny.ipynb")
    assert "Graded now: 3, before: 0." in capsys.readouterr().out


def test_an_error_of_the_grader_is_one_for_all_who_handed_in_the_same(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.hand_in("eve", submission())

    with monkeypatch.context() as patch:
        patch.setattr("block_course.grading.worker.grade_one", lambda *given: 1 / 0)
        assert course.run() == GRADER_ERROR
    broken = {name: each["points"] for name, each in course.results().items()}
    assert course.run() == GRADED

    assert broken == {"ann": None, "bob": None, "eve": None}
    assert course.results()["eve"]["points"] == 6.0


def test_points_and_words_of_a_person_survive_another_grading(course: Course) -> None:
    course.run()
    with Store(course.out) as store:
        store.mark("bob", "00_tiny", "tiny.add", points=1.5, comment="half right")

    course.run(regrade=True)

    bob = course.results()["bob"]
    assert bob["points"] == 1.5
    assert [(mark["points"], mark.get("comment")) for mark in bob["exercises"]] == [
        (0.0, None),
        (1.5, "half right"),
    ]


def test_a_store_elsewhere_serves_runs_into_any_folder(course: Course, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    course.run(store=url)
    course.out = tmp_path / "another"

    course.run(store=url)

    assert sorted(course.results()) == ["ann", "bob"]
    assert not (course.out / "store.db").exists()
