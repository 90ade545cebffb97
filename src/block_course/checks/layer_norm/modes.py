"""`layer_norm.modes`: predict who hears whom under three norms, in training and in evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.layer_norm.modes_reference import moved
from block_course.checks.properties import values
from block_course.exercise import Array, Case, Exercise, Hints, Misconception, Outputs

NORMS = ("layer", "batch", "sequence")


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Each norm in each mode; the token that changes is neither the first of its item nor the last."""
    made = []
    for norm in NORMS:
        for training in (True, False):
            B, T = (int(size) for size in rng.permutation([3, 4, 5, 6])[:2])
            b, t = int(rng.integers(1, B)), int(rng.integers(1, T - 1))
            arguments = {"norm": norm, "training": training, "B": B, "T": T, "b": b, "t": t}
            made.append(Case(name=_name(norm, training), arguments=arguments))
    return made


def _name(norm: str, training: bool) -> str:
    return f"{norm} norm in {'training' if training else 'evaluation'}"


Marked = Callable[[Array, int, int], None]
"""Marks more tokens as moved, or fewer."""


def _wrong(name: str, which: Callable[[str, bool], bool], mark: Marked, sentence: str) -> Misconception:
    """Right but for some norms and modes."""

    def answer(norm: str, training: bool, B: int, T: int, b: int, t: int) -> Array:
        hears = moved(norm, training, B, T, b, t)
        if which(norm, training):
            mark(hears, b, t)
        return hears

    def message(case: Case, outputs: Outputs) -> str:
        said = int(outputs[0].sum())
        B, T = case.arguments["B"], case.arguments["T"]
        return f"Of {B} items with {T} positions you mark {said} for {case.name}. {sentence}"

    return Misconception(name=name, answer=answer, message=message)


def _all(hears: Array, b: int, t: int) -> None:
    hears[:] = True


def _none(hears: Array, b: int, t: int) -> None:
    hears[:] = False


def _alone(hears: Array, b: int, t: int) -> None:
    _none(hears, b, t)
    hears[b, t] = True


def _item(hears: Array, b: int, t: int) -> None:
    _none(hears, b, t)
    hears[b] = True


def _position(hears: Array, b: int, t: int) -> None:
    _none(hears, b, t)
    hears[:, t] = True


def _later(hears: Array, b: int, t: int) -> None:
    hears[b, :t] = False


MISCONCEPTIONS = (
    _wrong(
        "batch norm listens in evaluation too",
        lambda norm, training: norm == "batch" and not training,
        _all,
        "In evaluation batch norm uses averages that it remembered from training: no token of this batch has "
        "a part in them.",
    ),
    _wrong(
        "batch norm within its item",
        lambda norm, training: norm == "batch" and training,
        _item,
        "Batch norm's mean is taken over all items as well as all positions.",
    ),
    _wrong(
        "batch norm position by position",
        lambda norm, training: norm == "batch" and training,
        _position,
        "Batch norm has one mean for each feature, over all items *and* all positions.",
    ),
    _wrong(
        "no token hears another",
        lambda norm, training: True,
        _alone,
        "That holds for layer norm in both modes, and for batch norm in evaluation. Where a mean is shared, "
        "whoever shares it hears of the change.",
    ),
    _wrong(
        "layer norm over the sequence",
        lambda norm, training: norm == "layer",
        _item,
        "Layer norm's mean runs over the features of one token. Other positions have means of their own.",
    ),
    _wrong(
        "layer norm over the batch",
        lambda norm, training: norm == "layer",
        _position,
        "Layer norm's mean runs over the features of one token. Other items have means of their own.",
    ),
    _wrong(
        "the past can't hear",
        lambda norm, training: norm == "sequence",
        _later,
        "A mean over the whole sequence holds later positions too, and no mask keeps them out: earlier "
        "tokens move as well.",
    ),
    _wrong(
        "sequence norm at rest in evaluation",
        lambda norm, training: norm == "sequence" and not training,
        _alone,
        "The statistics over a sequence are those of the input, in either mode; nothing is remembered.",
    ),
    _wrong(
        "nothing moves in evaluation",
        lambda norm, training: not training,
        _none,
        "The token that was changed moves in any mode: its own features are others.",
    ),
)


def _explain(case: Case, index: tuple[int, ...], got: Array, right: Array) -> str:
    given = case.arguments
    changed = f"item {given['b']}, position {given['t']}"
    who = f"item {index[0]}, position {index[1]}"
    return f"{changed} changes; you say that {who} {'stays' if right[index] else 'moves'}"


_BATCH_HINTS: Hints = (
    "Over which axes does batch norm average in training, and where does its mean come from in evaluation?",
    "In training over items and positions, so that all tokens share it. In evaluation from memory.",
    "All True in training; in evaluation only the token that was changed.",
)


def _on(norm: str, *modes: bool) -> tuple[str, ...]:
    return tuple(_name(norm, training) for training in modes)


EXERCISE = Exercise(
    id="layer_norm.modes",
    answer="moved",
    title="Who hears whom",
    level="warm-up",
    minutes=6,
    framework="numpy",
    reference=moved,
    cases=cases,
    properties=(
        values("layer", "layer norm, in both modes", 0.5, on=_on("layer", True, False), explain=_explain),
        values(
            "sequence", "a norm over the sequence", 0.75, on=_on("sequence", True, False), explain=_explain
        ),
        values(
            "batch",
            "batch norm in training",
            0.75,
            on=_on("batch", True),
            explain=_explain,
            hints=_BATCH_HINTS,
        ),
        values(
            "evaluation",
            "batch norm in evaluation",
            1.0,
            on=_on("batch", False),
            explain=_explain,
            requires=("batch",),
            hints=_BATCH_HINTS,
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "With which other tokens does the changed one share a mean?",
        "Layer norm: with none. A norm over the sequence: with its item. Batch norm: with all while it "
        "trains, with none afterwards.",
        "Begin with an array of False, mark the changed token, then its item for the sequence norm, and "
        "everything for batch norm in training.",
    ),
)
