"""A submission's time in the box: cells run, answers are called, and what breaks costs one exercise."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from block_course.exercise import Case, Exercise, Observation, Run
from block_course.grading.box import Box, Child
from block_course.grading.plan import Step
from block_course.grading.reply import Outcome

MOST_HELD_BYTES = 128 << 20
"""What the calls of one exercise may return in all. It is held by the grader, which grades others too."""

_OUT_OF_TIME = Observation(status="timeout", message="the time of the whole notebook was used up")

_TOO_MUCH = Observation(status="memory", message="the calls returned more than the grader holds at a time")

_TOO_LONG = Observation(status="timeout", message="the time of the exercise was used up")


@dataclass(frozen=True)
class Limits:
    """What a submission may use: seconds for a cell, for the calls of one exercise, and in all; memory."""

    cell_seconds: float = 10.0
    submission_seconds: float = 60.0
    memory_mb: int = 1024

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 < value < float("inf"):
                raise ValueError(f"{name} must be positive; got {value}")

    def within(self, seconds: float) -> Limits:
        """The same with no more than so many seconds in all."""
        return Limits(min(self.cell_seconds, seconds), min(self.submission_seconds, seconds), self.memory_mb)


class Attempt:
    """Runs the steps of one submission, as often as a process that breaks makes it necessary.

    When a cell ends the process or takes too long, the cells run again in a new process without that one.
    When a call does, that exercise is settled, and the next finds a new process.
    """

    def __init__(self, box: Box, steps: Sequence[Step], limits: Limits) -> None:
        """Nothing runs yet; the time of the submission begins."""
        self._box = box
        self._steps = steps
        self._limits = limits
        self._until = time.monotonic() + limits.submission_seconds
        self._child: Child | None = None
        self._broken: set[int] = set()
        self._hidden_in_use = False
        self._outcomes: dict[int, Outcome] = {}
        self.printed = b""
        self.walls: tuple[str, ...] = ()

    def __enter__(self) -> Attempt:
        return self

    def __exit__(self, *error: object) -> None:
        self._end_child()

    @property
    def outcomes(self) -> list[tuple[Step, Outcome]]:
        """How each step ended when it ran first; a step that the time did not reach is not listed."""
        return [(self._steps[index], outcome) for index, outcome in sorted(self._outcomes.items())]

    def run(self, exercise: Exercise, cases: Sequence[Case]) -> Run:
        """Use an answer on all cases, in a process in which the cells have run. Raises BoxError.

        A test meets each block in a process of its own, so that it can't remember one in the next.
        """
        left = self._limits.cell_seconds
        if exercise.calls != "test":
            return self._called(exercise, cases, left)[0]
        met: list[tuple[Case, Observation]] = []
        for case in cases:
            self._end_child()
            seen, left = self._called(exercise, [case], left)
            met += seen
        self._end_child()
        return met

    def _called(self, exercise: Exercise, cases: Sequence[Case], seconds: float) -> tuple[Run, float]:
        """The answer used on the cases, and how much of the seconds for the calls is left."""
        if seconds <= 0.0:
            return [(case, _TOO_LONG) for case in cases], 0.0
        child = self._ready_child()
        if child is None:
            return [(case, _OUT_OF_TIME) for case in cases], seconds
        began = time.monotonic()
        until = min(began + seconds, self._until)
        self._hidden_in_use = True
        run: list[tuple[Case, Observation]] = []
        held = 0
        for number, case in enumerate(cases):
            if child.alive:
                seen = child.call(exercise.answer, exercise.manner, case, until, label=str(number))
            held += sum(each.nbytes for each in seen.outputs)
            run.append((case, seen if held <= MOST_HELD_BYTES else _TOO_MUCH))
        return run, seconds - (time.monotonic() - began)

    def _ready_child(self) -> Child | None:
        while self._child is None or not self._child.alive:
            if time.monotonic() >= self._until:
                return None
            self._child = self._box.child()
            self.walls = self._child.walls
            self._run_steps(self._child)
            if not self._hidden_in_use:
                self.printed = self._child.printed()
        return self._child

    def _run_steps(self, child: Child) -> None:
        for index, step in enumerate(self._steps):
            if index in self._broken:
                continue
            until = min(time.monotonic() + self._limits.cell_seconds, self._until)
            outcome = child.run_cell(step.name, step.source, until)
            self._note(index, outcome)
            if not child.alive:
                self._broken.add(index)
                return

    def _note(self, index: int, outcome: Outcome) -> None:
        if not self._hidden_in_use:
            self._outcomes.setdefault(index, outcome)
        elif outcome.status != "done" and self._outcomes[index].status == "done":
            # its message could carry a hidden input outside
            self._outcomes[index] = Outcome(outcome.status, "when it ran again")

    def _end_child(self) -> None:
        if self._child is not None:
            self._child.end()
