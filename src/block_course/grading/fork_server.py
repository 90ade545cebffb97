"""Starting the fork server of the box, and what it is asked for: a child, and the end of a child."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import block_course
from block_course.grading import system_calls, walls
from block_course.grading.channel import Channel
from block_course.grading.inputs import Inputs
from block_course.grading.scratch import remove_tree
from block_course.grading.wire import Gone

START_SECONDS = 120.0
ANSWER_SECONDS = 10.0
"""How long the server may take to get ready, and to start or end a child."""

_MOST_CONTROL_BYTES = 1 << 16
_SOURCES = str(Path(__file__).resolve().parents[2])
_PROGRAM = """
import os, shutil, socket, sys
sys.path.insert(0, sys.argv[1])
from block_course.grading.in_box import serve
sys.path.remove(sys.argv[1])
try:
    serve(socket.socket(fileno=int(sys.argv[2])))
finally:
    shutil.rmtree(sys.argv[3], ignore_errors=True)  # the grader may have been killed
os._exit(0)
"""
_PACKAGES = ("block_course", "transformer_block")
_THREADS = ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "VECLIB_MAXIMUM")
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "MPLBACKEND": "Agg",
    "PATH": "/usr/bin:/bin",
    "PYTHONHASHSEED": "0",
    "USER": "learner",  # the user has no entry in the system's list, and torch asks for a name
    # before the first import of a numeric library: a pool of threads does not survive a fork
    **{f"{name}_NUM_THREADS": "1" for name in _THREADS},
    # all objects in memory from malloc, and that in huge pages: a fork copies entries of page tables, one for
    # 2 MB in place of 512, which makes fork and exit of a server with torch four times as quick
    "PYTHONMALLOC": "malloc",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
_PASSED_ON = ("LD_LIBRARY_PATH",)
_PLACES = ("HOME", "TMPDIR", "MPLCONFIGDIR")
_CACHE = "cache"


class BoxError(Exception):
    """The box itself doesn't work: the grader's error, never a learner's."""


class NotConfined(BoxError):
    """Nothing here keeps learners' code in; the message says what is missing, why, and the cure."""


@dataclass(frozen=True)
class Settings:
    """What a box is for: an assignment, how much a child may use; `unsafe` runs it without its base walls.

    With `warm` the server loads what learners' code would load, once for all of them.
    """

    assignment: str
    permitted: tuple[str, ...] = ()
    torch: bool = False
    memory_bytes: int = 1 << 30
    cpu_seconds: int = 60
    unsafe: bool = False
    warm: bool = True


