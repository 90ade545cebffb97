"""A run that ends when it was promised to: its time is shared out, and nobody's loop uses up the others'."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from block_course.grading.attempt import Limits
from block_course.grading.judge import Task
from block_course.grading.result import Result

Grade = Callable[[Iterable[Task]], Iterator[tuple[Task, Result]]]
"""Grades submissions, and gives each with its result as they get ready; it may be called again."""

_PART_OF_THE_REST = 0.5
_WORTH_A_ROUND = 2.0
_ROUNDING = 0.002
MOST_WAITING_BYTES = 512 << 20
"""What the submissions that wait for another round may hold in memory; others are put off at once."""


@dataclass
class Budget:
    """The time of a run, shared out among its submissions.

    ```
    share = half of the time that is left · workers / submissions
    ```

    First each gets an equal share. One that needs more waits for a second round, where fewer share what is
    left, and at last for its full time, one after the other. What a shorter time may have decided is thrown
    away: a result is the one that the full time gives, or there is none yet and the submission is put off.
    """

    limits: Limits
    workers: int
    until: float
    """A moment of `time.monotonic()`."""

    def graded(self, grade: Grade, tasks: Iterable[Task], count: int) -> Iterator[tuple[Task, Result]]:
        """Those that the time suffices for, with their results; there may be fewer tasks than `count`."""
        share = 0.0
        while True:
            share = self._next_share(share, count)
            again: list[Task] = []
            room = MOST_WAITING_BYTES
            for task, result in grade(self._limited(tasks, share)):
                if not self._may_be_cut(task, result):
                    yield task, result
                elif len(task.data) <= room:
                    again.append(task)
                    room -= len(task.data)
            if not again:
                return
            tasks, count = again, len(again)

    def _next_share(self, before: float, count: int) -> float:
        left = max(0.0, self.until - time.monotonic())
        share = _PART_OF_THE_REST * left * self.workers / max(1, count)
        return share if share >= _WORTH_A_ROUND * before else self.limits.submission_seconds

    def _limited(self, tasks: Iterable[Task], share: float) -> Iterator[Task]:
        """The tasks that the time reaches, each with its limits as it is handed out."""
        for task in tasks:
            left = self.until - time.monotonic()
            if left > 0.0:
                yield replace(task, limits=self.limits.within(min(share, left)))

    def _may_be_cut(self, task: Task, result: Result) -> bool:
        """Whether a limit that is not the full one may have struck: then all of the time was used."""
        given = task.limits
        if given is None or given == self.limits:
            return False
        return result["seconds"] >= given.submission_seconds - _ROUNDING
