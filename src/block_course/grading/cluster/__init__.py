"""A course on several machines: batches of submissions for the workers of a Dask scheduler."""

from __future__ import annotations

import contextlib
import importlib.util
import ipaddress
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from block_course.grading.budget import Grade
from block_course.grading.cluster.parcel import Parcel, results_in
from block_course.grading.judge import Task, grader_error
from block_course.grading.result import Result
from block_course.grading.worker import Terms

__all__ = ["Cluster", "ClusterError", "team"]

MOST_IN_A_BATCH = 4
_BATCHES_WAITING = 2
_PATIENCE_SECONDS = 30
_DEFAULT_PORT = 8786
_TRIES = 3


class ClusterError(Exception):
    """A cluster that submissions can't be handed to; the message says why, and the cure."""


@dataclass(frozen=True)
class Cluster:
    """The address of a Dask scheduler, and where each worker finds the secret, in a file of its own.

    Without a place of its own it is where this machine has it.
    """

    address: str
    secret: Path | None = None


@contextlib.contextmanager
def team(cluster: Cluster, terms: Terms) -> Iterator[Grade]:
    """What grades submissions on the cluster. Results are those of one machine, and each comes once.

    A task holds notebooks and what must be agreed on, and gives JSON back; the secret is in none. Beyond this
    machine only `tls://` is accepted, with the certificates that Dask's configuration names.

    Raises ClusterError.
    """
    address = _checked(cluster.address)
    if importlib.util.find_spec("distributed") is None:
        raise ClusterError("--cluster needs Dask: pip install -e '.[cluster]'")
    from distributed import Client
    from distributed.security import Security

    from block_course.grading.cluster.at_worker import Graders

    security = Security(require_encryption=True) if address.startswith("tls://") else None
    try:
        client = Client(address, security=security, timeout=_PATIENCE_SECONDS, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:  # a certificate that isn't there is a TypeError
        raise ClusterError(f"the scheduler at {address} can't be reached: {error}") from None
    with _hushed(), client:
        plugin = Graders(str((cluster.secret or Path()).absolute()), terms.limits, unsafe=terms.unsafe)
        client.register_plugin(plugin)
        try:
            yield lambda tasks: _Handout(client, terms).results(iter(tasks))
        finally:
            with contextlib.suppress(OSError):  # the scheduler may be gone, which was told then
                client.unregister_worker_plugin(plugin.name)


@contextlib.contextmanager
def _hushed() -> Iterator[None]:
    """Without Dask's own words on a scheduler that is gone, which are tracebacks: a ClusterError says it."""
    logger = logging.getLogger("distributed.client")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextlib.contextmanager
def _reached() -> Iterator[None]:
    """What Dask raises where the scheduler has gone, as what it means. Raises ClusterError."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        why = f"the scheduler is gone ({type(error).__name__}: {error})"
        raise ClusterError(f"{why}; what was graded is kept, and a new run grades the rest") from None


def threads(grade_on: Any) -> int:
    """How many submissions the workers grade at once, at least 1. Raises ClusterError."""
    found: dict[str, int] = grade_on.nthreads()
    for address in found:
        _checked(address)
    return max(1, sum(found.values()))


class _Handout:
    """What is under way on the cluster: a few batches for each worker, so that one that ends costs little."""

    def __init__(self, client: Any, terms: Terms) -> None:
        self._client = client
        self._terms = terms
        self._under_way: dict[Any, list[Task]] = {}
        self._tries: dict[int, int] = {}
        self._in_batches = False

    def results(self, tasks: Iterator[Task]) -> Iterator[tuple[Task, Result]]:
        from distributed import as_completed

        done = as_completed(loop=self._client.loop, raise_errors=False)
        self._hand_out(tasks, done)
        try:
            while self._under_way:
                future = next(done)
                batch = self._under_way.pop(future)
                yield from self._taken(future, batch, done)
                self._hand_out(tasks, done)
        finally:
            for future in self._under_way:
                future.cancel()

    def _hand_out(self, tasks: Iterator[Task], done: Any) -> None:
        with _reached():
            at_once = threads(self._client)
        while len(self._under_way) < (_BATCHES_WAITING if self._in_batches else 1) * at_once:
            batch = list(islice(tasks, MOST_IN_A_BATCH if self._in_batches else 1))
            if not batch:
                return
            # one with a time of its own was given it now, and must not wait behind others
            self._in_batches = batch[0].limits is None
            self._send(batch, done)

    def _send(self, batch: list[Task], done: Any) -> None:
        from block_course.grading.cluster.at_worker import grade

        parcel = Parcel.of(batch, self._terms)
        # not pure: a submission that was sent again is to be graded again
        with _reached():
            future = self._client.submit(grade, parcel, pure=False)
        self._under_way[future] = batch
        done.add(future)

    def _taken(self, future: Any, batch: list[Task], done: Any) -> Iterator[tuple[Task, Result]]:
        """The results of a batch. What failed is sent again one by one, so that one costs no other."""
        status = future.status
        if status == "finished":
            answer: object = future.result()
            future.release()
            yield from zip(batch, results_in(answer, batch), strict=True)
            return
        why = repr(future.exception()) if status == "error" else f"it was {status}"
        for task in batch:
            tries = self._tries[id(task)] = self._tries.get(id(task), 0) + 1
            if tries < _TRIES:
                self._send([task], done)
            else:
                yield task, grader_error(task, f"the cluster failed on it {tries} times: {why}")


def _checked(address: str) -> str:
    """The address, complete. Raises ClusterError if what goes there could be read on the way."""
    whole = address if "://" in address else f"tcp://{address}"
    try:
        parts = urlsplit(whole)
        host, port = parts.hostname or "", parts.port or _DEFAULT_PORT
    except ValueError as error:
        raise ClusterError(f"{address} is no address of a scheduler: {error}") from None
    if parts.scheme not in ("tcp", "tls") or not host:
        raise ClusterError(f"{address} is no address of a scheduler; one is tls://scheduler.example.org:8786")
    if parts.scheme == "tcp" and not _is_here(host):
        raise ClusterError(
            f"{address} is on another machine: submissions, and whoever may run code there, are protected by "
            f"tls:// alone; start the scheduler and its workers with certificates"
        )
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
