"""Wrong tables, made from a right one by changing entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace

from block_course.checks.wording import amount, shape
from block_course.exercise import Array, Case, Misconception, Outputs
from block_course.plain import words

Table = Mapping[str, object]
Made = Callable[[SimpleNamespace], object]
"""From the arguments of a case, as attributes, to an entry."""


def changed(
    name: str,
    reference: Callable[..., Table],
    returns: Sequence[str],
    sentence: str,
    *,
    shown: str | None = None,
    tells: Callable[[Case], bool] | None = None,
    **entries: Made,
) -> Misconception:
    """The right table with some entries changed.

    In the sentence {mine} is the learner's entry `shown`, or else the first one changed, and an argument's
    name in braces is the argument.
    """
    said = shown or next(iter(entries))

    def answer(**arguments: object) -> Table:
        given = SimpleNamespace(**arguments)
        return {**reference(**arguments), **{key: made(given) for key, made in entries.items()}}

    def message(case: Case, outputs: Outputs) -> str:
        given = {key: _plainly(value) for key, value in case.arguments.items()}
        return sentence.format(mine=as_said(outputs[list(returns).index(said)]), **given)

    return Misconception(name=name, answer=answer, message=message, tells=tells, shows=said)  # type: ignore[arg-type]


def as_said(entry: Array) -> str:
    """An entry of a table in words: a count, a decimal, a shape; words with commas between them."""
    if entry.dtype.kind == "u":
        return ", ".join(words(entry))
    if entry.ndim == 0 and entry.dtype.kind == "f":
        return amount(entry)
    return _plainly(entry.item()) if entry.ndim == 0 else shape(tuple(entry.reshape(-1)))


def _plainly(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
