"""The box as the grader sees it: a child for each submission, cells and calls to it, plain data from it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from block_course.exercise import Case, Manner, Observation, Outputs
from block_course.grading import reply
from block_course.grading.channel import Channel
from block_course.grading.fork_server import ANSWER_SECONDS, BoxError, ForkServer, NotConfined, Settings
from block_course.grading.inputs import Inputs
from block_course.grading.reply import Death, Outcome
from block_course.grading.wire import Frame, Gone, Late, Malformed, WireError
from block_course.under_test import Interview

__all__ = ["Box", "BoxError", "Child", "NotConfined", "Settings"]

_PATIENCE_SECONDS = 0.5

T = TypeVar("T")


class Box:
    """Where learners' code runs. Its server starts when needed, and again if their code has broken it."""

    def __init__(self, settings: Settings) -> None:
        """Say what the box is for; nothing is started yet."""
        self._settings = settings
        self._server: ForkServer | None = None

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def start(self) -> None:
        """Have the server ready, as the first child would. Raises BoxError."""
        if self._server is None:
            self._server = ForkServer(self._settings)

    def child(self) -> Child:
        """A new process, walled in and waiting for cells. Raises BoxError."""
        try:
            return self._spawn()
        except Gone:  # an earlier submission's code has ended the server; a new server must work
            self._restart()
        try:
            return self._spawn()
        except Gone as error:
            raise BoxError(f"{error}, twice in a row") from None

    def end(self, pid: int, patience: float) -> int | None:
        """End a child's process; its wait status if it ended by itself."""
        if self._server is None:
            return None
        try:
            return self._server.end(pid, patience)
        except Gone:
            self._restart()
            return None

    def close(self) -> None:
        """End what was started, and remove what was written."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    def _spawn(self) -> Child:
        self.start()
        assert self._server is not None  # it was started
        child = Child(self, *self._server.spawn())
        try:
            frame = child.first_frame(time.monotonic() + ANSWER_SECONDS)
            if "refused" in frame.head:
                raise BoxError(f"the walls of the box don't stand: {frame.head['refused']}")
            child.walls = reply.walls(frame)
        except WireError as error:
            child.end()
            raise Gone(f"a new process does not answer: {error}") from None
        except BoxError:
            child.end()
            raise
        return child

    def _restart(self) -> None:
        if self._server is not None:
            self._server.stop(patience=0.0)
            self._server = None


class Child:
    """A submission's process. Cells run in it, then its answers are called."""

    walls: tuple[str, ...] = ()

    def __init__(self, box: Box, pid: int, channel: Channel, inputs: Inputs) -> None:
        """Take over a process that the box has started."""
        self._box = box
        self._pid = pid
        self._channel = channel
        self._inputs = inputs
        self.alive = True

    def first_frame(self, deadline: float) -> Frame:
        """What it says before anything runs. Raises WireError."""
        return self._channel.receive(deadline)

    def run_cell(self, name: str, source: str, deadline: float) -> Outcome:
        """Run a cell, up to a moment of `time.monotonic()`; a child that gives no good answer is ended."""
        text = np.frombuffer(source.encode("utf-8"), dtype=np.uint8)
        result = self._ask(Frame({"do": "cell", "name": name}, (text,)), reply.outcome, deadline)
        return Outcome(result.status, result.message) if isinstance(result, Death) else result

    def call(self, answer: str, manner: Manner, case: Case, deadline: float, label: str = "") -> Observation:
        """Use an answer likewise. From the first call on, nothing is kept of what the child prints.

        What a test asks its block is answered here, where the block is.
        """
        self._channel.withhold()
        interview = Interview(case.subject) if case.subject is not None else None
        frame = reply.request(answer, manner, case, self._inputs.place(case.arguments), label)
        while True:
            result = self._ask(frame, self._said, deadline)
            if isinstance(result, Death):
                return Observation(status=result.status, message=result.message)
            if isinstance(result, Observation):
                return result
            frame = _answered(interview, *result)

    def _said(self, frame: Frame) -> Observation | tuple[str, Outputs]:
        question = reply.question(frame)
        return (
            reply.observation(frame, self._inputs.after()) if question is None else (question, frame.arrays)
        )

    def printed(self) -> bytes:
        """What was printed before the first call."""
        return self._channel.printed()

    def end(self, patience: float = 0.0) -> int | None:
        """End the process, its group and its orphans; its wait status if it had ended by itself."""
        if not self.alive:
            return None
        self.alive = False
        status = self._box.end(self._pid, patience)
        self._channel.withhold()
        self._channel.close()
        self._inputs.close()
        return status

    def _ask(self, frame: Frame, read: Callable[[Frame], T], deadline: float) -> T | Death:
        try:
            self._channel.send(frame, deadline)
            return read(self._channel.receive(deadline))
        except Late:
            self.end()
            return Death("timeout", "the time was used up")
        except Gone:
            return reply.death(self.end(_PATIENCE_SECONDS))
        except Malformed:
            self.end()
            return Death("died", "the process sent the grader what is no answer")


def _answered(interview: Interview | None, question: str, arrays: Outputs) -> Frame:
    if interview is None:
        return Frame({"refused": "there is no block to ask"})
    try:
        return Frame({}, interview.ask(question, arrays))
    except ValueError as error:
        return Frame({"refused": str(error)})
