"""`shapes.wiring`: which boxes each box of a block is fed by, pre-norm and post-norm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.selection import on
from block_course.checks.shapes.right import wires
from block_course.exercise import Case, Exercise, Hints, Misconception, Outputs

NAMES = ("norm_1", "attention", "add_1", "norm_2", "feed_forward", "add_2")
_FIRST = NAMES[:-1]


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Both placements, each with a source of its own: what stands before a block has any name."""
    first, second = (f"block_{number}" for number in rng.choice(np.arange(1, 96), 2, replace=False))
    return [
        Case(name=f"{placement}-norm, fed by {source}", arguments={"placement": placement, "source": source})
        for placement, source in (("pre", first), ("post", second))
    ]


def _placed(placement: str) -> Callable[[Case], bool]:
    return lambda case: case.arguments["placement"] == placement


def _wrong(
    name: str,
    sentence: str,
    *,
    pre: Callable[[str], Mapping[str, set[str]]] = lambda source: {},
    post: Callable[[str], Mapping[str, set[str]]] = lambda source: {},
) -> Misconception:
    """The right wires with some changed, by placement; {placement} and {source} may stand in the sentence."""

    def answer(placement: str, source: str) -> dict[str, set[str]]:
        made = pre(source) if placement == "pre" else post(source)
        return {**wires(placement, source), **made}

    def message(case: Case, outputs: Outputs) -> str:
        return sentence.format(**case.arguments)

    return Misconception(name=name, answer=answer, message=message)  # type: ignore[arg-type]


_LOST = (
    "In the {placement}-norm block you feed `add_2` from {source}, where the block begins. Then what "
    "attention wrote is lost from the stream. The second add begins where the first half ended."
)

MISCONCEPTIONS = (
    _wrong(
        "second skip from where the block begins",
        _LOST,
        pre=lambda source: {"add_2": {source, "feed_forward"}},
        post=lambda source: {"add_2": {source, "feed_forward"}},
    ),
    _wrong(
        "second skip from where the block begins",
        _LOST,
        pre=lambda source: {"add_2": {source, "feed_forward"}},
    ),
    _wrong(
        "post-norm skip around the norm",
        "In the post-norm block you feed `add_2` from `add_1`, past the norm. There the norm stands on the "
        "stream: its output is what the feed-forward part reads, and what the update is added to.",
        post=lambda source: {"add_2": {"add_1", "feed_forward"}},
    ),
    _wrong(
        "post-norm wired as pre-norm",
        "You wire both blocks alike, with a norm before each branch. In a post-norm block attention reads "
        "{source} as it comes, and each norm stands behind its add.",
        post=lambda source: wires("pre", source),
    ),
    _wrong(
        "pre-norm wired as post-norm",
        "You wire both blocks alike, with a norm behind each add. In a pre-norm block each norm stands "
        "before its branch, and nothing stands between the adds.",
        pre=lambda source: wires("post", source),
    ),
    _wrong(
        "skip from behind the norm",
        "In your pre-norm block an add takes what the branch has read, which is normalized, in place of the "
        "stream. The stream goes past the norm: `add_1` is fed by {source} and attention.",
        pre=lambda source: {"add_1": {"norm_1", "attention"}, "add_2": {"norm_2", "feed_forward"}},
    ),
    _wrong(
        "no skips",
        "Each of your adds has one input. An add takes two: the stream and the update of a branch.",
        pre=lambda source: {"add_1": {"attention"}, "add_2": {"feed_forward"}},
        post=lambda source: {"add_1": {"attention"}, "add_2": {"feed_forward"}},
    ),
    _wrong(
        "update normalized in place of the sum",
        "In your post-norm block a norm reads the update, before the add. It stands behind the add and reads "
        "the sum.",
        post=lambda source: {
            "norm_1": {"attention"},
            "add_1": {source, "norm_1"},
            "feed_forward": {"add_1"},
            "norm_2": {"feed_forward"},
            "add_2": {"add_1", "norm_2"},
        },
    ),
)

_ADD_HINTS: Hints = (
    "The second add has two inputs. One comes from the feed-forward part; where does the other begin?",
    "The two adds lie on the stream, one after the other: what the first half handed on is what the second "
    "half adds to.",
    "Pre-norm: the first add and the feed-forward part. Post-norm: the first norm, which stands behind the "
    "first add, and the feed-forward part.",
)

EXERCISE = Exercise(
    id="shapes.wiring",
    answer="wiring",
    title="The wires",
    level="core",
    minutes=8,
    framework="numpy",
    reference=wires,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        on(_placed("pre"), entries("pre", "pre-norm, up to the second branch", 1.0, of=_FIRST)),
        on(
            _placed("pre"),
            entries("pre_add", "pre-norm, the second add", 0.5, of=("add_2",), hints=_ADD_HINTS),
        ),
        on(_placed("post"), entries("post", "post-norm, without the second add", 1.0, of=_FIRST)),
        on(
            _placed("post"),
            entries("post_add", "post-norm, the second add", 0.5, of=("add_2",), hints=_ADD_HINTS),
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Draw the six boxes in the order in which they are computed. What does each of them read?",
        "Pre-norm: norm, branch, add, twice. Post-norm: branch, add, norm, twice. A branch or a norm has one "
        "input, an add has two.",
        "Follow the equations of the statement from left to right, and write for each box what stands in its "
        "brackets, or on the two sides of its plus sign.",
    ),
)
