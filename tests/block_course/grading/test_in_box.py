import asyncio
import builtins
import fcntl
import os
import random
import socket
import sys
import types
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from block_course.exercise import Array
from block_course.grading import in_box, reply, walls, wire
from block_course.grading.wire import Frame, Gone


def run(source: str, namespace: dict[str, Any] | None = None) -> dict[str, str]:
    return in_box._run_cell(source, "cell 3", {} if namespace is None else namespace)


def cell(source: str) -> Frame:
    return Frame({"do": "cell", "name": "cell 3"}, (np.frombuffer(source.encode(), np.uint8),))


def answered(request: Frame, namespace: dict[str, Any], memory: Array | None = None) -> Frame:
    memory = np.zeros(1 << 12, np.uint8) if memory is None else memory
    return wire.decode(BytesIO(in_box._answer(request, namespace, memory)).read)


def call(*told: list[Any]) -> Frame:
    return reply.request("f", "numpy", "a case", told)


RAISED = {
    "x = 1\n1 / 0": "line 2: ZeroDivisionError: division by zero",
    "def f():\n    raise ValueError('no')\nf()": "line 2: ValueError: no",
    "x = (\n": "line 1: SyntaxError: '(' was never closed",
    "raise SystemExit(3)": "line 1: SystemExit: 3",
    "raise KeyboardInterrupt": "line 1: KeyboardInterrupt: ",
    "import json\njson.loads('{')": "line 2: JSONDecodeError: Expecting property name",
    "compile('(', 'elsewhere', 'exec')": "line 1: SyntaxError: '(' was never closed",
    "raise ValueError('\\ud800')": "line 1: ValueError: ?",
    "raise ValueError('x' * 10000)": "line 1: ValueError: xxx",
    "class E(BaseException):\n def __str__(self): raise E\nraise E": "an exception that can't be printed",
    "raise NotImplementedError": "line 1: NotImplementedError: ",
}


