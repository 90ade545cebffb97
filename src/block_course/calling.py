"""Calling a learner's answer and bringing home what it did, as plain data.

This module runs beside the learner's code, in a notebook or in the grader's box: it knows no reference and
decides nothing. It loads torch only for an exercise in torch.

The calling convention: the arguments of a case go in by position, in the order of the case, so that a
learner may name parameters freely. A parameter that the answer itself declares keyword-only, as in
`def f(x, *, eps)`, gets its argument by name. A case therefore lists a prefix of the parameters, without
gaps.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import random
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

from block_course.exercise import Argument, Array, Case, Observation
from block_course.faults import fault, is_untouched, one_line

Framework = Literal["numpy", "torch"]

NOT_A_FUNCTION = "expected a function; got an object of type"
MOST_OUTPUTS = 16
MOST_BYTES = 32 * 2**20
_PLAIN_DTYPES = frozenset({"f2", "f4", "f8", "i4", "i8", "u1", "b1"})
_REFUSED = "refused: "


def observe(
    answer: object,
    case: Case,
    framework: Framework = "numpy",
    *,
    interruptible: bool = False,
    in_place: bool = False,
) -> Observation:
    """Call an answer on copies of a case's arguments and say what came back.

    `in_place` hands over the arrays themselves, for a caller that looks at them on its own afterwards.

    Whatever the call raises ends up in the observation: as "not attempted" if the answer is an untouched
    stub, `MemoryError` as "memory", all else as "raised". None is an output like others, and refused. With
    `interruptible`, which a notebook sets and the grader does not, a KeyboardInterrupt passes through, so
    that the stop button works.
    """
    if answer is None or answer is Ellipsis:
        return Observation(status="not attempted")
    arrays = {name: v for name, v in case.arguments.items() if isinstance(v, np.ndarray)}
    copies = arrays if in_place else {name: v.copy() for name, v in arrays.items()}
    try:
        with quietly(framework, label=case.name):
            positional, named = _bind(answer, case.arguments, copies, framework)
            returned = answer(*positional, **named)  # type: ignore[operator]
            if (returned is None or returned is Ellipsis) and is_untouched(answer):
                return Observation(status="not attempted")
            outputs, kinds = _unpack(returned)
    except KeyboardInterrupt as interrupt:
        if interruptible:
            raise
        return _raised(interrupt, copies)
    except (
        BaseException
    ) as exception:  # SystemExit and a learner's own kinds too: a call has no other way out
        return _raised(exception, copies)
    return Observation(status="returned", outputs=outputs, kinds=kinds, arguments_after=copies)


def refusal(kind: str) -> str | None:
    """What an output was, in words, if it could not be brought home as a plain array; None if it could."""
    return kind.removeprefix(_REFUSED) if kind.startswith(_REFUSED) else None


@contextlib.contextmanager
def quietly(framework: Framework = "numpy", *, label: str = "") -> Iterator[None]:
    """Drop what is printed, logged or warned inside, and give the same start to every call.

    Floating-point error handling, warning filters, the random states of Python, NumPy and torch, and torch's
    default dtype and gradient mode are set to their defaults inside, the random states from `label`, and put
    back after. What a learner changed before changes nothing here, and what is changed here does not stay.
    Output is dropped at the file descriptors too, where C code and `os.write` would get past `sys.stderr`.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_dropped_output())
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable()  # a handler may hold the notebook's own stderr
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(np.errstate(all="ignore"))
        stack.enter_context(_seeded(zlib.crc32(label.encode())))
        if framework == "torch":
            stack.enter_context(_plain_torch(zlib.crc32(label.encode())))
        yield


@contextlib.contextmanager
def _dropped_output() -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8", errors="replace"))
        for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # none, closed or not a file
                stream.flush()
            with contextlib.suppress(OSError):  # a process may run without this descriptor
                kept = os.dup(descriptor)
                stack.callback(os.close, kept)
                stack.callback(os.dup2, kept, descriptor)
                os.dup2(nowhere.fileno(), descriptor)
        stack.enter_context(contextlib.redirect_stdout(nowhere))
        stack.enter_context(contextlib.redirect_stderr(nowhere))
        yield


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    of_python, of_numpy = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)


