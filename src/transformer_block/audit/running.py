"""Run every contract on a block, each on its own, and say what was found."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from transformer_block.audit import (
    caching,
    calling,
    learning,
    likeness,
    masking,
    mixing,
    modes,
    norms,
    precision,
    structure,
)
from transformer_block.audit.diagnosis import faults
from transformer_block.audit.discovery import discovered, subject_of
from transformer_block.audit.facts import Facts, of_config
from transformer_block.audit.isolation import (
    Lost,
    can_fork,
    in_a_thread,
    side_by_side,
)
from transformer_block.audit.layers import known
from transformer_block.audit.report import Report, Row
from transformer_block.audit.subject import Subject
from transformer_block.config import BlockConfig

NAMES: Mapping[Callable[[Subject], Row], str] = {
    calling.shape: "shape",
    calling.in_place: "input kept",
    calling.buffer: "output kept",
    calling.determinism: "determinism",
    modes.modes: "train and eval",
    masking.causal: "causal",
    masking.padding: "padding",
    masking.meaning: "mask meaning",
    masking.masked_row: "fully masked row",
    masking.averages: "average",
    mixing.batch: "batch",
    mixing.permutation: "permutation",
    structure.zeroed: "zeroed branches",
    norms.norms: "norms",
    caching.cached: "cache",
    learning.gradients: "gradients",
    learning.state: "state",
    precision.dtype: "dtype",
    precision.float16: "float16",
    precision.bfloat16: "bfloat16",
    precision.far_from_zero: "far from 0",
}
"""Each contract, in the order in which they are run, and the name of its row."""
AS_GIVEN = {"input kept", "output kept", "state", "zeroed branches"}
"""Contracts of the block as it is, beside that of shape; for the others its parameters
are moved, so that no 0 among them hides a fault."""

_MOST_PROCESSORS = 4  # each work may hold a copy of the block's parameters
Judgment = tuple[Subject, Callable[[Subject], Row], str]
Answers = Callable[[Iterable[Callable[[], Any]]], Iterator[Callable[[], Any]]]


def audit(
    block: Callable[..., Any],
    facts: Facts | None = None,
    *,
    like: BlockConfig | None = None,
    seconds: float = 60.0,
    isolate: bool | None = None,
    progress: Callable[[Row], None] | None = None,
) -> Report:
    """Run every contract on a block, whoever wrote it, and name the faults found.

    The block is called with tokens (B, T, D), of NumPy or of PyTorch, and returns as
    many, alone or first in a tuple. What facts doesn't say is found out. With like, the
    block is also compared with the package's own on the same parameters.

    Each contract runs in a process of its own where that is possible (isolate), so that
    a block that raises, hangs, exits or prints has a row that says so; seconds is how
    long one may take. Several run side by side where there are processors for it.
    progress receives each row as it is there.

    Raises: TypeError for a block that cannot be called; ValueError where nothing tells
    the width of its stream.
    """
    subject = _prepared(block, facts or Facts(), like)
    apart = can_fork() if isolate is None else isolate
    contracts = dict(NAMES)
    if like is not None:
        contracts[likeness.alike(like)] = "like the package"
    rows: list[Row] = []
    for row in _rows(subject, contracts, partial(_answers, apart, seconds)):
        rows.append(row)
        if progress is not None:
            progress(row)
    return Report(tuple(rows), faults(rows))


def _prepared(
    block: Callable[..., Any], told: Facts, like: BlockConfig | None
) -> Subject:
    if like is not None:
        told = told.over(of_config(like))
    subject = subject_of(block, told.over(known(block)))
    if subject.facts.d_model is None:
        raise ValueError(
            "nothing tells the width of the block's stream: say Facts(d_model=…)"
        )
    subject.prepare()
    return subject


def _rows(
    subject: Subject,
    contracts: Mapping[Callable[[Subject], Row], str],
    answers: Answers,
) -> Iterator[Row]:
    """The row of shape first: without an output, no other contract can be asked."""
    (first, its_name), *others = contracts.items()
    shape = next(_judgments(answers, [(subject, first, its_name)]))
    yield shape
    if shape.state != "held":
        for _, name in others:
            why = "without finite outputs on ordinary tokens it cannot be asked"
            yield Row(name, "not applicable", why)
        return
    subject = _with_facts(subject, answers)
    stirred = subject.stirred()
    yield from _judgments(
        answers,
        [(subject if name in AS_GIVEN else stirred, c, name) for c, name in others],
    )


def _judgments(answers: Answers, asked: Sequence[Judgment]) -> Iterator[Row]:
    """A row for each of the contracts, as its answer is there."""
    given = answers(partial(_judged, *each) for each in asked)
    for answer, (_, _, name) in zip(given, asked, strict=True):
        try:
            yield Row(**answer())
        except Lost as ending:
            yield Row(name, "broken", f"the block {ending}", evidence={"ended": True})


def _answers(
    apart: bool, seconds: float, works: Iterable[Callable[[], Any]]
) -> Iterator[Callable[[], Any]]:
    """For each work, in order, what gives its answer or raises Lost."""
    if apart:
        # one more than there are processors: none idles while an earlier row is awaited
        at_once = min(os.cpu_count() or 1, _MOST_PROCESSORS) + 1
        return side_by_side(works, seconds, at_once)
    return (partial(in_a_thread, work, seconds) for work in works)


def _with_facts(subject: Subject, answers: Answers) -> Subject:
    """The subject with what running it shows; without, where that ends badly."""

    def found() -> dict[str, Any]:
        facts = discovered(subject)
        return {
            "causal": facts.causal,
            "placement": facts.placement,
            "mask": facts.mask,
            "mask_means": facts.mask_means,
            "mask_axes": facts.mask_axes,
        }

    try:
        facts = next(answers([found]))()
        return replace(subject, facts=replace(subject.facts, **facts))
    except Lost:
        return subject


def _judged(
    subject: Subject, contract: Callable[[Subject], Row], name: str
) -> dict[str, Any]:
    """A contract's row as plain values; a block that raises breaks the contract."""
    try:
        with np.errstate(all="ignore"):
            row: dict[str, Any] = _plain(asdict(contract(subject)))
            return row
    except Exception as error:  # whatever the block does is a finding
        told = f"{type(error).__name__}: {_words(error)}"
        return asdict(Row(name, "broken", told, evidence={"raised": True}))


def _words(error: Exception) -> str:
    """The first line of its message; what can't be printed stands as its escape."""
    line = f"{error}".partition("\n")[0][:200]
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's, all the way down."""
    if isinstance(value, dict):
        return {f"{name}": _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value