class TestACell:
    def test_defines_names(self) -> None:
        namespace: dict[str, Any] = {}

        assert run("def f(x):\n    return x + 1\ny = f(2)", namespace) == {"status": "done", "message": ""}
        assert namespace["y"] == 3

    def test_may_await(self) -> None:
        namespace = {"asyncio": asyncio}

        assert run("x = await asyncio.sleep(0, result=5)", namespace)["status"] == "done"
        assert namespace["x"] == 5

    def test_has_source_that_can_be_inspected(self) -> None:
        namespace: dict[str, Any] = {}
        run("import inspect\ndef f():\n    return 1\ns = inspect.getsource(f)", namespace)

        assert namespace["s"] == "def f():\n    return 1\n"

    @pytest.mark.parametrize(("source", "message"), RAISED.items())
    def test_that_raises_says_what_and_where(self, source: str, message: str) -> None:
        outcome = run(source)

        assert outcome["status"] == "raised"
        assert outcome["message"].startswith(message)
        assert len(outcome["message"]) <= 500

    def test_that_wants_too_much_memory_says_so(self) -> None:
        assert run("raise MemoryError") == {"status": "memory", "message": "MemoryError"}

    def test_may_break_its_own_output(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdout", None)

        assert run("x = 1")["status"] == "done"


class TestARequest:
    def test_for_a_cell_is_answered_with_its_outcome(self) -> None:
        assert answered(cell("x = 'é'"), {}).head == {"status": "done", "message": ""}

    def test_for_a_call_is_answered_with_what_it_gave(self) -> None:
        x = np.arange(6.0).reshape(2, 3)
        memory = np.concatenate([np.zeros(64, np.uint8), x.reshape(-1).view(np.uint8)])
        request = call(["x", {"at": 64, "dtype": "<f8", "shape": [2, 3]}], ["by", {"value": 2.5}])

        frame = answered(request, {"f": lambda x, by: x * by}, memory)
        seen = reply.observation(frame, {})

        assert seen.status == "returned"
        np.testing.assert_array_equal(seen.outputs[0], x * 2.5)

    def test_for_a_call_hands_over_the_memory_that_the_grader_sees(self) -> None:
        memory = np.zeros(64, np.uint8)

        answered(call(["x", {"at": 8, "dtype": "<f4", "shape": [3]}]), {"f": lambda x: x.fill(1.0)}, memory)

        assert memory.view(np.float32).tolist() == [0.0] * 2 + [1.0] * 3 + [0.0] * 11

    def test_for_a_name_that_is_not_there_says_missing(self) -> None:
        frame = answered(call(), {"g": 1})

        assert reply.observation(frame, {}).status == "missing"

    def test_for_more_than_a_frame_carries_is_answered_with_the_reason(self) -> None:
        large = [np.zeros(3_000_000) for _ in range(4)]
        frame = answered(call(), {"f": lambda: large})

        seen = reply.observation(frame, {})
        assert (seen.status, seen.outputs) == ("raised", ())
        assert seen.message == "ValueError: the arrays are over the limit of 67108864 bytes"

    def test_that_a_learners_code_breaks_is_answered_all_the_same(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*arguments: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(in_box, "observe", broken)
        frame = answered(call(), {"f": 1})

        assert reply.observation(frame, {}).status == "raised"
        assert reply.outcome(answered(Frame({"do": "cell"}), {})).status == "raised"


class TestAChild:
    @pytest.fixture
    def line(self, monkeypatch: pytest.MonkeyPatch) -> socket.socket:
        ours, theirs = socket.socketpair()
        monkeypatch.setattr(in_box, "CHANNEL", theirs.fileno())
        monkeypatch.setattr(os, "environ", dict(os.environ))
        monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        for name in ("input", "get_ipython", "display"):
            monkeypatch.setattr(builtins, name, getattr(builtins, name, None), raising=False)
        yield ours  # type: ignore[misc]
        ours.close()
        theirs.close()

    JOB: ClassVar = {"assignment": "00_tiny", "torch": False}
    PLAN = walls.Plan(server=1, home="/", limits={})

    def test_names_its_walls_then_answers_until_the_line_is_closed(
        self, line: socket.socket, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(walls, "put_up", lambda plan: ("a wall",))
        states = random.getstate(), np.random.get_state()
        wire.write(line.fileno(), wire.encode(cell("x = 3")))
        line.shutdown(socket.SHUT_WR)

        in_box._live(self.PLAN, self.JOB, np.zeros(8, np.uint8))

        read = wire.reader(line.fileno())
        assert wire.decode(read).head == {"walls": ["a wall"]}
        assert wire.decode(read).head == {"status": "done", "message": ""}
        assert vars(sys.modules["__main__"])["x"] == 3
        random.setstate(states[0])
        np.random.set_state(states[1])

    def test_without_walls_runs_nothing(self, line: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*given: object) -> None:
            raise OSError("the wall 'x' does not stand")

        monkeypatch.setattr(walls, "put_up", refuse)

        in_box._live(self.PLAN, self.JOB, np.zeros(8, np.uint8))

        assert wire.decode(wire.reader(line.fileno())).head == {"refused": "the wall 'x' does not stand"}

    def test_starts_with_random_states_from_the_label(self, monkeypatch: pytest.MonkeyPatch) -> None:
        states = random.getstate(), np.random.get_state()
        seeds: list[int] = []
        monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(manual_seed=seeds.append))
        drawn = []
        for label in ("a", "b", "a"):
            in_box._same_start_for_all(label, torch=True)
            drawn.append((random.random(), float(np.random.rand())))
        in_box._same_start_for_all("a", torch=False)
        random.setstate(states[0])
        np.random.set_state(states[1])

        assert drawn[0] == drawn[2] != drawn[1]
        assert seeds[0] == seeds[2] != seeds[1]
        assert len(seeds) == 3

    @pytest.mark.parametrize(("kept", "closed"), [(None, [(4, 1 << 20)]), (16, [(4, 16), (17, 1 << 20)])])
    def test_keeps_only_the_descriptors_it_needs(
        self, monkeypatch: pytest.MonkeyPatch, kept: int | None, closed: list[tuple[int, int]]
    ) -> None:
        copies: list[tuple[int, int, bool]] = []
        ranges: list[tuple[int, int]] = []
        kernel = types.SimpleNamespace(
            devnull="/dev/null",
            O_RDONLY=0,
            open=lambda path, flags: 20,
            dup2=lambda a, b, inheritable: copies.append((a, b, inheritable)),
            closerange=lambda first, end: ranges.append((first, end)),
        )
        monkeypatch.setattr(in_box, "os", kernel)
        monkeypatch.setattr(fcntl, "fcntl", lambda each, command, least: 100 + each)

        in_box._settle(7, 8, kept)

        assert copies == [(120, 0, True), (108, 1, True), (108, 2, True), (107, 3, False)]
        assert ranges == closed


def test_a_reader_that_meets_the_end_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with open(tmp_path / "empty", "rb") as file, pytest.raises(Gone):
        wire.decode(wire.reader(file.fileno()))