@contextlib.contextmanager
def _plain_torch(seed: int) -> Iterator[None]:
    import torch

    default = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(seed)
        torch.set_default_dtype(torch.float32)
        try:
            yield
        finally:
            torch.set_default_dtype(default)


def _bind(
    answer: object, arguments: Mapping[str, Argument], copies: Mapping[str, Array], framework: Framework
) -> tuple[list[object], dict[str, object]]:
    if not callable(answer):
        raise TypeError(f"{NOT_A_FUNCTION} {type(answer).__name__}")
    keyword_only = _keyword_only(answer)
    positional: list[object] = []
    named: dict[str, object] = {}
    for name, value in arguments.items():
        given = _handed_over(copies[name], framework) if name in copies else value
        if name in keyword_only:
            named[name] = given
        else:
            positional.append(given)
    return positional, named


def _keyword_only(answer: Callable[..., Any]) -> frozenset[str]:
    try:
        parameters = inspect.signature(answer).parameters.values()
    except (TypeError, ValueError):  # a ufunc or a builtin has no signature to read
        return frozenset()
    return frozenset(each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY)


def _handed_over(copy: Array, framework: Framework) -> object:
    """A view, so that `x.shape = …` in the answer does not reshape the copy that is looked at afterwards."""
    if framework == "numpy":
        return copy.view()
    import torch

    return torch.from_numpy(copy)


def _unpack(returned: object) -> tuple[tuple[Array, ...], tuple[str, ...]]:
    several = isinstance(returned, tuple | list)
    members = list(returned)[: MOST_OUTPUTS + 1] if several else [returned]  # type: ignore[call-overload]
    if len(members) > MOST_OUTPUTS:
        raise ValueError(f"returned more than {MOST_OUTPUTS} outputs")
    plain = [_plain(each) for each in members]
    return tuple(array for array, _ in plain), tuple(kind for _, kind in plain)


def _plain(value: object) -> tuple[Array, str]:
    """A base-class copy with a plain dtype, and its kind; an empty array and a refusal for anything else."""
    if value is None or value is Ellipsis:
        return _refused(repr(value))
    kind = "numpy.ndarray"
    if _is_tensor(value):
        kind, value = "torch.Tensor", _from_torch(value)
    elif isinstance(value, np.generic):
        kind = f"numpy.{type(value).__name__}"
    elif isinstance(value, bool | int | float):
        kind = type(value).__name__
    elif not isinstance(value, np.ndarray):
        return _refused(_a(type(value).__name__))
    elif type(value) is not np.ndarray:
        kind = one_line(type(value).__name__)
    if getattr(value, "nbytes", 0) > MOST_BYTES:
        return _refused(f"an array of more than {MOST_BYTES >> 20} MB")
    array = np.array(value, copy=True, subok=False)
    if array.dtype.str[1:] not in _PLAIN_DTYPES:
        return _refused(f"an array of dtype {array.dtype}")
    return array.astype(array.dtype.newbyteorder("="), copy=False), kind


def _refused(what: str) -> tuple[Array, str]:
    return np.empty(0), _REFUSED + one_line(what)


def _is_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _from_torch(tensor: Any) -> object:
    import torch

    with torch._C.DisableTorchFunctionSubclass():  # a subclass must not answer in its tensor's place
        plain = tensor.as_subclass(torch.Tensor).detach().cpu()
        if plain.dtype is torch.bfloat16:
            plain = plain.to(torch.float32)
        return plain.resolve_conj().resolve_neg().numpy()


def _raised(exception: BaseException, copies: Mapping[str, Array]) -> Observation:
    status, message, place = fault(exception)
    after = {} if status == "not attempted" else copies
    return Observation(status=status, arguments_after=after, message=message, place=place)


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
