"""The box: a fork server that runs learners' code, each submission in a process of its own.

It is a fresh interpreter with a clean environment. It holds no reference, no check and no secret, and what it
sends is judged on the other side and never trusted. `box.py` starts it and talks to it.
"""

from __future__ import annotations

import codecs
import contextlib
import ctypes
import fcntl
import gc
import importlib.util
import json
import os
import random
import signal
import socket
import sys
import time
import zlib
from typing import Any

import numpy as np

from block_course.grading import stand_in, walls
from block_course.grading.answering import answer
from block_course.grading.inputs import BYTES
from block_course.grading.wire import Frame, Gone, decode, encode, reader, write

CHANNEL = 3
"""The file descriptor on which a child talks to the grader."""

_MOST_CONTROL_BYTES = 1 << 16
_MOST_DESCRIPTORS = 1 << 20
_PAUSE_SECONDS = 0.001
_NEEDED = (os.__file__, codecs.__file__, np.__file__)


def serve(control: socket.socket) -> None:
    """Get ready, then fork a child for each request, until the grader closes the control socket."""
    settings = json.loads(control.recv(_MOST_CONTROL_BYTES))
    spaces = walls.enter()
    walls.adopt_orphans()
    walls.hide_memory()
    _get_ready(settings)
    try:
        plan = walls.prepare(walls.Order.read(settings["walls"]), spaces, _NEEDED)
    except walls.Refused as error:
        control.send(json.dumps({"refused": str(error)}).encode())
        return
    control.send(json.dumps({"standing": plan.shown, "missing": plan.missing}).encode())
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, _MOST_CONTROL_BYTES, 3)
        if not message:
            walls.end_descendants(os.getpid())
            return
        request = json.loads(message)
        if request["do"] == "spawn":
            reply: dict[str, int | None] = {"pid": _spawn(control, descriptors, plan, settings)}
        else:
            reply = {"ended": _end(request["pid"], request["patience"])}
        control.send(json.dumps(reply).encode())


def _get_ready(settings: dict[str, Any]) -> None:
    """Load what every child would load, so that a fork has it for nothing."""
    stand_in.furnish(settings["assignment"], settings["permitted"], torch=settings["torch"])
    if settings["warm"]:
        _warm(torch=settings["torch"])
    _same_start_for_all(settings["assignment"], torch=settings["torch"])
    gc.collect()
    gc.freeze()


def _warm(*, torch: bool) -> None:
    np.random.default_rng(0).standard_normal(2).astype(np.float32)
    np.linalg.norm(np.eye(2) @ np.eye(2))
    if torch:
        _warm_torch()
    _warm_figures()


def _warm_torch() -> None:
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    layer = torch.nn.Linear(3, 2)
    layer(torch.ones(1, 3)).sum().backward()
    torch.optim.AdamW(layer.parameters()).step()  # the first step loads what wants to write files


def _warm_figures() -> None:
    """Matplotlib looks for fonts and writes down what it finds; a child can't write."""
    if importlib.util.find_spec("matplotlib") is not None:
        importlib.import_module("matplotlib.pyplot")


def _spawn(control: socket.socket, descriptors: list[int], plan: walls.Plan, job: dict[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        try:
            control.close()
            memory = _shared(descriptors[2])
            _settle(descriptors[0], descriptors[1], plan.rules)
            _live(plan, job, memory)
        finally:
            os._exit(1)  # whatever happened: a child never returns into the server's loop
    for descriptor in descriptors:
        os.close(descriptor)
    return child


def _end(child: int, patience: float) -> int | None:
    """Kill a child and all it has left behind; its wait status if it ended by itself within `patience`."""
    status = _wait_status(child, patience)
    if status is None:
        with contextlib.suppress(ProcessLookupError):  # it has no session of its own yet
            os.killpg(child, signal.SIGKILL)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with contextlib.suppress(ChildProcessError):  # the common end: nothing is left
        while True:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                walls.end_descendants(os.getpid())
    return status


def _wait_status(child: int, patience: float) -> int | None:
    # a process closes its end of the channel a moment before it can be waited for
    until = time.monotonic() + patience
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            return status
        if time.monotonic() >= until:
            return None
        time.sleep(_PAUSE_SECONDS)


def _shared(descriptor: int) -> Array:
    """The memory in which the grader lays the arguments of calls."""
    address = walls.map_shared(descriptor, BYTES)
    return np.ctypeslib.as_array((ctypes.c_uint8 * BYTES).from_address(address))


def _settle(channel: int, output: int, keep: int | None) -> None:
    """Arrange the file descriptors: nothing to read, output to the pipe, the channel, and but one other."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    # first above the places to be filled, so that none is overwritten before it is copied
    high = [fcntl.fcntl(each, fcntl.F_DUPFD, CHANNEL + 1) for each in (nothing, output, output, channel)]
    for place, descriptor in enumerate(high):
        os.dup2(descriptor, place, inheritable=place != CHANNEL)
    if keep is not None:
        os.closerange(CHANNEL + 1, keep)
    os.closerange(CHANNEL + 1 if keep is None else keep + 1, _MOST_DESCRIPTORS)


def _live(plan: walls.Plan, job: dict[str, Any], memory: Array) -> None:
    """The life of a child: put up the walls, say so, then run what the grader asks for until it is killed."""
    try:
        standing = walls.put_up(plan)
    except OSError as error:
        write(CHANNEL, encode(Frame({"refused": str(error)})))
        return
    os.environ.update(HOME=plan.home, TMPDIR=plan.home)
    _same_start_of_python(job["assignment"])
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    namespace = vars(stand_in.main_module())
    write(CHANNEL, encode(Frame({"walls": list(standing)})))
    read = reader(CHANNEL)
    with contextlib.suppress(Gone):
        while True:
            write(CHANNEL, answer(decode(read), namespace, CHANNEL, memory))


def _same_start_for_all(label: str, *, torch: bool) -> None:
    """Random states from a public label, so that every attempt starts alike and none from the secret."""
    seed = zlib.crc32(label.encode())
    np.random.seed(seed)
    if torch:
        sys.modules["torch"].manual_seed(seed)


def _same_start_of_python(label: str) -> None:
    """The same for Python's own, which a fork would leave to chance: it takes a new state in each child."""
    random.seed(zlib.crc32(label.encode()))
