import os
import socket

import pytest

from block_course.grading.walls import kernel, namespaces
from block_course.grading.walls.namespaces import IPC, MOUNTS, NETWORK, PIDS, USER, enter

ALL = dict.fromkeys((NETWORK, IPC, PIDS, MOUNTS), "")
NONE = dict.fromkeys(ALL, "not permitted")


class Machine:
    """A machine that allows some namespaces, with a user namespace or without."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, alone: dict[str, str], with_user: dict[str, str]
    ) -> None:
        self.done: list[object] = []
        names = {kind: name for name, kind in namespaces._KINDS.items()}
        monkeypatch.setattr(namespaces, "_allowed", lambda *, user: with_user if user else alone)
        monkeypatch.setattr(namespaces, "_own_user_namespace", lambda: self.done.append(USER))
        monkeypatch.setattr(namespaces, "_become_the_first", lambda: self.done.append("first"))
        monkeypatch.setattr(kernel, "unshare", lambda kind: self.done.append(names[kind]))
        monkeypatch.setattr(os, "getppid", lambda: 0)
        monkeypatch.setattr(socket, "create_connection", self.connect)
        self.connected = False

    def connect(self, address: object, timeout: float) -> socket.socket:
        if self.connected:
            return socket.socket()
        raise OSError("unreachable")


def test_root_enters_all_without_a_user_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, {**ALL, IPC: "not permitted"}, NONE)

    found = enter()

    assert found == namespaces.Namespaces((NETWORK, PIDS, MOUNTS), {IPC: "not permitted"})
    # the one that waits outside keeps its mounts
    assert machine.done == [NETWORK, PIDS, "first", MOUNTS]


def test_others_enter_them_through_a_user_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, NONE, {**NONE, NETWORK: ""})

    found = enter()

    assert found.entered == (USER, NETWORK)
    assert found.missing == {IPC: "not permitted", PIDS: "not permitted", MOUNTS: "not permitted"}
    assert machine.done == [USER, NETWORK]


def test_where_none_is_allowed_nothing_is_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, NONE, NONE)

    assert enter() == namespaces.Namespaces((), NONE)
    assert machine.done == []


def test_one_that_shuts_nothing_out_does_not_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, {**NONE, NETWORK: "", IPC: "", PIDS: ""}, NONE)
    machine.connected = True
    monkeypatch.setattr(os, "getppid", lambda: 5)

    found = enter()

    # shared memory is in reach as well: nothing was unshared here
    assert found.entered == ()
    assert {found.missing[name] for name in (NETWORK, IPC, PIDS)} == {
        "it was entered, and what it should shut out is still in reach"
    }


def test_a_segment_is_gone_when_it_is_let_go() -> None:
    with namespaces._shared_memory() as is_there:
        while_held = is_there()

    assert (while_held, is_there()) == (True, False)


def test_each_kind_is_tried_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def unshare(kind: int) -> None:
        if kind == kernel.NEW_IPC:
            raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(kernel, "unshare", unshare)

    assert namespaces._allowed(user=False) == {**ALL, IPC: "Operation not permitted"}


def test_without_a_user_namespace_none_is_to_be_had_through_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError("no user namespace")

    monkeypatch.setattr(namespaces, "_own_user_namespace", refuse)

    assert namespaces._allowed(user=True) == dict.fromkeys(ALL, "no user namespace")
