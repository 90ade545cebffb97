"""What a child does when it is asked: runs a cell, or uses an answer. It runs beside the learner's code."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import functools
import inspect
import linecache
import sys
import traceback
from typing import Any

from block_course.calling import observe
from block_course.exercise import Array, Case, Manner, Observation, Outputs
from block_course.grading.inputs import taken_up
from block_course.grading.wire import Frame, decode, encode, reader, write

_LONGEST_MESSAGE = 500


def answer(request: Frame, namespace: dict[str, Any], channel: int, memory: Array) -> bytes:
    """The frame that answers a request: how a cell ended, or what a call gave. Raises nothing.

    The arguments of a call lie in `memory`. A test asks the block that it judges through the channel, a file
    descriptor.
    """
    try:
        if request.head["do"] == "cell":
            source = request.arrays[0].tobytes().decode("utf-8")
            return encode(Frame(run_cell(source, request.head["name"], namespace)))
        return encode(_call(request, namespace, channel, memory))
    except BaseException as error:  # more than a frame carries; or a learner has changed what is used here
        return encode(Frame({"status": "raised", "message": _message(error), "kinds": []}))


def run_cell(source: str, name: str, namespace: dict[str, Any]) -> dict[str, str]:
    """Run a cell in a namespace; how it ended."""
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    try:
        # as in a notebook, a cell may await
        code = compile(source, file, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        awaiting = eval(code, namespace)
        if inspect.iscoroutine(awaiting):
            asyncio.run(awaiting)
    except MemoryError:
        return {"status": "memory", "message": "MemoryError"}
    except BaseException as error:
        return {"status": "raised", "message": _message(error, file)}
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):
                stream.flush()
    return {"status": "done", "message": ""}


def _call(request: Frame, namespace: dict[str, Any], channel: int, memory: Array) -> Frame:
    head = request.head
    if head["answer"] not in namespace:
        return _reply(Observation(status="missing"))
    case = Case(
        name=head["label"],
        arguments=taken_up(head["arguments"], memory),
        init=_given(request, "init"),
        state=_given(request, "state"),
        train=head["train"],
        cotangent=_given(request, "cotangent").get("dy"),
    )
    manner = Manner(head["framework"], head["calls"], tuple(head["names"]), tuple(head["withheld"]))
    return _reply(
        observe(namespace[head["answer"]], case, manner, ask=functools.partial(_ask, channel), for_good=True)
    )


def _given(request: Frame, what: str) -> dict[str, Any]:
    return {
        name: request.arrays[given["array"]] if "array" in given else given["value"]
        for name, given in request.head[what]
    }


def _ask(channel: int, question: str, arrays: Outputs) -> Outputs:
    """Put a test's question to the block that it judges, which is not in this process."""
    write(channel, encode(Frame({"ask": question}, arrays)))
    answered = decode(reader(channel))
    if "refused" in answered.head:
        raise ValueError(answered.head["refused"])
    return answered.arrays


def _reply(seen: Observation) -> Frame:
    head = {"status": seen.status, "message": seen.message, "kinds": list(seen.kinds)}
    return Frame(head, seen.outputs)


def _message(error: BaseException, file: str = "") -> str:
    """An exception in one line, with the line of the cell that it came from."""
    try:
        lines = [
            line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file
        ]
        if isinstance(error, SyntaxError) and error.filename == file and error.lineno:
            lines = [error.lineno]
        where = f"line {lines[-1]}: " if lines else ""
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        whole = f"{where}{type(error).__name__}: {text}"[:_LONGEST_MESSAGE]
        return whole.encode("utf-8", "replace").decode("utf-8")
    except BaseException:  # its __str__ is the learner's code as well
        return "an exception that can't be printed"