class ForkServer:
    """The server's process, which this one has started and this one ends, and the folder that it works in.

    `standing` names the walls that stand around its children, `missing` gives a reason for each other one.
    """

    def __init__(self, settings: Settings) -> None:
        """Start it and wait until it is ready. Raises BoxError, and NotConfined if its walls can't stand."""
        self.folder = _furnished(Path(tempfile.mkdtemp(prefix="block-course-")))
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        command = [sys.executable, "-P", "-B", "-X", "utf8", "-c", _PROGRAM]
        arguments = [_SOURCES, str(theirs.fileno()), str(self.folder)]
        with theirs:
            self._process = subprocess.Popen(
                command + arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._complaints,
                env=_environment(self.folder),
                cwd=self.folder,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        try:
            reply = self._ask({**asdict(settings), "walls": self._order(settings)}, seconds=START_SECONDS)
        except Gone:
            complaint = self._complaint()
            self.stop(patience=0.0)
            raise BoxError(f"the fork server did not start: {complaint}") from None
        if "refused" in reply:
            self.stop()
            raise NotConfined(str(reply["refused"]))
        self.standing: tuple[str, ...] = tuple(reply["standing"])
        self.missing: dict[str, str] = dict(reply["missing"])

    def spawn(self) -> tuple[int, Channel, Inputs]:
        """Fork a child; its process id, as the server counts, the channel to it, and the memory for inputs.

        Raises Gone.
        """
        if self._process.poll() is not None:  # what it had forked ends too, but may still answer once
            raise Gone("the fork server has ended")
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        channel, inputs = Channel(ours, reading), Inputs()
        try:
            reply = self._ask({"do": "spawn"}, [theirs.fileno(), writing, inputs.descriptor])
            return int(reply["pid"]), channel, inputs
        except (Gone, KeyError, ValueError, TypeError):
            channel.close()
            inputs.close()
            raise Gone("the fork server did not fork") from None
        finally:
            theirs.close()
            os.close(writing)

    def end(self, pid: int, patience: float) -> int | None:
        """Kill a child, its group and its orphans; its wait status if it ended by itself within `patience`.

        Raises Gone if the server can't do it.
        """
        reply = self._ask({"do": "end", "pid": pid, "patience": patience})
        status = reply.get("ended")
        return status if type(status) is int else None

    def stop(self, patience: float = ANSWER_SECONDS) -> None:
        """End the server and all that it has started, by force if it takes longer than `patience`.

        Its folder is removed.
        """
        self._control.close()
        try:
            self._process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            walls.end_descendants(self._process.pid)
            self._process.kill()
            self._process.wait()
        self._complaints.close()
        with contextlib.suppress(OSError):  # a process that escaped may still write there
            remove_tree(self.folder)

    def _order(self, settings: Settings) -> dict[str, Any]:
        order = {
            "folder": str(self.folder),
            "withheld": _withheld(),
            "user": os.getpid(),
            "memory_bytes": settings.memory_bytes,
            "cpu_seconds": settings.cpu_seconds,
            "unsafe": settings.unsafe,
        }
        try:
            program = system_calls.program()
        except system_calls.NoFilter as error:
            return {**order, "program": "", "no_program": str(error)}
        return {**order, "program": program.hex()}

    def _ask(
        self, request: dict[str, Any], descriptors: Sequence[int] = (), seconds: float | None = None
    ) -> dict[str, Any]:
        self._control.settimeout(ANSWER_SECONDS if seconds is None else seconds)
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
            reply = json.loads(self._control.recv(_MOST_CONTROL_BYTES))
        except (OSError, ValueError):  # closed, too late, or no JSON
            raise Gone("the fork server doesn't answer") from None
        if not isinstance(reply, dict):
            raise Gone("the fork server gave no answer")
        return reply

    def _complaint(self) -> str:
        self._complaints.seek(0)
        lines = self._complaints.read().decode("utf-8", "replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "it said nothing")


def _furnished(folder: Path) -> Path:
    """With what the walls are tried at: what must not be read, an empty home, a place for a root."""
    folder.chmod(0o711)
    (folder / walls.CANARY).touch(mode=0o644)
    (folder / walls.PRIVATE).touch(mode=0o600)
    (folder / walls.HOME).mkdir(mode=0o555)
    (folder / walls.ROOT).mkdir()
    (folder / _CACHE).mkdir(mode=0o700)
    return folder


def _environment(folder: Path) -> dict[str, str]:
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # libraries fill it while the server loads them, before any learner's code runs
    cache = str(folder / _CACHE)
    return {**_ENVIRONMENT, **passed_on, **dict.fromkeys(_PLACES, cache)}


def _withheld() -> list[str]:
    """Where the course is, in each copy that could be imported: packages, and the whole of a clone."""
    loaded = {Path(block_course.__file__).parent.parent}
    other = importlib.util.find_spec("transformer_block")
    if other is not None:
        loaded |= {Path(each).parent for each in other.submodule_search_locations or ()}
    found: set[Path] = set()
    for folder in (each.resolve() for each in {*loaded, *map(Path, filter(None, sys.path))}):
        packages = {folder / name for name in _PACKAGES if (folder / name).is_dir()}
        found |= packages
        if packages and (folder.parent / "exercises").is_dir():
            found.add(folder.parent)
    return sorted(map(str, found))
