"""A grader and its box share a CPU, and two graders do not have the same."""

import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from block_course.grading import one_cpu as subject
from block_course.grading.attempt import Limits
from block_course.grading.one_cpu import one_cpu
from block_course.grading.secret import Secret
from block_course.grading.worker import Grader, Terms

ALLOWED = os.sched_getaffinity(0)
HOLD = """
import sys
from block_course.grading import one_cpu
one_cpu._NAME = sys.argv[1].replace("@", chr(0))
with one_cpu.one_cpu() as cpu:
    print(cpu, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def names_of_this_test_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Other tests grade at the same time."""
    name = f"@{tmp_path}-{{}}"
    monkeypatch.setattr(subject, "_NAME", name.replace("@", "\0"))
    return name


def test_it_is_one_of_those_allowed_and_what_is_started_there_stays_there() -> None:
    with one_cpu() as mine:
        started = subprocess.check_output(
            [sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))"], text=True
        )

        assert mine in ALLOWED
        assert os.sched_getaffinity(0) == {mine}
        assert started.split() == [str(mine)]

    assert os.sched_getaffinity(0) == ALLOWED


def test_each_is_given_once_and_then_nothing_changes() -> None:
    given = []
    with ExitStack() as stack:
        for _ in ALLOWED:
            given.append(stack.enter_context(one_cpu()))
            os.sched_setaffinity(0, ALLOWED)  # as another process would have it

        with one_cpu() as none:
            assert none is None
            assert os.sched_getaffinity(0) == ALLOWED

    assert set(given) == ALLOWED


def test_that_of_a_grader_that_was_killed_is_free_again(names_of_this_test_alone: str) -> None:
    line = [sys.executable, "-c", HOLD, names_of_this_test_alone]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        theirs = other.stdout.readline().strip()
        with one_cpu() as mine:
            assert str(mine) != theirs
        other.kill()

    given = []
    with ExitStack() as stack:
        for _ in ALLOWED:
            given.append(stack.enter_context(one_cpu()))
            os.sched_setaffinity(0, ALLOWED)
    assert int(theirs) in given


def test_graders_that_do_not_see_each_other_seldom_take_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in containers, of which each has names of its own."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    monkeypatch.setattr(os, "sched_setaffinity", lambda process, cpus: None)
    taken = set()
    for _ in range(200):
        with one_cpu() as mine:
            taken.add(mine)

    assert taken == set(range(8))


def refused(*given: object) -> None:
    raise OSError(1, "Operation not permitted")


@pytest.mark.parametrize("where", [(os, "sched_setaffinity"), (socket, "socket")])
def test_a_sandbox_that_refuses_it_costs_no_run(
    where: tuple[object, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*where, refused)

    with one_cpu() as none:
        assert none is None
    assert os.sched_getaffinity(0) == ALLOWED


def test_an_error_comes_out_and_the_cpu_is_given_back() -> None:
    with pytest.raises(OSError, match="the disk is full"), one_cpu():
        raise OSError("the disk is full")

    assert os.sched_getaffinity(0) == ALLOWED


def test_where_the_system_knows_no_such_thing_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")

    with one_cpu() as none:
        assert none is None


def test_a_grader_keeps_to_one_while_it_is_open(tmp_path: Path) -> None:
    with Grader(Terms(Secret(b"a secret of a test, long enough"), Limits(), tmp_path)):
        assert len(os.sched_getaffinity(0)) == 1

    assert os.sched_getaffinity(0) == ALLOWED
