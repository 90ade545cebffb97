"""Several graders at once: processes that get submissions by frames, and answer with results."""

from __future__ import annotations

import json
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np

from block_course.checks import assignment
from block_course.grading import walls
from block_course.grading.attempt import Limits
from block_course.grading.budget import Grade
from block_course.grading.judge import Task, grader_error
from block_course.grading.result import Result
from block_course.grading.secret import Secret
from block_course.grading.wire import Array, Frame, Gone, WireError, decode, encode, reader, write
from block_course.grading.worker import Grader, Terms

GRACE_SECONDS = 180.0
"""What a worker gets beyond a submission's own time: it may have to start a box first."""

_TRIES = 2
_STOP_SECONDS = 15.0
_SOURCES = str(Path(__file__).resolve().parents[2])
_PROGRAM = """
import socket, sys
sys.path.insert(0, sys.argv[1])
from block_course.grading.pool import work
work(socket.socket(fileno=int(sys.argv[2])))
"""


@contextmanager
def team(terms: Terms, workers: int, *, apart: bool = False) -> Iterator[Grade]:
    """What grades submissions, as long as the context lasts.

    One worker is this process itself, unless it must stand apart.
    """
    if workers == 1 and not apart:
        with Grader(terms) as grader:
            yield lambda tasks: ((task, grader.grade(task)) for task in tasks)
        return
    members = [_Worker(terms) for _ in range(workers)]
    try:
        yield lambda tasks: _shared_out(iter(tasks), members)
    finally:
        for member in members:
            member.stop()


def work(line: socket.socket) -> None:
    """The life of a worker: the terms come first, then submissions, until the line is closed."""
    walls.hide_memory()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # through `with`, which ends the box
    read = reader(line.fileno())
    try:
        first = decode(read)
        terms = Terms(
            Secret(first.arrays[0].tobytes()),
            Limits(**first.head["limits"]),
            Path(first.head["exercises"]),
            first.head["unsafe"],
        )
        with Grader(terms) as grader:
            while True:
                result = grader.grade(_task(decode(read)))
                write(line.fileno(), encode(Frame({}, (_bytes(json.dumps(result).encode()),))))
    except (Gone, BrokenPipeError):
        return


class _Worker:
    """A process and the submission that it has. It starts when it gets one, and again if it has ended."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._process: subprocess.Popen[bytes] | None = None
        self.task: Task | None = None
        self.tries = 0
        self.until = 0.0

    def give(self, task: Task) -> None:
        """Hand over a submission, again if it had it already."""
        self.tries = self.tries + 1 if task is self.task else 1
        self.task = task
        if self._process is None:
            self._start()
        self.until = time.monotonic() + self._terms.limits.submission_seconds + GRACE_SECONDS
        head = {
            "learner": task.learner,
            "assignment": task.assignment.stem,
            "file": task.file,
            "problem": task.problem,
            "limits": None if task.limits is None else asdict(task.limits),
        }
        self._send(Frame(head, (_bytes(task.data),)))

    def take(self) -> Result:
        """The result. Raises WireError if the process has ended."""
        if self._process is None:
            raise Gone("the process was ended")
        result: Result = json.loads(decode(reader(self.line.fileno())).arrays[0].tobytes())
        self.task = None
        return result

    def stop(self) -> None:
        """End the process, with its box if it still listens."""
        if self._process is None:
            return
        self.line.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _start(self) -> None:
        self.line, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-c", _PROGRAM, _SOURCES, str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True
            )
        head = {
            "limits": asdict(self._terms.limits),
            "exercises": str(self._terms.exercises),
            "unsafe": self._terms.unsafe,
        }
        self._send(Frame(head, (_bytes(self._terms.secret.handed_over()),)))

    def _send(self, frame: Frame) -> None:
        try:
            write(self.line.fileno(), encode(frame))
        except BrokenPipeError:
            return  # it has ended; `take` will find out


def _shared_out(tasks: Iterator[Task], team: list[_Worker]) -> Iterator[tuple[Task, Result]]:
    for worker, task in zip(team, tasks, strict=False):
        worker.give(task)
    while busy := [worker for worker in team if worker.task is not None]:
        for worker in _answering(busy):
            answer = _answer(worker)
            if answer is not None:
                following = next(tasks, None)
                if following is not None:
                    worker.give(following)
                yield answer  # it is kept while the worker is at the next


def _answering(busy: list[_Worker]) -> list[_Worker]:
    """Those that have answered or ended; those that are late are ended first."""
    with selectors.DefaultSelector() as selector:
        for worker in busy:
            selector.register(worker.line, selectors.EVENT_READ, worker)
        left = min(worker.until for worker in busy) - time.monotonic()
        ready = [key.data for key, _ in selector.select(max(0.0, left))]
    late = [worker for worker in busy if worker not in ready and time.monotonic() >= worker.until]
    for worker in late:
        worker.stop()
    return ready + late


def _answer(worker: _Worker) -> tuple[Task, Result] | None:
    """A worker's task and result. If it has ended, a new process tries once more; that gives nothing yet."""
    task = worker.task
    assert task is not None  # only those that have one are asked
    try:
        return task, worker.take()
    except WireError:
        worker.stop()
    if worker.tries < _TRIES:
        worker.give(task)
        return None
    worker.task = None
    return task, grader_error(task, f"the process that graded it ended {_TRIES} times")


def _task(frame: Frame) -> Task:
    return Task(
        learner=frame.head["learner"],
        assignment=assignment(frame.head["assignment"]),
        file=frame.head["file"],
        data=frame.arrays[0].tobytes(),
        problem=frame.head["problem"],
        limits=None if frame.head["limits"] is None else Limits(**frame.head["limits"]),
    )


def _bytes(data: bytes) -> Array:
    return np.frombuffer(data, dtype=np.uint8)
