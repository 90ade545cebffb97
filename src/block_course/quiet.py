"""A call made quietly: nothing printed, nothing changed by what was set before, nothing left changed after.

This module runs beside the learner's code. It loads torch only for an exercise in torch.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import random
import sys
import warnings
import zlib
from collections.abc import Iterator
from typing import Literal, TextIO

import numpy as np

Framework = Literal["numpy", "torch"]
_OUTPUTS = (1, 2)


@contextlib.contextmanager
def quietly(framework: Framework = "numpy", *, label: str = "") -> Iterator[None]:
    """Drop what is printed, logged or warned inside, and give the same start to every call.

    Floating-point error handling, warning filters, the random states of Python, NumPy and torch, and torch's
    default dtype and gradient mode are set to their defaults inside, the random states from `label`, and put
    back after. What a learner changed before changes nothing here, and what is changed here does not stay.
    Output is dropped at the file descriptors too, where C code and `os.write` would get past `sys.stderr`.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_dropped_output(stack.enter_context(_nowhere())))
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable()  # a handler may hold the notebook's own stderr
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(np.errstate())
        stack.enter_context(_kept_states())
        if framework == "torch":
            stack.enter_context(_kept_torch())
        _start_afresh(framework, label)
        yield


@contextlib.contextmanager
def quietly_for_good(framework: Framework = "numpy", *, label: str = "") -> Iterator[None]:
    """The same start for every call and the same silence, in a process that lives for its calls alone.

    Only the output's place is put back, and the place where it is dropped stays open. To put back the rest
    costs twenty times what it takes to set it, and the next call sets it anyway.
    """
    with _dropped_output(_nowhere_for_good()):
        _start_afresh(framework, label)
        yield


def _start_afresh(framework: Framework, label: str) -> None:
    seed = zlib.crc32(label.encode())
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    random.seed(seed)
    np.random.seed(seed)
    if framework == "torch":
        import torch

        # the CPU's own: `torch.manual_seed` asks every other device too, with a traceback for each
        torch.default_generator.manual_seed(seed)
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)


@contextlib.contextmanager
def _dropped_output(nowhere: TextIO) -> Iterator[None]:
    before, kept = (sys.stdout, sys.stderr), []
    for descriptor, stream in zip(_OUTPUTS, before, strict=True):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # none, closed or not a file
            stream.flush()
        with contextlib.suppress(OSError):  # a process may run without this descriptor
            kept.append((os.dup(descriptor), descriptor))
            os.dup2(nowhere.fileno(), descriptor)
    sys.stdout = sys.stderr = nowhere
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for copy, descriptor in kept:
            os.dup2(copy, descriptor)
            os.close(copy)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8", errors="replace")


_kept_open: list[TextIO] = []


def _nowhere_for_good() -> TextIO:
    if not _kept_open or _kept_open[0].closed:  # what a learner's call can do
        _kept_open[:] = [_nowhere()]
        atexit.register(_kept_open[0].close)
    return _kept_open[0]


@contextlib.contextmanager
def _kept_states() -> Iterator[None]:
    of_python, of_numpy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)


@contextlib.contextmanager
def _kept_torch() -> Iterator[None]:
    import torch

    dtype, gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    with torch.random.fork_rng(devices=[]):
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
            torch.set_grad_enabled(gradients)
