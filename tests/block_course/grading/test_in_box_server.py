import gc
import json
import os
import signal
import socket
import threading

import pytest

from block_course.grading import in_box, stand_in, walls

PLAN = walls.Plan(server=5, home="/", limits={}, rules=16, missing={"a wall": "a reason"})
ORDER = {
    "folder": "/f",
    "withheld": ["/w"],
    "user": 1,
    "memory_bytes": 1,
    "cpu_seconds": 1,
    "program": "",
    "no_program": "there is none",
    "unsafe": False,
}


class TestTheServer:
    def test_serves_until_the_grader_closes_the_socket(self, monkeypatch: pytest.MonkeyPatch) -> None:
        done: list[object] = []
        monkeypatch.setattr(walls, "adopt_orphans", lambda: done.append("adopted"))
        monkeypatch.setattr(walls, "hide_memory", lambda: done.append("hidden"))
        monkeypatch.setattr(walls, "end_descendants", lambda pid: done.append(pid))
        monkeypatch.setattr(walls, "enter", lambda: walls.Namespaces((), {}))
        monkeypatch.setattr(walls, "prepare", lambda order, spaces, needed: PLAN)
        monkeypatch.setattr(in_box, "_get_ready", lambda settings: done.append(settings["assignment"]))
        monkeypatch.setattr(in_box, "_spawn", lambda control, given, plan, job: plan.server * 100)
        monkeypatch.setattr(in_box, "_end", lambda pid, patience: None)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server = threading.Thread(target=in_box.serve, args=(theirs,))
        server.start()
        replies = []
        for request in (
            {"assignment": "00_tiny", "walls": ORDER},
            {"do": "spawn"},
            {"do": "end", "pid": 500, "patience": 0.5},
        ):
            ours.send(json.dumps(request).encode())
            replies.append(json.loads(ours.recv(1000)))
        ours.close()
        server.join()
        theirs.close()

        ready = {"standing": list(PLAN.shown), "missing": {"a wall": "a reason"}}
        assert replies == [ready, {"pid": 500}, {"ended": None}]
        assert done == ["adopted", "hidden", "00_tiny", os.getpid()]

    def test_gets_ready_without_torch_or_with_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        furnished: list[object] = []
        monkeypatch.setattr(stand_in, "furnish", lambda *given, torch: furnished.append((*given, torch)))
        monkeypatch.setattr(in_box, "_warm_torch", lambda: furnished.append("torch"))
        monkeypatch.setattr(in_box, "_warm_figures", lambda: furnished.append("figures"))
        monkeypatch.setattr(gc, "freeze", lambda: None)
        for torch, warm in ((False, True), (True, True), (True, False)):
            settings = {"assignment": "00_tiny", "permitted": ["p"], "torch": torch, "warm": warm}
            in_box._get_ready(settings)

        one, two = ("00_tiny", ["p"], False), ("00_tiny", ["p"], True)
        assert furnished == [one, "figures", two, "torch", "figures", two]

    def test_says_why_it_can_not_be_closed_and_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*given: object) -> None:
            raise walls.Refused("there is no Landlock")

        monkeypatch.setattr(walls, "enter", lambda: walls.Namespaces((), {}))
        monkeypatch.setattr(walls, "adopt_orphans", lambda: None)
        monkeypatch.setattr(walls, "hide_memory", lambda: None)
        monkeypatch.setattr(walls, "prepare", refuse)
        monkeypatch.setattr(in_box, "_get_ready", lambda settings: None)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.send(json.dumps({"walls": ORDER}).encode())
        in_box.serve(theirs)
        reply = json.loads(ours.recv(1000))
        ours.close()
        theirs.close()

        assert reply == {"refused": "there is no Landlock"}

    @pytest.mark.slow
    def test_warms_torch_with_one_thread(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import torch

        threads: list[int] = []
        monkeypatch.setattr(torch, "set_num_threads", threads.append)
        monkeypatch.setattr(torch, "set_num_interop_threads", threads.append)

        in_box._warm_torch()

        assert threads == [1, 1]

    def test_forks_and_closes_what_it_handed_over(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reading, writing = os.pipe()
        monkeypatch.setattr(os, "fork", lambda: 4321)

        with socket.socket() as control:
            assert in_box._spawn(control, [reading, writing], PLAN, {}) == 4321
        for descriptor in (reading, writing):
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(descriptor)

    @pytest.mark.parametrize("fails", [False, True])
    def test_a_child_never_returns_into_the_servers_loop(
        self, monkeypatch: pytest.MonkeyPatch, fails: bool
    ) -> None:
        class Exited(BaseException):
            pass

        lived: list[object] = []

        def settle(*descriptors: int | None) -> None:
            lived.append(descriptors)
            if fails:
                raise RuntimeError("no descriptors")

        def leave(status: int) -> None:
            raise Exited(status)

        monkeypatch.setattr(os, "fork", lambda: 0)
        monkeypatch.setattr(os, "_exit", leave)
        monkeypatch.setattr(in_box, "_shared", lambda descriptor: f"memory of {descriptor}")
        monkeypatch.setattr(in_box, "_settle", settle)
        monkeypatch.setattr(in_box, "_live", lambda *given: lived.append(given))
        control = socket.socket()

        with pytest.raises(Exited):
            in_box._spawn(control, [7, 8, 9], PLAN, {"a": 1})

        assert control.fileno() == -1
        assert lived == [(7, 8, 16)] if fails else [(7, 8, 16), (PLAN, {"a": 1}, "memory of 9")]


class Processes:
    """Children as the kernel would tell of them: how often each is still alive when asked, and its status."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, alive: int, orphans: int = 0) -> None:
        self.alive, self.orphans, self.ended = alive, orphans, False
        self.killed: list[tuple[str, int]] = []
        monkeypatch.setattr(os, "waitpid", self.waitpid)
        monkeypatch.setattr(os, "kill", lambda pid, number: self._kill("kill", number))
        monkeypatch.setattr(os, "killpg", lambda pid, number: self._kill("killpg", number))
        monkeypatch.setattr(walls, "end_descendants", self.end_descendants)

    def _kill(self, how: str, number: int) -> None:
        self.killed.append((how, number))
        self.alive = 0
        if how == "killpg":
            raise ProcessLookupError

    def waitpid(self, pid: int, flags: int) -> tuple[int, int]:
        if pid > 0:
            self.alive -= 1
            return (0, 0) if self.alive >= 0 else (pid, 11)
        if self.orphans:
            self.ended = not self.ended  # by turns one that lives and one that has just ended
            return (0, 0) if self.ended else (99, 9)
        raise ChildProcessError

    def end_descendants(self, pid: int) -> None:
        self.killed.append(("descendants", pid))
        self.orphans -= 1


class TestTheEndOfAChild:
    def test_that_has_ended_is_its_status(self, monkeypatch: pytest.MonkeyPatch) -> None:
        processes = Processes(monkeypatch, alive=0)

        assert in_box._end(77, 0.0) == 11
        assert processes.killed == []

    def test_that_ends_in_a_moment_is_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        processes = Processes(monkeypatch, alive=3)

        assert in_box._end(77, 60.0) == 11
        assert processes.killed == []

    def test_that_lives_is_a_kill_of_it_and_its_group(self, monkeypatch: pytest.MonkeyPatch) -> None:
        processes = Processes(monkeypatch, alive=1)

        assert in_box._end(77, 0.0) is None
        assert processes.killed == [("killpg", signal.SIGKILL), ("kill", signal.SIGKILL)]

    def test_is_the_end_of_its_orphans(self, monkeypatch: pytest.MonkeyPatch) -> None:
        processes = Processes(monkeypatch, alive=0, orphans=2)

        in_box._end(77, 0.0)

        assert processes.killed == [("descendants", os.getpid())] * 2
