"""Where the arguments of a call lie: memory that the grader and a child share.

What a call did to its inputs is seen here, in the grader's own view of them. A child is not asked.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Mapping, Sequence

import numpy as np

from block_course.exercise import Argument
from block_course.grading.wire import MAX_ARRAY_BYTES, Array, Json

BYTES = MAX_ARRAY_BYTES

_ALIGNMENT = 64


class Inputs:
    """The memory for the calls of one child."""

    def __init__(self) -> None:
        """Make it. It takes no room before something lies in it."""
        self.descriptor = os.memfd_create("inputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, BYTES)
        # a child that made it shorter would end the grader's process when it looks
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        self._memory = mmap.mmap(self.descriptor, BYTES)
        self._next = 0
        self._placed: dict[str, tuple[int, Array]] = {}

    def place(self, arguments: Mapping[str, Argument]) -> list[Json]:
        """Lay the arrays among the arguments of a call down; all arguments as the child is told of them.

        Each call finds a place of its own, until the room is used up and begins anew: an array that a
        learner's code has kept does not change under it at the next call.

        Raises ValueError if they are more than there is room for.
        """
        arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
        needed = sum(_room(each) for each in arrays.values())
        if needed > BYTES:
            raise ValueError(f"the arguments have {needed} bytes, over the limit of {BYTES}")
        if self._next + needed > BYTES:
            self._next = 0
        self._placed = {}
        told: list[Json] = []
        for name, value in arguments.items():
            if isinstance(value, np.ndarray):
                told.append([name, self._lay_down(name, value)])
            else:
                told.append([name, {"value": value}])
        return told

    def after(self) -> dict[str, Array]:
        """The arrays as the call has left them."""
        return {
            name: np.frombuffer(self._memory[at : at + given.nbytes], given.dtype).reshape(given.shape)
            for name, (at, given) in self._placed.items()
        }

    def close(self) -> None:
        """Let go of the memory."""
        self._memory.close()
        os.close(self.descriptor)

    def _lay_down(self, name: str, value: Array) -> Json:
        at = self._next
        plain = np.ascontiguousarray(value).reshape(value.shape)
        self._memory[at : at + plain.nbytes] = plain.tobytes()
        self._placed[name] = at, plain
        self._next += _room(plain)
        return {"at": at, "dtype": plain.dtype.str, "shape": list(plain.shape)}


def _room(array: Array) -> int:
    return -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT


def taken_up(told: Sequence[Json], memory: Array) -> dict[str, Argument]:
    """In the child: the arguments of a call, its arrays where they lie."""
    return {name: given["value"] if "value" in given else _view(given, memory) for name, given in told}


def _view(given: Mapping[str, Json], memory: Array) -> Array:
    dtype, count = np.dtype(given["dtype"]), int(np.prod(given["shape"], dtype=np.int64))
    part = memory[given["at"] : given["at"] + dtype.itemsize * count]
    return part.view(dtype).reshape(given["shape"])
