"""What an answer gave, as plain arrays: the one form in which anything of a learner's is looked at.

This module runs beside the learner's code: it knows no reference and decides nothing. It does not load torch.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from block_course.exercise import Array, Outputs
from block_course.faults import one_line

MOST_OUTPUTS = 16
MOST_BYTES = 32 * 2**20
MOST_LETTERS = 4096
TEXT, NAMES = "str", "names"
_PLAIN_DTYPES = frozenset({"f2", "f4", "f8", "i4", "i8", "u1", "b1"})
_REFUSED = "refused: "

Plain = tuple[Array, str]
"""An array, and what it was."""


def refusal(kind: str) -> str | None:
    """What an output was, in words, if it could not be brought home as a plain array; None if it could."""
    return kind.removeprefix(_REFUSED) if kind.startswith(_REFUSED) else None


def unpack(returned: object, names: Sequence[str] = ()) -> tuple[Outputs, tuple[str, ...]]:
    """The outputs of a call and the kind of each: of a tuple or list its members, of a dict those of `names`.

    Raises ValueError for more than 16.
    """
    if isinstance(returned, Mapping) and names:
        plain = [entry(returned[name]) if name in returned else _refused("missing") for name in names]
    else:
        several = isinstance(returned, tuple | list)
        members = list(returned)[: MOST_OUTPUTS + 1] if several else [returned]  # type: ignore[call-overload]
        if len(members) > MOST_OUTPUTS:
            raise ValueError(f"returned more than {MOST_OUTPUTS} outputs")
        plain = [plain_array(each) for each in members]
    return tuple(array for array, _ in plain), tuple(kind for _, kind in plain)


def entry(value: object) -> Plain:
    """An entry of a dict: what `plain_array` takes, a shape, a word, or a set of words."""
    if isinstance(value, str):
        return _text(value, TEXT)
    if (
        isinstance(value, set | frozenset | tuple | list)
        and (value or isinstance(value, set | frozenset))
        and all(isinstance(each, str) for each in value)
    ):
        return _text("\n".join(sorted(value)), NAMES)
    if isinstance(value, tuple | list) and all(isinstance(each, int | float | np.number) for each in value):
        return plain_array(np.array(value if value else (), dtype=None if value else np.int64))
    return plain_array(value)


def words(array: Array) -> tuple[str, ...]:
    """The words in an output of kind "str" or "names". One of no letters stands for an empty set."""
    return tuple(array.astype(np.uint8).tobytes().decode("utf-8", "replace").split("\n"))


def _text(value: str, kind: str) -> Plain:
    letters = str(value).encode("utf-8", "replace")
    if len(letters) > MOST_LETTERS:
        return _refused(f"a text of more than {MOST_LETTERS} letters")
    return np.frombuffer(letters, np.uint8).copy(), kind


def plain_array(value: object) -> Plain:
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
    elif type(value) in (Fraction, Decimal):
        kind, value = type(value).__name__, float(value)  # type: ignore[arg-type]
    elif not isinstance(value, np.ndarray):
        return _refused(_a(type(value).__name__))
    elif type(value) is not np.ndarray:
        kind = one_line(type(value).__name__)
    if getattr(value, "nbytes", 0) > MOST_BYTES:
        return _refused(f"an array of more than {MOST_BYTES >> 20} MB")
    array = np.array(value, copy=True, subok=False)
    if array.dtype == np.longdouble:
        array = array.astype(np.float64)
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


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
