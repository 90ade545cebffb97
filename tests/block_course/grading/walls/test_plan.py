import os
import resource
import signal
from collections.abc import Callable

import pytest

from block_course.grading.walls import kernel, landlock, names, plan, seccomp, user

LIMITS = {resource.RLIMIT_CPU: (7, 8)}


class Kernel:
    """Remembers what is set, in order, and answers as the kernel does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[str] = []
        self.limits: dict[int, tuple[int, int]] = {}
        self.answers: dict[str, object] = {"leader": True, "signal": signal.SIGKILL, "user": (64001,) * 3}
        monkeypatch.setattr(os, "setsid", lambda: self.done.append("session"))
        monkeypatch.setattr(os, "getsid", lambda pid: os.getpid() if self.answers["leader"] else 1)
        monkeypatch.setattr(os, "chdir", lambda path: self.done.append(f"in {path}"))
        monkeypatch.setattr(os, "close", lambda descriptor: self.done.append(f"closed {descriptor}"))
        monkeypatch.setattr(os, "getresuid", lambda: self.answers["user"])
        monkeypatch.setattr(resource, "setrlimit", self.limits.__setitem__)
        monkeypatch.setattr(resource, "getrlimit", lambda kind: self.limits.get(kind, (1, 1)))
        monkeypatch.setattr(kernel, "parent_death_signal", lambda: self.answers["signal"])
        monkeypatch.setattr(kernel, "gains_nothing", lambda: "no new rights" in self.done)
        monkeypatch.setattr(kernel, "is_hidden", lambda: "hidden" in self.done)
        for name, words in {
            "give_up_capabilities": "no capabilities",
            "gain_nothing": "no new rights",
            "hide_memory": "hidden",
        }.items():
            monkeypatch.setattr(kernel, name, self._does(words))
        monkeypatch.setattr(kernel, "die_with_parent", lambda number: self.done.append("dies too"))
        monkeypatch.setattr(user, "become", lambda id: self.done.append(f"user {id}"))
        monkeypatch.setattr(user, "be_counted_as", lambda id: self.done.append(f"counted as {id}"))
        monkeypatch.setattr(landlock, "restrict", lambda rules: self.done.append(f"rules {rules}"))
        monkeypatch.setattr(seccomp, "install", lambda program: self.done.append("filter"))

    def _does(self, words: str) -> Callable[[], None]:
        return lambda: self.done.append(words)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    return Kernel(monkeypatch)


def made(**more: object) -> plan.Plan:
    whole = {"server": os.getppid(), "home": "/h", "limits": LIMITS, "user": 64001, "rules": 16}
    return plan.Plan(**{**whole, "program": b"filter", **more})  # type: ignore[arg-type]


def test_walls_go_up_in_an_order_in_which_none_undoes_another(fake: Kernel) -> None:
    standing = plan.put_up(made(around=("pid namespace",)))

    assert standing == (names.SECCOMP, names.LANDLOCK, names.OTHER_USER, "pid namespace", *names.ALWAYS)
    # a change of user resets the signal and the hiding; after the filter nothing can be set
    assert fake.done == [
        "session",
        "in /h",
        "user 64001",
        "no capabilities",
        "no new rights",
        "dies too",
        "hidden",
        "rules 16",
        "closed 16",
        "filter",
    ]
    assert fake.limits == LIMITS


def test_without_another_user_threads_are_counted_apart_where_that_is_allowed(fake: Kernel) -> None:
    standing = plan.put_up(made(user=None, counted_as=64001))

    assert "counted as 64001" in fake.done
    assert "user 64001" not in fake.done
    assert names.OTHER_USER not in standing


def test_without_the_base_the_mark_stands_in_front(fake: Kernel) -> None:
    standing = plan.put_up(made(user=None, rules=None))

    assert standing == (names.UNSAFE, names.SECCOMP, *names.ALWAYS)
    assert "filter" in fake.done


@pytest.mark.parametrize(
    ("answer", "wall"),
    [
        ({"leader": False}, names.SESSION),
        ({"signal": 0}, names.OWN_PROCESS),
        ({"user": (0, 0, 0)}, names.OTHER_USER),
    ],
)
def test_a_wall_that_does_not_stand_when_looked_at_is_an_error(
    fake: Kernel, answer: dict[str, object], wall: str
) -> None:
    fake.answers.update(answer)

    with pytest.raises(OSError, match=f"the wall '{wall}' does not stand"):
        plan.put_up(made())
    assert "filter" not in fake.done


@pytest.mark.parametrize(
    ("function", "wall"), [("gain_nothing", names.NO_NEW_PRIVILEGES), ("hide_memory", names.NOT_DUMPABLE)]
)
def test_a_setting_that_did_not_take_is_an_error(
    fake: Kernel, monkeypatch: pytest.MonkeyPatch, function: str, wall: str
) -> None:
    monkeypatch.setattr(kernel, function, lambda: None)

    with pytest.raises(OSError, match=f"the wall '{wall}' does not stand"):
        plan.put_up(made())


def test_limits_that_did_not_take_are_an_error(fake: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: None)

    with pytest.raises(OSError, match="the wall 'rlimits' does not stand"):
        plan.put_up(made())


def test_a_process_whose_server_is_gone_does_not_go_on(fake: Kernel) -> None:
    with pytest.raises(OSError, match="the wall 'process of its own' does not stand"):
        plan.put_up(made(server=os.getppid() + 1))


def test_an_order_is_read_as_the_grader_sends_it() -> None:
    order = plan.Order.read(
        {
            "folder": "/f",
            "withheld": ["/w"],
            "user": 64007,
            "memory_bytes": 1,
            "cpu_seconds": 2,
            "program": "0aff",
            "unsafe": True,
        }
    )

    assert (order.withheld, order.program, order.home) == (("/w",), b"\x0a\xff", "/f/home")
    assert order.user == user.user_for(64007)
    assert order.unsafe
