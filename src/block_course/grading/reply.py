"""What a child's replies say, looked at by the side that doesn't trust it."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from block_course.exercise import Argument, Case, Manner, Observation, Status
from block_course.grading.wire import Array, Frame, Json, Malformed
from block_course.plain import MOST_LETTERS, NAMES, TEXT

CellStatus = Literal["done", "raised", "memory", "timeout", "forbidden", "died"]

MOST_TEXTS = 64
LONGEST_TEXT = 1000

_WITHHELD = "it calls what this exercise asks to be written"
"""A child's own words for it could carry a hidden input outside."""

_CELL: dict[str, CellStatus] = {"done": "done", "raised": "raised", "memory": "memory"}
_CALL: dict[str, Status] = {
    "returned": "returned",
    "not attempted": "not attempted",
    "missing": "missing",
    "raised": "raised",
    "memory": "memory",
    "forbidden": "forbidden",
}
_CALLED = ("returned", "raised", "memory")


@dataclass(frozen=True)
class Outcome:
    """How a cell ended."""

    status: CellStatus
    message: str = ""


@dataclass(frozen=True)
class Death:
    """How a process ended that should have answered."""

    status: Literal["timeout", "memory", "forbidden", "died"]
    message: str


def request(answer: str, manner: Manner, case: Case, arguments: Sequence[Json], label: str) -> Frame:
    """The frame that asks a child to use an answer on a case whose arguments were laid down.

    The case's own name stays here: it says what is wrong with the block that a test must judge. The child
    gets a `label` for its random states.
    """
    arrays: list[Array] = []
    head: dict[str, Json] = {
        "do": "call",
        "answer": answer,
        "framework": manner.framework,
        "calls": manner.calls,
        "names": list(manner.names),
        "withheld": list(manner.withheld),
        "label": label,
        "arguments": [*arguments],
        "init": _arguments(case.init, arrays),
        "state": _arguments(case.state, arrays),
        "train": case.train,
        "cotangent": _arguments({} if case.cotangent is None else {"dy": case.cotangent}, arrays),
    }
    return Frame(head, tuple(arrays))


def _arguments(given: Mapping[str, Argument], arrays: list[Array]) -> list[Json]:
    """Names with plain values, and with the places of arrays that are put among the others."""
    said: list[Json] = []
    for name, value in given.items():
        if value is None or isinstance(value, bool | int | float | str):
            said.append([name, {"value": value}])
        else:
            said.append([name, {"array": len(arrays)}])
            arrays.append(value)
    return said


def observation(frame: Frame, after: Mapping[str, Array]) -> Observation:
    """What a call gave, from a child's frame; `after` is what the grader found of its arguments afterwards.

    Raises Malformed.
    """
    status = _CALL.get(_text(frame, "status"))
    if status is None:
        raise Malformed("a call has no such status")
    kinds = _texts(frame, "kinds")
    if len(kinds) != len(frame.arrays):
        raise Malformed("there are more or fewer arrays than announced")
    if any(
        kind in (TEXT, NAMES) and each.size > MOST_LETTERS
        for kind, each in zip(kinds, frame.arrays, strict=True)
    ):
        raise Malformed(f"a text has more than {MOST_LETTERS} letters")
    return Observation(
        status=status,
        outputs=frame.arrays,
        kinds=kinds,
        arguments_after=after if status in _CALLED else {},
        message=_WITHHELD if status == "forbidden" else _text(frame, "message"),
    )


def question(frame: Frame) -> str | None:
    """What a test asks of its block, if the frame is no observation yet. Raises Malformed."""
    return _text(frame, "ask") if "ask" in frame.head else None


def outcome(frame: Frame) -> Outcome:
    """How a cell ended, from a child's frame. Raises Malformed."""
    status = _CELL.get(_text(frame, "status"))
    if status is None:
        raise Malformed("a cell has no such status")
    return Outcome(status, _text(frame, "message"))


def walls(frame: Frame) -> tuple[str, ...]:
    """The walls that a child says it has put up, before it ran anything. Raises Malformed."""
    return _texts(frame, "walls")


def death(wait_status: int | None) -> Death:
    """What a wait status says about the end of a process; None: it lived, but had closed the channel."""
    if wait_status is None:
        return Death("died", "the process closed its channel to the grader")
    if not os.WIFSIGNALED(wait_status):
        return Death(
            "died", f"the process ended itself, with status {os.waitstatus_to_exitcode(wait_status)}"
        )
    number = os.WTERMSIG(wait_status)
    if number == signal.SIGSYS:
        return Death("forbidden", "the process did what is forbidden while grading")
    if number == signal.SIGXCPU:
        return Death("timeout", "the processor time was used up")
    if number == signal.SIGKILL:
        return Death("memory", "the system ended the process, most often for want of memory")
    name = signal.Signals(number).name if number in list(signal.Signals) else f"signal {number}"
    return Death("died", f"the process was ended by {name}")


def _text(frame: Frame, key: str) -> str:
    value = frame.head.get(key)
    if not isinstance(value, str):
        raise Malformed(f"{key} is no text")
    return value[:LONGEST_TEXT]


def _texts(frame: Frame, key: str) -> tuple[str, ...]:
    values: Sequence[Json] = frame.head.get(key, ())
    if not isinstance(values, list) or len(values) > MOST_TEXTS:
        raise Malformed(f"{key} is no list of at most {MOST_TEXTS} texts")
    if not all(isinstance(each, str) for each in values):
        raise Malformed(f"{key} holds something else than texts")
    return tuple(each[:LONGEST_TEXT] for each in values)
