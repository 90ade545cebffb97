"""What a learner's code finds in the box in place of the course's packages and of the notebook's shell."""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterable, Sequence
from typing import NoReturn

COURSE = ("block_course", "transformer_block")
_PACKAGES = ("block_course", "block_course.check", "transformer_block", "transformer_block.stepper")


class Withheld(importlib.abc.MetaPathFinder):
    """Refuses to import what an assignment withholds, with a sentence that says so."""

    def __init__(self, assignment: str, roots: Iterable[str]) -> None:
        """Withhold every module below `roots` that is not loaded already."""
        self.assignment = assignment
        self.roots = frozenset(roots)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Nothing for what is not withheld; ImportError for what is."""
        if fullname.partition(".")[0] in self.roots:
            raise ImportError(f"{fullname} can't be used while {self.assignment} is graded", name=fullname)
        return None


class Shell:
    """Stands in for IPython's shell: whatever it is asked, it does nothing and gives None."""

    def __getattr__(self, name: str) -> Shell:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *arguments: object, **named: object) -> None:
        """Do nothing."""


def furnish(assignment: str, permitted: Sequence[str], *, torch: bool) -> None:
    """Put the stand-ins in place of the course's packages; only `permitted` modules stay real.

    Without `torch`, an assignment in NumPy, torch is withheld as well.
    """
    for name in permitted:
        importlib.import_module(name)
    real = {name: module for name, module in sys.modules.items() if _permitted(name, permitted)}
    for name in [each for each in sys.modules if each.partition(".")[0] in COURSE]:
        del sys.modules[name]
    sys.modules.update(real)
    for name in _PACKAGES:
        _package(name)
    for name, module in sorted(real.items()):
        parent, _, last = name.rpartition(".")
        setattr(_package(parent), last, module)
    for name, functions in (
        ("block_course.check", ("check", "progress")),
        ("transformer_block", ("step",)),
        ("transformer_block.stepper", ("step",)),
    ):
        for function in functions:
            setattr(sys.modules[name], function, _nothing)
    sys.meta_path.insert(0, Withheld(assignment, COURSE if torch else (*COURSE, "torch")))


def main_module() -> types.ModuleType:
    """A fresh `__main__` for the cells, and the names that a notebook has without importing them."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    vars(module)["__builtins__"] = builtins
    shell = Shell()
    vars(builtins).update(input=_no_input, get_ipython=lambda: shell, display=_nothing)
    return module


def _permitted(name: str, permitted: Sequence[str]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in permitted)


def _package(name: str) -> types.ModuleType:
    """The module of that name: a real one if it is permitted, or a hollow one, set into its parent."""
    if name not in sys.modules:
        module = types.ModuleType(name, "A stand-in: the notebook is being graded.")
        module.__path__ = []
        sys.modules[name] = module
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(_package(parent), last, module)
    return sys.modules[name]


def _nothing(*arguments: object, **named: object) -> None:
    """Do nothing."""


def _no_input(prompt: object = "") -> NoReturn:
    raise EOFError("input() can't ask anyone while a notebook is graded")
