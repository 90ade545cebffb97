import os
import signal

import pytest

from block_course.grading import box as grading_box
from block_course.grading import fork_server
from block_course.grading.box import Box, BoxError, Settings
from block_course.grading.channel import Channel
from block_course.grading.inputs import Inputs
from block_course.grading.walls.descendants import _descendants
from block_course.grading.wire import Frame, Gone
from tests.block_course.grading.processes import children_of, ends
from tests.block_course.grading.test_box import define, soon

pytestmark = pytest.mark.slow


def test_a_child_starts_as_every_other(box: Box) -> None:
    drawn = []
    for _ in range(2):
        child = box.child()
        define(
            child,
            "import random, numpy\nprint(random.random(), numpy.random.rand(), hash('a'), {'b', 'a'})",
        )
        drawn.append(child.printed())
        child.end()

    assert drawn[0] == drawn[1] != b""


def test_ending_twice_is_ending_once(box: Box) -> None:
    child = box.child()

    assert child.end() is None
    assert child.end() is None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_that_breaks_is_replaced_and_its_child_ends(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "ANSWER_SECONDS", 2.0)
    with Box(Settings("00_tiny", warm=False)) as box:
        child = box.child()
        assert box._server is not None
        running = _descendants(box._server._process.pid)
        for each in {box._server._process.pid, *running} - set(children_of(box._server)):
            os.kill(each, number)
        outcome = child.run_cell("cell 1", "import time; time.sleep(600)", soon(0.5))
        after = box.child()
        define(after, "x = 1")
        after.end()

    assert outcome.status in ("died", "memory", "timeout")
    assert all(map(ends, running))


def test_a_server_that_was_ended_between_two_submissions_is_replaced() -> None:
    with Box(Settings("00_tiny", warm=False)) as box:
        box.child().end()
        assert box._server is not None
        os.kill(box._server._process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, box._server._process.pid, os.WEXITED | os.WNOWAIT)

        child = box.child()
        define(child, "x = 1")
        child.end()


def test_a_server_that_never_gives_a_child_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Useless:
        stopped = 0

        def __init__(self, settings: Settings) -> None:
            pass

        def spawn(self) -> tuple[int, Channel, Inputs]:
            raise Gone("the fork server did not fork")

        def stop(self, patience: float = 0.0) -> None:
            Useless.stopped += 1

    monkeypatch.setattr(grading_box, "ForkServer", Useless)

    with (
        Box(Settings("00_tiny", warm=False)) as box,
        pytest.raises(BoxError, match="did not fork, twice in a row"),
    ):
        box.child()
    assert Useless.stopped == 2


@pytest.mark.parametrize(
    ("first", "error"),
    [
        (Frame({"refused": "the wall 'x' does not stand"}), "walls of the box don't stand: the wall 'x'"),
        (Frame({"walls": 3}), "a new process does not answer: walls is no list of at most 64 texts, twice"),
    ],
)
def test_a_child_without_walls_is_an_error_of_the_grader(
    monkeypatch: pytest.MonkeyPatch, first: Frame, error: str
) -> None:
    monkeypatch.setattr(Channel, "receive", lambda self, deadline: first)

    with Box(Settings("00_tiny", warm=False)) as box, pytest.raises(BoxError, match=error):
        box.child()


def test_a_box_that_was_never_used_starts_and_ends_nothing() -> None:
    box = Box(Settings("00_tiny", warm=False))

    assert box.end(1, 0.0) is None
    box._restart()
    box.close()

    assert box._server is None
