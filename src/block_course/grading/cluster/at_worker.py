"""What runs on a worker of the cluster: a plugin that owns the graders, and the task that uses them."""

from __future__ import annotations

import contextlib
import json
import queue
from pathlib import Path
from typing import Any

from distributed import Worker, WorkerPlugin, get_worker

from block_course.grading.attempt import Limits
from block_course.grading.budget import Grade
from block_course.grading.cluster.parcel import Parcel
from block_course.grading.judge import Task, grader_error
from block_course.grading.pool import team
from block_course.grading.result import Result
from block_course.grading.secret import SecretError, read_secret
from block_course.grading.worker import EXERCISES, Terms

NAME = "block-course graders"


class Graders(WorkerPlugin):
    """Owns a grader for each thread of a worker, in a process of its own, which reads no message of Dask's.

    The secret stays on the machine that it is on: the plugin says where to read it.
    """

    name = NAME

    def __init__(self, secret: str, limits: Limits, *, unsafe: bool) -> None:
        """Say what is graded by; nothing is started before a worker has it."""
        self._secret = secret
        self._limits = limits
        self._unsafe = unsafe
        self.refused = ""

    def setup(self, worker: Worker) -> None:
        """Have the graders; a worker that can't grade says why of each submission that it gets."""
        self._running = contextlib.ExitStack()
        self._free: queue.LifoQueue[Grade] = queue.LifoQueue()
        try:
            self.terms = Terms(read_secret(Path(self._secret)), self._limits, EXERCISES, self._unsafe)
        except SecretError as error:
            self.refused = f"on the worker {worker.address}: {error}"
            return
        for _ in range(worker.state.nthreads):
            self._free.put(self._running.enter_context(team(self.terms, 1, apart=True)))

    def teardown(self, worker: Worker) -> None:
        """End the graders."""
        self._running.close()

    def graded(self, task: Task) -> Result:
        """The result of a submission, by a grader that is free."""
        grade_by = self._free.get()
        try:
            ((_, result),) = grade_by([task])
            return result
        finally:
            self._free.put(grade_by)


def grade(parcel: Parcel) -> bytes:
    """The results of a batch as JSON."""
    plugin: Any = get_worker().plugins[NAME]
    return json.dumps([_graded(plugin, task, said) for task, said in parcel.tasks()]).encode()


def _graded(plugin: Any, task: Task, said: dict[str, str]) -> Result:
    if plugin.refused:
        return grader_error(task, plugin.refused)
    if said["secret"] != plugin.terms.secret.fingerprint:
        return grader_error(task, f"a worker of the cluster has another secret than {said['secret']}")
    if said["key"] != plugin.terms.key(task):
        return grader_error(task, "a worker of the cluster has another release of the course")
    result: Result = plugin.graded(task)
    return result
