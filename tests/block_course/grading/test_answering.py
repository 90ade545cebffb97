import asyncio
import sys
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from block_course.exercise import Array, Case, Manner
from block_course.grading import answering, reply, wire
from block_course.grading.wire import Frame


def run(source: str, namespace: dict[str, Any] | None = None) -> dict[str, str]:
    return answering.run_cell(source, "cell 3", {} if namespace is None else namespace)


def cell(source: str) -> Frame:
    return Frame({"do": "cell", "name": "cell 3"}, (np.frombuffer(source.encode(), np.uint8),))


def answered(request: Frame, namespace: dict[str, Any], memory: Array | None = None) -> Frame:
    memory = np.zeros(1 << 12, np.uint8) if memory is None else memory
    return wire.decode(BytesIO(answering.answer(request, namespace, 0, memory)).read)


def call(*told: list[Any]) -> Frame:
    return reply.request("f", Manner(), Case(name="a case"), told, "0")


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

        monkeypatch.setattr(answering, "observe", broken)
        frame = answered(call(), {"f": 1})

        assert reply.observation(frame, {}).status == "raised"
        assert reply.outcome(answered(Frame({"do": "cell"}), {})).status == "raised"
