import signal
import socket
import subprocess
import threading
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from block_course.checks import assignment
from block_course.grading import pool, walls, wire
from block_course.grading.attempt import Limits
from block_course.grading.grade import EXERCISES
from block_course.grading.judge import Task
from block_course.grading.pool import team, work
from block_course.grading.result import Result
from block_course.grading.wire import Frame
from block_course.grading.worker import Terms
from tests.block_course.grading.examples import SECRET
from tests.block_course.grading.notebooks import answer, as_bytes, notebook

pytestmark = pytest.mark.slow

LAYER_NORM = assignment("layer_norm")
TERMS = Terms(SECRET, Limits(), EXERCISES)
RIGHT = "def statistics(x):\n    return x.mean(-1, keepdims=True), x.var(-1, keepdims=True)"


def task(learner: str, source: str = RIGHT) -> Task:
    data = as_bytes(notebook(answer("layer_norm-statistics", source)))
    return Task(learner, LAYER_NORM, f"{learner}.ipynb", data)


def graded(tasks: Iterable[Task], terms: Terms, workers: int) -> Generator[tuple[Task, Result]]:
    with team(terms, workers) as grade:
        yield from grade(tasks)


def points(results: Iterator[tuple[Task, Result]]) -> dict[str, float | None]:
    return {result["learner"]: result["points"] for _, result in results}


def test_several_workers_grade_as_one_does() -> None:
    tasks = [
        task("ann"),
        task("bob", "1 / 0"),
        task("eve"),
        task("joe", "def statistics(x): return x"),
        task("kim"),
    ]

    alone = {result["learner"]: {**result, "seconds": 0} for _, result in graded(tasks, TERMS, 1)}
    together = {result["learner"]: {**result, "seconds": 0} for _, result in graded(tasks, TERMS, 2)}

    assert together == alone
    assert alone["ann"]["points"] == 3.0
    assert alone["bob"]["points"] == 0.0


def test_a_team_grades_again_and_a_submission_may_have_limits_of_its_own() -> None:
    slow = task("joe", f"import time\n{RIGHT}\ntime.sleep(0.4)")
    hasty = replace(slow, limits=Limits().within(0.2))

    with team(TERMS, 2) as grade:
        first, second = points(grade([hasty])), points(grade([slow, task("ann")]))

    assert first == {"joe": 0.0}
    assert second == {"joe": 3.0, "ann": 3.0}


def test_more_workers_than_submissions_do_no_harm() -> None:
    assert points(graded([task("ann")], TERMS, 3)) == {"ann": 3.0}


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = pool._Worker._start

    def watched(worker: pool._Worker) -> None:
        start(worker)
        assert worker._process is not None
        started.append(worker._process)
        if len(started) == 1:
            worker._process.send_signal(signal.SIGKILL)
            worker._process.wait()

    monkeypatch.setattr(pool._Worker, "_start", watched)

    assert points(graded([task("ann"), task("bob")], TERMS, 2)) == {"ann": 3.0, "bob": 3.0}
    assert len(started) == 3


def test_a_submission_that_ends_its_worker_twice_is_an_error_of_the_grader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "_PROGRAM", "raise SystemExit")

    results = [result for _, result in graded([task("ann"), task("bob")], TERMS, 2)]

    assert [result["points"] for result in results] == [None, None]
    assert results[0]["exercises"][0]["why"] == "the process that graded it ended 2 times"


def test_a_worker_that_never_answers_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        pool, "_PROGRAM", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
    )
    monkeypatch.setattr(pool, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(pool, "_STOP_SECONDS", 0.2)
    quick = replace(TERMS, limits=Limits(submission_seconds=0.3))

    ((_, result),) = list(graded([task("ann")], quick, 2))

    assert result["points"] is None


def test_a_run_that_is_broken_off_ends_its_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = pool._Worker._start

    def watched(worker: pool._Worker) -> None:
        start(worker)
        assert worker._process is not None
        started.append(worker._process)

    monkeypatch.setattr(pool._Worker, "_start", watched)
    results = graded([task(f"l{i}") for i in range(6)], TERMS, 2)
    next(results)
    results.close()

    assert len(started) == 2
    assert all(process.poll() is not None for process in started)


class TestTheLifeOfAWorker:
    """In this process, where its coverage can be seen."""

    @pytest.fixture
    def line(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
        monkeypatch.setattr(signal, "signal", lambda number, handler: None)
        monkeypatch.setattr(walls, "hide_memory", lambda: None)
        ours, theirs = socket.socketpair()
        worker = threading.Thread(target=work, args=(theirs,))
        worker.start()
        yield ours
        ours.close()
        worker.join(timeout=60)
        theirs.close()
        assert not worker.is_alive()

    def first(self) -> bytes:
        head = {"limits": {"cell_seconds": 5.0}, "exercises": str(EXERCISES), "unsafe": False}
        return wire.encode(Frame(head, (np.frombuffer(SECRET.handed_over(), np.uint8),)))

    def test_is_submissions_and_results(self, line: socket.socket) -> None:
        given = task("ann")
        head = {"learner": "ann", "assignment": "03_layer_norm", "file": "f", "problem": "", "limits": None}
        wire.write(line.fileno(), self.first())
        wire.write(line.fileno(), wire.encode(Frame(head, (np.frombuffer(given.data, np.uint8),))))

        frame = wire.decode(wire.reader(line.fileno()))

        assert b'"points": 3.0' in frame.arrays[0].tobytes()

    def test_ends_when_the_line_is_closed(self, line: socket.socket) -> None:
        wire.write(line.fileno(), self.first())
        line.close()

    def test_ends_at_a_signal_through_its_clean_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        handlers: dict[object, Any] = {}
        monkeypatch.setattr(signal, "signal", handlers.__setitem__)
        monkeypatch.setattr(walls, "hide_memory", lambda: handlers.update(hidden=True))
        ours, theirs = socket.socketpair()
        ours.close()
        work(theirs)
        theirs.close()

        assert handlers["hidden"]
        with pytest.raises(SystemExit):
            handlers[signal.SIGTERM](signal.SIGTERM, None)


def test_a_worker_never_has_the_secret_in_its_arguments_or_its_environment() -> None:
    worker = pool._Worker(TERMS)
    worker.give(task("ann"))
    assert worker._process is not None
    about = Path(f"/proc/{worker._process.pid}")
    seen = (about / "cmdline").read_bytes() + (about / "environ").read_bytes()
    worker.take()
    worker.stop()

    assert SECRET.handed_over() not in seen
