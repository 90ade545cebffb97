"""Which mutants the tests notice: each runs in a fork of its own, against the tests of its own file.

A fork is made when pytest, NumPy and torch are loaded, but neither the package nor any test is. It loads the
package with the faulty file in place, collects, and stops at the first test that fails: 0.3 s, not 8 s.
"""

import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

import coverage
import pytest

from tests.mutants.mutate import Mutant

KILLED, SURVIVED = "killed", "survived"
# No code under test ends a process with these, by itself or by a fault.
_SURVIVED_CODE, _KILLED_CODE, _BROKEN_CODE = 120, 121, 123
# A fault may ask for an array of any size; a fork that asks for more than this gets a MemoryError.
_MEMORY = 16 * 2**30


class Target(NamedTuple):
    """A file as its package calls it, where it lies, its dotted name, and the test files of its own."""

    file: str
    path: Path
    module: str
    tests: list[Path]


class Verdict(NamedTuple):
    """What became of a mutant, how many seconds of a processor that took, and which file's test noticed it.

    No file is known where a fault kept tests from being collected, or ran for ever.
    """

    mutant: Mutant
    verdict: str
    seconds: float
    by: Path | None = None


class _Trial(NamedTuple):
    """A mutant in a fork: when that began, and the pipe in which it names the file of the test that fails."""

    mutant: Mutant
    start: float
    pipe: int


@dataclass
class Baseline:
    """The target's tests without a fault: how long each takes, and which lines it runs."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests_of_line: dict[int, list[str]] = field(default_factory=dict)
    failed: str = ""

    def order_for(self, mutant: Mutant) -> list[str]:
        """The tests that can notice a fault: those that run its very lines first, quick before slow.

        What runs in a fork of a test alone was seen in none: all of them may notice it.
        """
        near = self._running(mutant.lines)
        able = (self._running(mutant.scope) if mutant.scope else set()) or set(self.seconds)
        return sorted(able, key=lambda test: (test not in near, self.seconds[test]))

    def _running(self, lines: Iterable[int]) -> set[str]:
        return {test for line in lines for test in self.tests_of_line.get(line, []) if test in self.seconds}


def baseline(session: pytest.Session, target: Target) -> Baseline:
    """Run the target's tests as they are, in a fork."""
    read, write = os.pipe()
    child = _fork(partial(_measure, session, target, write))
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        report = pipe.read()
    os.waitpid(child, 0)
    if not report:
        raise RuntimeError(f"the tests of {target.module} could not be run at all")
    seconds, lines, failed = json.loads(report)
    return Baseline(seconds, {int(line): tests for line, tests in lines.items()}, failed)


def judge(
    session: pytest.Session,
    target: Target,
    mutants: Iterable[Mutant],
    measured: Baseline,
    workers: int,
    patience: float,
) -> Iterator[Verdict]:
    """Yield each mutant's verdict as it comes in; so many forks run side by side.

    A fault may make a test run for ever: ten times what all tests take, and patience seconds, are the end.
    """
    gc.freeze()  # what is loaded by now is never collected, so forks need not look through it
    limit = patience + 10 * sum(measured.seconds.values())
    waiting = deque(mutants)
    running: dict[int, _Trial] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                mutant = waiting.popleft()
                read, write = os.pipe()
                child = _fork(partial(_try, session, target, mutant, measured.order_for(mutant), write))
                os.close(write)
                os.set_blocking(read, False)  # a process that a fault left behind may hold the other end
                running[child] = _Trial(mutant, time.monotonic(), read)
            yield from _finished(running, limit)
    finally:
        for child in running:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _finished(running: dict[int, _Trial], limit: float) -> Iterator[Verdict]:
    for child, (mutant, start, pipe) in list(running.items()):
        if time.monotonic() - start > limit:
            os.kill(child, signal.SIGKILL)
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            del running[child]
            code = os.waitstatus_to_exitcode(status)
            by = _told(pipe)
            os.close(pipe)
            if code == _BROKEN_CODE:
                raise RuntimeError(f"the run of a mutant broke down, and proves nothing: {mutant.key}")
            verdict = SURVIVED if code == _SURVIVED_CODE else KILLED
            yield Verdict(mutant, verdict, used.ru_utime + used.ru_stime, Path(by) if by else None)
    time.sleep(0.005)


def _told(pipe: int) -> str:
    try:
        return os.read(pipe, 4096).decode()
    except BlockingIOError:
        return ""


def _fork(work: Callable[[], int]) -> int:
    child = os.fork()
    if child:
        return child
    code = _BROKEN_CODE
    try:
        os.setsid()  # a fault in what ends groups of processes must not reach the run itself
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        code = work()
    finally:  # a fork never returns to the session it was made from
        os._exit(code)


def _measure(session: pytest.Session, target: Target, write: int) -> int:
    recorder = coverage.Coverage(data_file=None, include=[str(target.path)], config_file=False)
    recorder.start()
    items = _collect(session, target)
    seconds: dict[str, float] = {}
    failed = ""
    for item, following in zip(items, [*items[1:], None], strict=True):
        recorder.switch_context(item.nodeid)
        start = time.monotonic()
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        seconds[item.nodeid] = time.monotonic() - start
        if session.testsfailed and not failed:
            failed = item.nodeid
    recorder.stop()
    lines = recorder.get_data().contexts_by_lineno(str(target.path))
    with os.fdopen(write, "w", encoding="utf-8") as pipe:
        json.dump([seconds, lines, failed], pipe)
    return _SURVIVED_CODE


def _try(session: pytest.Session, target: Target, mutant: Mutant, tests: Sequence[str], write: int) -> int:
    # Nobody reads why a test failed; pytest's own tracebacks look through every module for the source.
    session.config.option.tbstyle = "native"
    sys.meta_path.insert(0, _Faulty(target, compile(mutant.source, str(target.path), "exec")))
    items = {item.nodeid: item for item in _collect(session, target)}
    if session.testsfailed:
        return _KILLED_CODE
    order = [items[test] for test in tests if test in items]
    own = os.getpid()  # a fork that a fault lets out of its test comes by here, too
    for item, following in zip(order, [*order[1:], None], strict=True):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            if os.getpid() == own:
                os.write(write, str(item.path).encode())
            return _KILLED_CODE
    return _SURVIVED_CODE if len(order) == len(tests) else _KILLED_CODE


def _collect(session: pytest.Session, target: Target) -> list[pytest.Item]:
    package = target.module.partition(".")[0]
    if package in sys.modules:
        raise RuntimeError(f"{package} was loaded before its mutant could be")
    return [*session.perform_collect([str(path) for path in target.tests])]


class _Faulty(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Loads one module from code with a fault, and leaves the others to their loaders."""

    def __init__(self, target: Target, code: CodeType) -> None:
        self._target, self._code = target, code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._target.module:
            return None
        return importlib.util.spec_from_file_location(fullname, self._target.path, loader=self)

    def get_code(self, fullname: str) -> CodeType:
        return self._code

    def get_source(self, fullname: str) -> None:
        return None
