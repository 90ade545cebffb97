import time
from collections.abc import Iterable, Iterator

import pytest

from block_course.grading import budget as grading_budget
from block_course.grading.attempt import Limits
from block_course.grading.budget import Budget
from block_course.grading.grade import OUT_OF_TIME
from block_course.grading.judge import Task
from block_course.grading.result import Result
from tests.block_course.grading.course import Course
from tests.block_course.grading.examples import RIGHT_DOUBLE, submission, task
from tests.block_course.grading.graded import result

FULL = Limits(cell_seconds=10.0, submission_seconds=60.0)


class Clock:
    """Time that passes only while something is graded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.given: list[tuple[str, float]] = []
        monkeypatch.setattr(grading_budget.time, "monotonic", lambda: self.now)

    def grade(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Result]]:
        """A submission called `a3` needs 3 seconds, and uses no more than it is given."""
        for each in tasks:
            assert each.limits is not None
            used = min(float(each.learner[1:]), each.limits.submission_seconds)
            self.now += used
            self.given.append((each.learner, each.limits.submission_seconds))
            yield each, {**result(each.learner), "seconds": round(used, 3)}  # type: ignore[typeddict-item]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def graded(clock: Clock, seconds: float, *learners: str, workers: int = 1) -> list[str]:
    budget = Budget(FULL, workers, clock.now + seconds)
    tasks = [task(b"", learner) for learner in learners]
    return [each.learner for each, _ in budget.graded(clock.grade, tasks, len(tasks))]


def test_where_the_time_suffices_each_has_its_full_limits(clock: Clock) -> None:
    assert graded(clock, 1000.0, "a1", "b60", "c2") == ["a1", "b60", "c2"]
    assert {seconds for _, seconds in clock.given} == {60.0}


def test_those_without_end_do_not_use_up_the_time_of_the_others(clock: Clock) -> None:
    loops = [f"x{900 + number}" for number in range(10)]

    assert graded(clock, 40.0, *loops, "a1", "b2") == ["a1"]
    assert clock.now == 1040.0


def test_one_that_needs_more_than_its_share_gets_more_when_fewer_are_left(clock: Clock) -> None:
    assert graded(clock, 40.0, "a9", *(f"b{number}" for number in [1] * 9)) == ["b1"] * 9 + ["a9"]
    assert [seconds for learner, seconds in clock.given if learner == "a9"] == [2.0, pytest.approx(14.5)]


def test_one_that_gets_no_more_by_another_round_has_its_full_time_at_last(clock: Clock) -> None:
    assert graded(clock, 200.0, "a80", "b80") == ["a80"]
    assert clock.given == [("a80", 50.0), ("b80", 50.0), ("a80", 60.0), ("b80", 40.0)]


def test_workers_side_by_side_have_more_time(clock: Clock) -> None:
    graded(clock, 40.0, *["a1"] * 10, workers=2)

    assert clock.given[0][1] == 4.0


def test_what_waits_for_another_round_is_bounded(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading_budget, "MOST_WAITING_BYTES", 5)
    budget = Budget(FULL, 1, clock.now + 40.0)
    tasks = [task(b"123", learner) for learner in ("a15", "b15")]

    assert [each.learner for each, _ in budget.graded(clock.grade, tasks, 2)] == ["a15"]


@pytest.mark.slow
def test_a_run_of_loops_ends_when_promised_and_grades_the_honest(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    course.run()
    promised, loops = max(10.0, 3.0 * (time.monotonic() - began)), 8  # as slow as this machine is now
    for number in range(loops):
        course.hand_in(f"a{number:02}", submission(f"while True: pass  # {number}"))
    course.hand_in("zoe", submission(f"{RIGHT_DOUBLE}  # zoe"))

    began = time.monotonic()
    status = course.run(time_budget=promised)
    took = time.monotonic() - began

    assert took < promised + 3.0  # the table is written and the workers end
    assert status == OUT_OF_TIME
    results = course.results()
    assert {name: results[name]["points"] for name in ("ann", "bob", "zoe")} == {
        "ann": 6.0,
        "bob": 0.0,
        "zoe": 6.0,
    }
    late = course.about()["put_off"]
    assert isinstance(late, list)
    assert len(late) + len(results) == loops + 3
    assert f"Not graded yet ({len(late)})" in capsys.readouterr().err
