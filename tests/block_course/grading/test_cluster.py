import importlib.util
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from block_course.checks import assignment
from block_course.grading import cluster as grading_cluster
from block_course.grading.attempt import Limits
from block_course.grading.cluster import Cluster, ClusterError, team, threads
from block_course.grading.cluster.parcel import Parcel
from block_course.grading.grade import BAD_USAGE
from block_course.grading.judge import Task
from block_course.grading.pool import team as team_here
from block_course.grading.result import Result
from block_course.grading.worker import EXERCISES, Terms
from tests.block_course.grading.cluster_of import DaskCluster
from tests.block_course.grading.course import Course
from tests.block_course.grading.examples import KEY, SECRET
from tests.block_course.grading.graded import result
from tests.block_course.grading.notebooks import answer, as_bytes, notebook

LAYER_NORM = assignment("layer_norm")
TERMS = Terms(SECRET, Limits(), EXERCISES)
RIGHT = "def statistics(x):\n    return x.mean(-1, keepdims=True), x.var(-1, keepdims=True)"
WRONG = "def statistics(x):\n    return x.mean(-1, keepdims=True), x.var(-1, keepdims=True, ddof=1)"


def task(learner: str, source: str = RIGHT) -> Task:
    data = as_bytes(notebook(answer("layer_norm-statistics", f"{source}  # {learner}")))
    return Task(learner, LAYER_NORM, f"{learner}.ipynb", data)


def secret_in(folder: Path, key: bytes = KEY) -> Path:
    path = folder / "secret"
    path.write_bytes(key)
    path.chmod(0o600)
    return path


def without_time(result: Result) -> Result:
    return {**result, "seconds": 0.0}


TASKS = [task(f"l{number:02}", (RIGHT, WRONG, "1 / 0")[number % 3]) for number in range(14)]


@pytest.mark.slow
def test_a_worker_is_killed_and_another_comes_and_each_is_graded_once_as_on_one_machine(
    tmp_path: Path,
) -> None:
    taken: list[tuple[str, Result]] = []

    with DaskCluster(tmp_path) as cluster:
        first, second = cluster.add_worker(), cluster.add_worker()
        with team(Cluster(cluster.address, secret_in(tmp_path)), TERMS) as grade:
            for given, found in grade(iter(TASKS)):
                taken.append((given.learner, without_time(found)))
                if len(taken) == 4:
                    cluster.kill(first)
                    cluster.add_worker()
        assert second.poll() is None
    with team_here(TERMS, 1) as grade:
        alone = {given.learner: without_time(found) for given, found in grade(TASKS)}

    assert Counter(learner for learner, _ in taken) == Counter(each.learner for each in TASKS)
    assert dict(taken) == alone


@pytest.mark.slow
def test_a_scheduler_that_is_killed_ends_the_run_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(grading_cluster, "_PATIENCE_SECONDS", 5)
    taken = []

    def run(cluster: DaskCluster) -> None:
        with team(Cluster(cluster.address, secret_in(tmp_path)), TERMS) as grade:
            for given, _ in grade(iter(TASKS)):
                taken.append(given.learner)
                if len(taken) == 1:
                    cluster.kill_scheduler()

    with DaskCluster(tmp_path) as cluster:
        cluster.add_worker()
        with pytest.raises(ClusterError, match=r"the scheduler is gone .* a new run grades the rest"):
            run(cluster)

    assert 1 <= len(taken) < len(TASKS)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_workers_without_the_secret_or_with_another_give_errors_and_no_points(tmp_path: Path) -> None:
    other = secret_in(tmp_path, b"another secret, as long as that")

    with DaskCluster(tmp_path) as cluster:
        cluster.add_worker()
        for place, why in (
            (other, f"has another secret than {SECRET.fingerprint}"),
            (tmp_path / "none", "none can't be read: No such file or directory"),
        ):
            with team(Cluster(cluster.address, place), TERMS) as grade:
                ((_, found),) = grade([task("ann")])
            assert found["points"] is None
            assert why in found["exercises"][0]["why"]


class Workers:
    def __init__(self, *addresses: str) -> None:
        self._found = dict.fromkeys(addresses, 3)

    def nthreads(self) -> dict[str, int]:
        return self._found


def test_a_worker_elsewhere_is_refused_as_a_scheduler_is() -> None:
    assert threads(Workers("tcp://127.0.0.1:1", "tls://10.0.0.1:2")) == 6
    assert threads(Workers()) == 1
    with pytest.raises(ClusterError, match="is on another machine"):
        threads(Workers("tcp://10.0.0.1:1"))


def test_without_dask_it_says_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with (
        pytest.raises(ClusterError, match=r"pip install -e '\.\[cluster\]'"),
        team(Cluster("localhost"), TERMS),
    ):
        pass


class Future:
    """A future of Dask's, as far as it is asked here."""

    def __init__(self, status: str, answer: bytes = b"") -> None:
        self.status = status
        self._answer = answer

    def result(self) -> bytes:
        return self._answer

    def exception(self) -> Exception:
        return RuntimeError("the worker died")

    def release(self) -> None: ...

    def cancel(self) -> None: ...


class Client(Workers):
    """A cluster that fails on every batch with a submission of bob's."""

    loop = None

    def __init__(self) -> None:
        super().__init__("tcp://127.0.0.1:1")
        self.batches: list[list[str]] = []

    def submit(self, grade: object, parcel: Parcel, *, pure: bool) -> Future:
        assert not pure
        names = [given.learner for given, _ in parcel.tasks()]
        self.batches.append(names)
        if "bob" in names:
            return Future("error")
        return Future(
            "finished", json.dumps([result(name, assignment="03_layer_norm") for name in names]).encode()
        )


class Done:
    """What `as_completed` gives: the futures in the order in which they were handed out."""

    def __init__(self, *, loop: object, raise_errors: bool) -> None:
        assert not raise_errors
        self._waiting: list[Future] = []

    def add(self, future: Future) -> None:
        self._waiting.append(future)

    def __next__(self) -> Future:
        return self._waiting.pop(0)


def test_a_batch_that_fails_is_sent_again_one_by_one_and_one_costs_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("distributed.as_completed", Done)
    client = Client()
    tasks: Iterator[Task] = iter([task(name) for name in ("ann", "bob", "cy", "di", "eve")])

    handout = grading_cluster._Handout(client, TERMS)
    found = {given.learner: each["points"] for given, each in handout.results(tasks)}

    assert found == {"ann": 2.5, "bob": None, "cy": 2.5, "di": 2.5, "eve": 2.5}
    assert client.batches[:2] == [["ann"], ["bob", "cy", "di", "eve"]]
    assert client.batches[2:] == [["bob"], ["cy"], ["di"], ["eve"], ["bob"]]


def test_those_with_a_time_of_their_own_wait_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distributed.as_completed", Done)
    client = Client()
    hasty = [replace(task(name), limits=Limits().within(1.0)) for name in ("ann", "cy", "di", "eve", "fay")]

    results = grading_cluster._Handout(client, TERMS).results(iter(hasty))
    next(results)

    assert client.batches == [["ann"], ["cy"], ["di"]]  # one for each thread
    results.close()  # type: ignore[attr-defined]


def test_a_cluster_that_is_not_there_is_bad_usage(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading_cluster, "_PATIENCE_SECONDS", 0.3)

    assert course.run(cluster=Cluster("tcp://127.0.0.1:1")) == BAD_USAGE
    assert "the scheduler at tcp://127.0.0.1:1 can't be reached" in capsys.readouterr().err
