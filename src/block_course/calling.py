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
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from block_course.exercise import Array, Calls, Case, Manner, Observation
from block_course.faults import fault, is_untouched
from block_course.plain import unpack
from block_course.quiet import Framework, quietly, quietly_for_good
from block_course.under_test import Ask, Block, Interview
from block_course.withholding import watching

PLAIN = Manner()
NOT_A_FUNCTION = "expected a function; got an object of type"


def observe(
    answer: object,
    case: Case,
    manner: Manner = PLAIN,
    *,
    ask: Ask | None = None,
    interruptible: bool = False,
    for_good: bool = False,
) -> Observation:
    """Use an answer on copies of a case's arguments and say what came back.

    `for_good` is for a process that lives for its calls alone: it hands over the arrays themselves, which the
    caller looks at afterwards, and puts back nothing that was set for the call.

    Whatever the call raises ends up in the observation: as "not attempted" if the answer is an untouched
    stub, `MemoryError` as "memory", all else as "raised". None is an output like others, and refused. With
    `interruptible`, which a notebook sets and the grader does not, a KeyboardInterrupt passes through, so
    that the stop button works. A test asks its block by `ask`, or else the case's subject itself.
    """
    if answer is None or answer is Ellipsis:
        return Observation(status="not attempted")
    arrays = {name: v for name, v in case.arguments.items() if isinstance(v, np.ndarray)}
    copies = arrays if for_good else {name: v.copy() for name, v in arrays.items()}
    try:
        return _used(answer, case, copies, manner, ask, quietly_for_good if for_good else quietly)
    except KeyboardInterrupt as interrupt:
        if interruptible:
            raise
        return _raised(interrupt, copies)
    # SystemExit and a learner's own kinds too: a call has no other way out
    except BaseException as exception:
        return _raised(exception, copies)


def _used(
    answer: object,
    case: Case,
    copies: Mapping[str, Array],
    manner: Manner,
    ask: Ask | None,
    silenced: Callable[..., contextlib.AbstractContextManager[None]],
) -> Observation:
    with silenced(manner.framework, label=case.name), watching(manner.withheld) as withheld:
        called = _CALLERS[manner.calls](answer, case, ask)
        positional, named = _bind(called, case, copies, manner.framework)
        returned = _call(called, positional, named, case.cotangent)
        if (returned is None or returned is Ellipsis) and is_untouched(answer):
            return Observation(status="not attempted")
        outputs, kinds = unpack(returned, manner.names)
    if withheld:
        return Observation(status="forbidden", message=f"calls {' and '.join(withheld)}")
    return Observation(status="returned", outputs=outputs, kinds=kinds, arguments_after=copies)


def _as_function(answer: object, case: Case, ask: Ask | None) -> Callable[..., Any]:
    if not callable(answer):
        raise TypeError(f"{NOT_A_FUNCTION} {type(answer).__name__}")
    return answer


def _as_module(answer: object, case: Case, ask: Ask | None) -> Callable[..., Any]:
    """The module that a class builds, with the case's parameters loaded and its mode set."""
    import torch

    module = _as_function(answer, case, ask)(**case.init)
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"expected a torch.nn.Module; got an object of type {type(module).__name__}")
    floats = [each.dtype for each in case.state.values() if each.dtype.kind == "f"]
    if floats:
        module = module.to(torch.from_numpy(np.empty(0, floats[0])).dtype)
    module.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in case.state.items()})
    module.train(case.train)  # what it returns is the learner's: theirs may forget to return itself
    return module


def _as_test(answer: object, case: Case, ask: Ask | None) -> Callable[..., Any]:
    """A test's verdict on the block: what it returns; False where it asserts, True where it returns None."""
    test = _as_function(answer, case, ask)
    if ask is None:
        if case.subject is None:
            raise ValueError(f"the case {case.name!r} has no subject to test")
        ask = Interview(case.subject).ask

    def judged(*positional: object, **named: object) -> object:
        try:
            verdict = test(Block(ask), *positional, **named)
        except AssertionError:
            return False
        return True if verdict is None and not is_untouched(test) else verdict

    return judged


_CALLERS: Mapping[Calls, Callable[[object, Case, Ask | None], Callable[..., Any]]] = {
    "function": _as_function,
    "module": _as_module,
    "test": _as_test,
}


def _call(
    called: Callable[..., Any], positional: list[object], named: dict[str, object], cotangent: Array | None
) -> object:
    """What the call returned, then the gradients that the cotangent asks for: zero where none arrives."""
    returned = called(*positional, **named)
    if cotangent is None or returned is None:
        return returned
    import torch

    members = list(returned) if isinstance(returned, tuple | list) else [returned]
    first = members[0]
    if not isinstance(first, torch.Tensor) or not first.requires_grad:
        raise ValueError("no gradient arrives: the first output is cut off from the arguments")
    given = (*positional, *named.values())
    leaves = [each for each in given if isinstance(each, torch.Tensor) and each.requires_grad]
    dy = torch.from_numpy(cotangent.copy()).to(first.dtype)
    gradients = torch.autograd.grad(first, leaves, dy, allow_unused=True, materialize_grads=True)
    return (*members, *gradients)


def _bind(
    called: Callable[..., Any], case: Case, copies: Mapping[str, Array], framework: Framework
) -> tuple[list[object], dict[str, object]]:
    keyword_only = _keyword_only(called)
    positional: list[object] = []
    named: dict[str, object] = {}
    differentiable = case.cotangent is not None
    for name, value in case.arguments.items():
        given = _handed_over(copies[name], framework, differentiable) if name in copies else value
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


def _handed_over(copy: Array, framework: Framework, differentiable: bool) -> object:
    """A view, so that `x.shape = …` in the answer does not reshape the copy that is looked at afterwards."""
    if framework == "numpy":
        return copy.view()
    import torch

    tensor = torch.from_numpy(copy)
    return tensor.requires_grad_() if differentiable and tensor.is_floating_point() else tensor


def _raised(exception: BaseException, copies: Mapping[str, Array]) -> Observation:
    status, message, place = fault(exception)
    after = {} if status == "not attempted" else copies
    return Observation(status=status, arguments_after=after, message=message, place=place)
