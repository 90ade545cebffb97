import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from block_course.grading import walls

NAMES = ("process of its own", "private session", "no_new_privs", "not dumpable", "rlimits")

IN_A_PROCESS = """
import os, resource, sys
from block_course.grading import walls
print(walls.put_up(os.getppid(), 200 << 20, 5))
status = open("/proc/self/status").read()
print("NoNewPrivs:\\t1" in status, resource.getrlimit(resource.RLIMIT_CPU))
try:
    bytearray(300 << 20)
except MemoryError:
    print("no memory")
try:
    open(sys.argv[1], "wb", buffering=0).write(b"x" * (17 << 20))
    open(sys.argv[1], "ab", buffering=0).write(b"x")
except OSError as error:
    print(error.strerror)
"""


class Kernel:
    """Remembers what is set, as the kernel does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.limits: dict[int, tuple[int, int]] = {}
        self.options: dict[int, int] = {}
        self.leader = False
        monkeypatch.setattr(os, "setsid", self.setsid)
        monkeypatch.setattr(os, "getsid", lambda pid: os.getpid() if self.leader else 1)
        monkeypatch.setattr(resource, "setrlimit", self.limits.__setitem__)
        monkeypatch.setattr(resource, "getrlimit", self.getrlimit)
        monkeypatch.setattr(walls, "_prctl", self.prctl)
        monkeypatch.setattr(walls, "_parent_death_signal", lambda: self.options.get(1, 0))

    def setsid(self) -> None:
        self.leader = True

    def getrlimit(self, kind: int) -> tuple[int, int]:
        return self.limits.get(kind, (resource.RLIM_INFINITY,) * 2)

    def prctl(self, option: int, argument: int = 0) -> int:
        if option in (3, 39):  # asked for
            return self.options[{3: 4, 39: 38}[option]]
        self.options[option] = argument
        return 0


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    return Kernel(monkeypatch)


def test_walls_that_stand_are_named(kernel: Kernel) -> None:
    assert walls.put_up(os.getppid(), 1 << 20, 7) == NAMES
    assert kernel.options == {1: signal.SIGKILL, 38: 1, 4: 0}
    assert kernel.limits[resource.RLIMIT_CPU] == (7, 8)
    assert kernel.limits[resource.RLIMIT_FSIZE] == (16 << 20,) * 2
    assert kernel.limits[resource.RLIMIT_AS][0] > kernel.limits[resource.RLIMIT_DATA][0] > 1 << 20


def test_a_narrower_limit_stays(kernel: Kernel) -> None:
    kernel.limits.update({resource.RLIMIT_CPU: (3, 3), resource.RLIMIT_NOFILE: (1024, 50)})

    walls.put_up(os.getppid(), 1 << 20, 7)

    assert kernel.limits[resource.RLIMIT_CPU] == (3, 3)
    assert kernel.limits[resource.RLIMIT_NOFILE] == (50, 50)


@pytest.mark.parametrize(
    ("wall", "lost"),
    [
        ("no_new_privs", {39: 0}),
        ("not dumpable", {3: 1}),
    ],
)
def test_a_wall_that_does_not_stand_when_looked_at_is_an_error(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch, wall: str, lost: dict[int, int]
) -> None:
    def prctl(option: int, argument: int = 0) -> int:
        return lost.get(option) if option in lost else kernel.prctl(option, argument)  # type: ignore[return-value]

    monkeypatch.setattr(walls, "_prctl", prctl)

    with pytest.raises(OSError, match=f"the wall '{wall}' does not stand"):
        walls.put_up(os.getppid(), 1 << 20, 7)


def test_a_process_whose_server_is_gone_does_not_go_on(kernel: Kernel) -> None:
    with pytest.raises(OSError, match="the wall 'process of its own' does not stand"):
        walls.put_up(os.getppid() + 1, 1 << 20, 7)


def test_a_session_that_is_not_private_is_an_error(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "setsid", lambda: None)

    with pytest.raises(OSError, match="the wall 'private session' does not stand"):
        walls.put_up(os.getppid(), 1 << 20, 7)


def test_limits_that_did_not_take_are_an_error(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: None)

    with pytest.raises(OSError, match="the wall 'rlimits' does not stand"):
        walls.put_up(os.getppid(), 1 << 20, 7)


def test_the_walls_hold_in_a_real_process(tmp_path: os.PathLike[str]) -> None:
    target = os.path.join(tmp_path, "large")

    done = subprocess.run(
        [sys.executable, "-c", IN_A_PROCESS, target], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.splitlines() == [str(NAMES), "True (5, 6)", "no memory", "File too large"]
    assert os.path.getsize(target) == 16 << 20


def test_an_option_that_the_kernel_refuses_is_an_error() -> None:
    with pytest.raises(OSError, match=r"prctl\(38\): Invalid argument"):
        walls._prctl(38, 5)


def test_a_process_can_be_asked_for_the_signal_it_gets_when_its_parent_ends() -> None:
    assert walls._parent_death_signal() == 0


@pytest.mark.parametrize(
    ("function", "option"), [(walls.hide_memory, (4, 0)), (walls.adopt_orphans, (36, 1))]
)
def test_a_setting_is_one_option(
    kernel: Kernel, function: Callable[[], None], option: tuple[int, int]
) -> None:
    function()

    assert kernel.options == dict([option])


def test_memory_is_hidden_for_a_while() -> None:
    before = walls._prctl(walls._GET_DUMPABLE)
    with walls.hidden_memory():
        during = walls._prctl(walls._GET_DUMPABLE)

    assert (during, walls._prctl(walls._GET_DUMPABLE)) == (0, before)


def test_what_is_open_is_said_and_more_of_it_for_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert walls.not_confined() == ("file system", "network", "other processes of the same user")

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert walls.not_confined()[-1] == "all that root may do"


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

        before = walls._descendants(ancestor.pid)
        walls.end_descendants(ancestor.pid)

        assert len(before) == 3
        assert walls._descendants(ancestor.pid) == []
        assert ancestor.poll() is None
        ancestor.kill()


def test_ending_descendants_gives_up_on_those_that_can_not_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(walls, "_descendants", lambda ancestor: [12345])
    monkeypatch.setattr(os, "kill", lambda *given: killed.append(given))
    monkeypatch.setattr(walls, "_MOST_ROUNDS", 3)

    walls.end_descendants(1)

    assert killed == [(12345, signal.SIGKILL)] * 3


def test_a_process_that_has_just_ended_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = iter([[12345], []])

    def gone(process: int, number: int) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(walls, "_descendants", lambda ancestor: next(rounds))
    monkeypatch.setattr(os, "kill", gone)

    walls.end_descendants(1)

    assert next(rounds, None) is None
