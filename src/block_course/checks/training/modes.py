"""`training.modes`: what training mode, evaluation mode and no_grad change in four kinds of module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from block_course.checks.entries import entries
from block_course.exercise import Case, Exercise, Hints, Misconception, Outputs
from block_course.plain import words

RETURNS = ("alike", "gradients", "others", "remembers")
DROPOUT, NORM, BATCH, BLOCK = "dropout", "layer norm", "batch norm", "block"
Table = dict[str, str]


def reference(part: str, rate: float, training: bool, no_grad: bool) -> Table:
    """In training dropout is random, and batch norm hears others and remembers; no_grad records nothing."""
    drops = training and rate > 0.0 and part in (DROPOUT, BLOCK)
    batched = training and part == BATCH
    return {
        "alike": "no" if drops else "yes",
        "gradients": "no" if no_grad else "yes",
        "others": "yes" if batched else "no",
        "remembers": "yes" if batched else "no",
    }


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Every part in both modes, some of them under no_grad, and dropout with a rate of 0."""
    rate = float(rng.integers(1, 60)) / 100.0
    chosen = [
        (part, rate, training, no_grad)
        for part in (DROPOUT, NORM, BATCH, BLOCK)
        for training, no_grad in ((True, False), (True, True), (False, False))
    ]
    names = ("part", "rate", "training", "no_grad")
    return [
        Case(name=_name(*each), arguments=dict(zip(names, each, strict=True)))
        for each in (*chosen, (BLOCK, rate, False, True), (DROPOUT, 0.0, True, False))
    ]


def _name(part: str, rate: float, training: bool, no_grad: bool) -> str:
    mode = "in training mode" if training else "in evaluation mode"
    at_0 = "" if rate > 0.0 else " with a rate of 0"
    return f"{part}{at_0} {mode}{', under no_grad' if no_grad else ''}"


Given = Mapping[str, object]


def _wrong(name: str, change: Callable[[Given], Table], sentence: str) -> Misconception:
    """The right table with the entries that `change` gives for the arguments."""

    def answer(**given: object) -> Table:
        return reference(**given) | change(given)  # type: ignore[arg-type]

    def message(case: Case, outputs: Outputs) -> str:
        right = reference(**case.arguments)  # type: ignore[arg-type]
        said = {entry: words(word)[0] for entry, word in zip(RETURNS, outputs, strict=True)}
        entry = next(each for each in RETURNS if said[each] != right[each])
        return f"For “{case.name}” you say “{said[entry]}” to {entry}. {sentence}"

    return Misconception(name=name, answer=answer, message=message)  # type: ignore[arg-type]


MISCONCEPTIONS = (
    _wrong(
        "eval turns gradients off",
        lambda given: {} if given["training"] else {"gradients": "no"},
        "`eval()` changes what modules compute, and nothing about gradients. `torch.no_grad()` does that.",
    ),
    _wrong(
        "no_grad turns dropout off",
        lambda given: {"alike": "yes"} if given["no_grad"] else {},
        "`torch.no_grad()` records no gradients, and leaves the mode as it is: dropout goes on.",
    ),
    _wrong(
        "no_grad keeps batch norm from remembering",
        lambda given: {"remembers": "no"} if given["no_grad"] else {},
        "Batch norm's running mean and variance are no gradients: in training mode each call moves them, "
        "under `torch.no_grad()` too.",
    ),
    _wrong(
        "layer norm with modes",
        lambda given: (
            {"others": "yes", "remembers": "yes"} if given["part"] == NORM and given["training"] else {}
        ),
        "Layer norm looks at one token's features, in both modes, and keeps nothing.",
    ),
    _wrong(
        "dropout in evaluation",
        lambda given: {"alike": "no"} if given["part"] in (DROPOUT, BLOCK) and given["rate"] else {},
        "In evaluation mode dropout leaves nothing out.",
    ),
    _wrong(
        "dropout without a rate",
        lambda given: {"alike": "no"} if given["part"] in (DROPOUT, BLOCK) and given["training"] else {},
        "A rate of 0 drops nothing: the calls are alike in either mode.",
    ),
    _wrong(
        "batch norm that hears others in evaluation",
        lambda given: {"others": "yes"} if given["part"] == BATCH else {},
        "In evaluation batch norm uses the mean and variance that it remembers, not those of the batch.",
    ),
    _wrong(
        "a block like one that drops nothing",
        lambda given: {"alike": "yes"} if given["part"] == BLOCK else {},
        "A block with dropout on its branches is random in training, as dropout is.",
    ),
)

_GRADIENT_HINTS: Hints = (
    "Which of the two, `eval()` and `torch.no_grad()`, is about gradients?",
    "`eval()` sets a flag that modules read; autograd doesn't look at it.",
    "Gradients are recorded in both modes, and not under `torch.no_grad()`.",
)
_OTHERS_HINTS: Hints = (
    "Which of the four takes a mean over the items of a batch?",
    "Batch norm, in training mode; in evaluation it uses what it has remembered.",
    "Say yes for batch norm in training mode and for nothing else.",
)

EXERCISE = Exercise(
    id="training.modes",
    answer="modes",
    title="Two modes",
    level="core",
    minutes=8,
    framework="torch",
    reference=reference,  # type: ignore[arg-type]
    cases=cases,
    returns=RETURNS,
    properties=(
        entries("alike", "whether two calls are alike", 1.25, of=("alike",)),
        entries(
            "gradients", "whether gradients are recorded", 1.25, of=("gradients",), hints=_GRADIENT_HINTS
        ),
        entries("others", "whether other items are heard", 0.75, of=("others",), hints=_OTHERS_HINTS),
        entries("remembers", "whether a call leaves a trace", 0.75, of=("remembers",), hints=_OTHERS_HINTS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which of the four parts draws random numbers, and when?",
        "Dropout does, in training mode, if its rate is above 0; a block that holds it does as well.",
        "Say no to alike for dropout and the block in training mode with a rate above 0.",
    ),
)
