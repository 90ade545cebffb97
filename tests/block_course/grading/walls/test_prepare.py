import errno
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from block_course.grading.walls import kernel, landlock, names, own_root, probe, seccomp, user
from block_course.grading.walls.namespaces import MOUNTS, PIDS, Namespaces
from block_course.grading.walls.plan import CANARY, HOME, PRIVATE, ROOT, Order, Plan

# by this name the package offers the function
room = sys.modules["block_course.grading.walls.prepare"]
SPACES = Namespaces((PIDS, MOUNTS), {})


@pytest.fixture
def order(tmp_path: Path) -> Order:
    for name in (CANARY, PRIVATE):
        (tmp_path / name).touch(mode=0o600)
    for name in (HOME, ROOT):
        (tmp_path / name).mkdir()
    return Order(
        folder=str(tmp_path), withheld=(), user=64001, memory_bytes=1 << 28, cpu_seconds=5, program=b"x" * 8
    )


@pytest.fixture(autouse=True)
def obliging(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A machine on which every wall stands; what changes the calling process is only noted."""
    done: list[str] = []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(kernel, "unshare", lambda kind: 0)
    monkeypatch.setattr(landlock, "ruleset", lambda *given: 16)
    monkeypatch.setattr(landlock, "restrict", lambda rules: None)
    monkeypatch.setattr(seccomp, "install", lambda program: None)
    monkeypatch.setattr(own_root, "move_in", lambda *given: done.append("moved"))
    monkeypatch.setattr(user, "become", lambda id: None)
    monkeypatch.setattr(user, "be_counted_as", lambda id: None)
    monkeypatch.setattr(room, "put_up", lambda plan: None)
    monkeypatch.setattr(room, "become", lambda plan: None)
    for name in vars(probe).copy():
        if name.startswith("of_") or name == "works":
            monkeypatch.setattr(probe, name, lambda *given: None)
    return done


def refuse(*given: Any) -> None:
    raise OSError(errno.EPERM, "not permitted")


def still_open(*given: Any) -> None:
    raise probe.StillOpen("a socket was not refused")


def prepared(order: Order, spaces: Namespaces = SPACES) -> Plan:
    made: Plan = room.prepare(order, spaces, (os.__file__,))
    return made


def test_where_all_is_allowed_all_stands(order: Order, obliging: list[str]) -> None:
    plan = prepared(order)

    assert plan.missing == {}
    assert plan.around == (names.OWN_ROOT, PIDS)
    assert (plan.user, plan.rules, plan.program) == (64001, 16, order.program)
    assert obliging == ["moved"]  # the trial was in a fork


@pytest.mark.parametrize(
    ("name", "attempt"),
    [
        (names.SECCOMP, "of_seccomp"),
        (names.SECCOMP, "of_deadly_calls"),
        (names.LANDLOCK, "of_files"),
        (names.OWN_ROOT, "of_own_root"),
        (names.OTHER_USER, "of_other_user"),
    ],
)
def test_a_wall_at_which_an_attempt_succeeds_does_not_stand(
    order: Order, monkeypatch: pytest.MonkeyPatch, name: str, attempt: str
) -> None:
    monkeypatch.setattr(probe, attempt, still_open)

    plan = prepared(replace(order, unsafe=True))

    assert plan.missing == {name: "a socket was not refused"}
    assert name not in plan.standing


@pytest.mark.parametrize("attempt", ["of_capabilities", "of_limits"])
def test_what_every_machine_can_do_must_hold(
    order: Order, monkeypatch: pytest.MonkeyPatch, attempt: str
) -> None:
    monkeypatch.setattr(probe, attempt, still_open)

    with pytest.raises(room.Refused, match="a socket was not refused"):
        prepared(replace(order, unsafe=True))


def test_a_box_in_which_python_can_not_be_read_is_refused_with_the_cure(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "works", refuse)

    with pytest.raises(room.Refused, match=r"not permitted\. Python and its packages must be readable"):
        prepared(order)


def test_without_landlock_the_root_of_its_own_is_enough(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "ruleset", refuse)

    plan = prepared(order)

    assert plan.missing == {names.LANDLOCK: "not permitted"}


def test_without_namespaces_landlock_is_enough(order: Order) -> None:
    plan = prepared(order, Namespaces((), {MOUNTS: "denied", PIDS: "denied"}))

    assert plan.missing == {names.OWN_ROOT: "denied", PIDS: "denied"}


def test_a_mount_namespace_alone_gives_no_root(order: Order, obliging: list[str]) -> None:
    plan = prepared(order, Namespaces((MOUNTS,), {PIDS: "denied"}))

    assert plan.missing == {names.OWN_ROOT: "denied", PIDS: "denied"}
    assert obliging == []


def test_without_both_nothing_runs_unless_told(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "ruleset", refuse)
    nothing = Namespaces((), {MOUNTS: "denied"})

    with pytest.raises(room.Refused, match=r"Landlock \(not permitted\), own root \(denied\)"):
        prepared(order, nothing)
    assert prepared(replace(order, unsafe=True), nothing).shown[0] == names.UNSAFE


def test_without_a_filter_nothing_runs(order: Order) -> None:
    with pytest.raises(room.Refused, match=r"seccomp \(there is no libseccomp\)"):
        prepared(replace(order, program=b"", no_program="there is no libseccomp"))


def test_an_ordinary_user_stays_who_it_is(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    plan = prepared(order)

    assert (plan.user, plan.counted_as) == (None, None)
    assert plan.missing == {names.OTHER_USER: "only root can become another user"}


def test_a_python_that_only_root_can_read_keeps_root_and_says_so(
    order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    def become(id: int) -> None:
        raise OSError(errno.EACCES, "Permission denied", "/root/python/os.py")

    monkeypatch.setattr(user, "become", become)

    plan = prepared(order)

    assert (plan.user, plan.counted_as) == (None, 64001)
    assert "Permission denied: '/root/python/os.py'" in plan.missing[names.OTHER_USER]
