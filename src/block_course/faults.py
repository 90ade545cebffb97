"""What an exception in a learner's code says: what it was, where it was raised, and whether of a stub.

This module runs beside the learner's code, like `calling`: it reads what it is given and decides nothing.
"""

from __future__ import annotations

import dis
import linecache
import os
from types import CodeType, FrameType
from typing import Literal

LONGEST_MESSAGE = 300
LONGEST_LINE = 80
UNWRITTEN = "is not written yet"
LEFT_OVER = "left over from the empty cell"

_STUB_STEPS = frozenset(
    {"RESUME", "NOP", "POP_TOP", "PUSH_NULL", "LOAD_CONST", "LOAD_GLOBAL", "PRECALL", "CALL"}
    | {"RAISE_VARARGS", "RETURN_VALUE"}
)
_STANDARD_LIBRARY = os.path.dirname(os.__file__)
_OURS = ("block_course.calling", "block_course.under_test")

Fault = tuple[Literal["not attempted", "memory", "raised"], str, str]
"""How a call ended that raised: a status, the exception in one line, and the place of it."""


def fault(exception: BaseException) -> Fault:
    """Read an exception that came out of an answer.

    A bare NotImplementedError is "not attempted" if it is all that the answer does; elsewhere its message
    says which function isn't written yet, or that the line is left over.
    """
    try:
        frames = _learners_frames(exception)
        place = _place(frames)
        if (
            isinstance(exception, NotImplementedError) and not exception.args
        ):  # torch's own say what is missing
            stub = not frames or is_stub(frames[-1][0].f_code)
            if stub and len(frames) <= 1:
                return "not attempted", "", ""
            said = f"{frames[-1][0].f_code.co_name} {UNWRITTEN}" if stub else LEFT_OVER
            return "raised", one_line(f"NotImplementedError: {said}"), place
        message = one_line(f"{type(exception).__name__}: {exception}")
    except BaseException:  # its __str__ is the learner's code as well
        return "raised", "an exception that cannot be printed", ""
    return "memory" if isinstance(exception, MemoryError) else "raised", message, place


def is_stub(code: CodeType) -> bool:
    """Whether a body does nothing: `...`, `pass`, `return` or a bare `raise NotImplementedError()`."""
    steps = {each.opname for each in dis.get_instructions(code)}
    return set(code.co_names) <= {"NotImplementedError"} and steps <= _STUB_STEPS


def is_untouched(answer: object) -> bool:
    """Whether an answer, a function or an object that is called, has the body of a stub."""
    kind = type(answer)
    bodies = (answer, *(getattr(kind, name, None) for name in ("forward", "__call__")))
    codes = [code for each in bodies if isinstance(code := getattr(each, "__code__", None), CodeType)]
    return bool(codes) and is_stub(codes[0])


def one_line(text: str) -> str:
    """Printable, on one line, and short."""
    text = " ".join(str(text)[: 4 * LONGEST_MESSAGE].split())
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"


def _learners_frames(exception: BaseException) -> list[tuple[FrameType, int]]:
    """The frames from the answer inward, without those of libraries, each with its line."""
    frames = []
    trace = exception.__traceback__
    while trace is not None:
        file, module = trace.tb_frame.f_code.co_filename, trace.tb_frame.f_globals.get("__name__")
        library = file.startswith((_STANDARD_LIBRARY, "<frozen")) or "site-packages" in file
        if not library and module not in _OURS:
            frames.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return frames


def _place(frames: list[tuple[FrameType, int]]) -> str:
    """The innermost line of the learner's: line 3, `variance = …`."""
    if not frames:
        return ""
    frame, line = frames[-1]
    source = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip().replace("`", "'")
    source = source if len(source) <= LONGEST_LINE else source[: LONGEST_LINE - 1] + "…"
    where = f"line {line}" + (f" of `{frame.f_code.co_name}`" if len(frames) > 1 else "")
    return one_line(f"{where}, `{source}`" if source else where)
