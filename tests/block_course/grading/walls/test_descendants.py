import os
import signal
import subprocess
import sys

import pytest

from block_course.grading.walls import descendants

GENERATIONS = """
import os, sys, time
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
print("up", flush=True)
time.sleep(600)
"""


def test_all_descendants_of_a_process_are_ended_and_it_is_not() -> None:
    with subprocess.Popen([sys.executable, "-c", GENERATIONS], stdout=subprocess.PIPE, text=True) as ancestor:
        assert ancestor.stdout is not None
        for _ in range(4):
            ancestor.stdout.readline()

        before = descendants._descendants(ancestor.pid)
        descendants.end_descendants(ancestor.pid)

        assert len(before) == 3
        assert descendants._descendants(ancestor.pid) == []
        assert ancestor.poll() is None
        ancestor.kill()


def test_ending_descendants_gives_up_on_those_that_can_not_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(descendants, "_descendants", lambda ancestor: [12345])
    monkeypatch.setattr(os, "kill", lambda *given: killed.append(given))
    monkeypatch.setattr(descendants, "_MOST_ROUNDS", 3)

    descendants.end_descendants(1)

    assert killed == [(12345, signal.SIGKILL)] * 3


def test_a_process_that_has_just_ended_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = iter([[12345], []])

    def gone(process: int, number: int) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(descendants, "_descendants", lambda ancestor: next(rounds))
    monkeypatch.setattr(os, "kill", gone)

    descendants.end_descendants(1)

    assert next(rounds, None) is None


@pytest.mark.parametrize("alone", [False, True])
def test_the_first_of_a_pid_namespace_ends_all_others_in_there(
    monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    killed: list[tuple[int, int]] = []

    def kill(process: int, number: int) -> None:
        killed.append((process, number))
        if alone:
            raise ProcessLookupError

    monkeypatch.setattr(os, "getpid", lambda: 1)
    monkeypatch.setattr(os, "kill", kill)

    descendants.end_descendants(1)

    assert killed == [(-1, signal.SIGKILL)]


def test_the_first_of_a_container_that_is_the_grader_ends_its_boxs_processes_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(os, "getpid", lambda: 1)
    monkeypatch.setattr(descendants, "_descendants", lambda ancestor: asked.append(ancestor))

    descendants.end_descendants(77)

    assert asked == [77]
