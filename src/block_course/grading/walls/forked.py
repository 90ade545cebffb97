"""Trying something in a process of its own, which can't be undone or may not come back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

_MOST_BYTES = 1 << 16


def forked(act: Callable[[], Any]) -> Any:
    """What a function gives in a fork, through JSON. Raises OSError with the words of what it raised."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = {"given": act()}
        except BaseException as error:
            answer = {"raised": _words(error)}
        try:
            os.write(writing, json.dumps(answer).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = json.loads(pipe.read(_MOST_BYTES) or b'{"raised": "the process ended"}')
    os.waitpid(child, 0)
    if "raised" in answer:
        raise OSError(answer["raised"])
    return answer["given"]


def reason(act: Callable[[], Any]) -> str:
    """Why a function fails in a fork; nothing if it doesn't."""
    try:
        forked(act)
    except OSError as error:
        return str(error)
    return ""


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
