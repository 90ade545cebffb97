"""Names that an exercise withholds, because writing them is the exercise: a call of one is noticed.

This is a rule of the course and no wall: code that wants to can switch the watch off.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from types import FrameType, ModuleType


class Used(list[str]):
    """The withheld names that were called, in the order of their first call."""

    def note(self, name: str) -> None:
        """Remember a name, once."""
        if name not in self:
            self.append(name)


@contextlib.contextmanager
def watching(withheld: Sequence[str]) -> Iterator[Used]:
    """Notice calls of functions by dotted name, and of anything in a module or package, under any alias.

    `torch.nn.functional.layer_norm` is noticed too where `nn.LayerNorm` calls it. Names of modules that were
    never imported can't be called and are passed over. Raises AttributeError for a name that a module lacks.
    """
    used = Used()
    if not withheld:
        yield used
        return
    rooms, codes, built_in = _found(withheld)

    def look(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            name = codes.get(frame.f_code, "") or _room_of(str(frame.f_globals.get("__name__")), rooms)
        elif event == "c_call":
            name = built_in.get(_signature(argument), "")
        else:
            return
        if name:
            used.note(name)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield used
    finally:
        sys.setprofile(before)


def _found(withheld: Sequence[str]) -> tuple[list[str], dict[object, str], dict[object, str]]:
    rooms: list[str] = []
    codes: dict[object, str] = {}
    built_in: dict[object, str] = {}
    for name in withheld:
        found = _loaded(name)
        if found is None:
            continue
        if isinstance(found, ModuleType):
            rooms.append(name)
        elif hasattr(found, "__code__"):
            codes[found.__code__] = name
        else:
            built_in[_signature(found)] = name
    return rooms, codes, built_in


def _loaded(name: str) -> object | None:
    """What a dotted name stands for; None if the module that holds it is not loaded."""
    if name in sys.modules:
        return sys.modules[name]
    module, _, last = name.rpartition(".")
    if module not in sys.modules:
        return None
    room = importlib.import_module(module)
    if not hasattr(room, last) and hasattr(room, "__path__") and _is_module(name):
        return None
    return getattr(room, last)  # type: ignore[no-any-return]


def _is_module(name: str) -> bool:
    """Whether a name in a package, of nothing that is loaded, is that of a module."""
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:  # the box refuses to look for one that it withholds
        return True


def _signature(function: object) -> tuple[object, object]:
    """What tells a function of C from others: asked for again, some libraries make a new object of it."""
    return getattr(function, "__name__", None), type(getattr(function, "__self__", None))


def _room_of(module: str, rooms: Sequence[str]) -> str:
    return next((room for room in rooms if module == room or module.startswith(f"{room}.")), "")
