"""`norm_placement.differ`: a demonstration that the order of norms makes another function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.block.forward_reference import reference as pre_block
from block_course.checks.block.parameters import CONDITION, Sizes, parameters, sizes, tokens, without
from block_course.checks.entries import entries
from block_course.checks.norm_placement.post_reference import post_block
from block_course.checks.norm_placement.right import differ
from block_course.checks.tables import changed
from block_course.exercise import Array, Case, Exercise, Hints, Misconception

NAMES = ("largest", "token", "feature")


def _gap(x: Array, n_heads: int, **parameters: Array) -> Array:
    return np.asarray(pre_block(x, n_heads, **parameters) - post_block(x, n_heads, **parameters))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Pre-norm is the larger one at the largest gap of half the sequences; one has silent branches."""
    size = sizes(rng)
    found = [_drawn(rng, size, positive) for positive in (False, True, False, True)]
    given = {f"sequence {number}": each for number, each in enumerate(found, start=1)}
    x, drawn = found[0]
    given["silent branches"] = x, without(drawn, "attention.out", "feed_forward.down")
    return [
        Case(name=name, arguments={"x": x, "n_heads": size.H, **drawn}, condition=CONDITION)
        for name, (x, drawn) in given.items()
    ]


def _drawn(rng: np.random.Generator, size: Sizes, positive: bool) -> tuple[Array, dict[str, Array]]:
    """Tokens and parameters for which the largest gap has this sign, by far, and stands off the diagonal."""
    while True:
        x, drawn = tokens(rng, size)[0], parameters(rng, size)
        gap = _gap(x, size.H, **drawn)
        largest, second = np.sort(np.abs(gap), axis=None)[[-1, -2]]
        token, feature = np.unravel_index(np.argmax(np.abs(gap)), gap.shape)
        if (gap[token, feature] > 0) == positive and largest > 1.02 * second and token != feature:
            return x, drawn


def _wrong(name: str, sentence: str, **made: Callable[[Array], object]) -> Misconception:
    """With entries made of the signed gap."""

    def of_the_gap(make: Callable[[Array], object]) -> Callable[[object], object]:
        return lambda given: make(_gap(**vars(given)))

    return changed(name, differ, NAMES, sentence, **{key: of_the_gap(make) for key, make in made.items()})  # type: ignore[arg-type]


def _place(axis: int, choose: Callable[[Array], object]) -> Callable[[Array], object]:
    return lambda gap: int(np.unravel_index(choose(gap), gap.shape)[axis])  # type: ignore[call-overload]


_SIGNED = (
    "Your largest difference is {mine}. A difference may have either sign, and the largest in size is "
    "wanted: take the absolute value first."
)

MISCONCEPTIONS = (
    _wrong(
        "sign forgotten",
        _SIGNED,
        largest=np.max,
        token=_place(0, np.argmax),
        feature=_place(1, np.argmax),
    ),
    _wrong(
        "sign forgotten",
        _SIGNED,
        largest=lambda gap: np.max(-gap),
        token=_place(0, np.argmin),
        feature=_place(1, np.argmin),
    ),
    _wrong("sign forgotten", _SIGNED, largest=np.max),
    _wrong(
        "mean in place of the largest",
        "Your largest difference is {mine}, the mean over all entries. A single entry that is far off is "
        "hidden in it.",
        largest=lambda gap: np.abs(gap).mean(),
    ),
    _wrong(
        "root mean square in place of the largest",
        "Your largest difference is {mine}, the root of the mean square. What is asked for is the largest "
        "entry.",
        largest=lambda gap: np.sqrt(np.square(gap).mean()),
    ),
    _wrong(
        "length in place of the largest",
        "Your largest difference is {mine}, the length of all differences as one vector. What is asked for "
        "is the largest entry.",
        largest=lambda gap: np.sqrt(np.square(gap).sum()),
    ),
    _wrong(
        "a block with itself",
        "Your largest difference is {mine}. You compare a block with itself: `pre_block` on one side, "
        "`post_block` on the other.",
        largest=lambda gap: 0.0,
        token=lambda gap: 0,
        feature=lambda gap: 0,
    ),
    _wrong(
        "token and feature exchanged",
        "You name token {mine}, which is the feature. The first axis of (T, D) counts positions.",
        token=_place(1, lambda gap: np.argmax(np.abs(gap))),
        feature=_place(0, lambda gap: np.argmax(np.abs(gap))),
    ),
    _wrong(
        "place in the flattened array",
        "You name feature {mine}, a place in the flattened array. `np.unravel_index` makes two indices of "
        "it.",
        feature=lambda gap: int(np.argmax(np.abs(gap))),
    ),
)

_PLACE_HINTS: Hints = (
    "`np.argmax` gives one number. Which entry of a (T, D) array does it count to?",
    "It counts row by row: token times D plus feature.",
    "Divide the place by D: the quotient is the token, the remainder is the feature.",
)

EXERCISE = Exercise(
    id="norm_placement.differ",
    answer="differ",
    title="Two functions of the same parameters",
    level="core",
    minutes=8,
    framework="numpy",
    reference=differ,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("largest", "the largest difference", 1.5, of=("largest",)),
        entries("place", "where it stands", 1.5, of=("token", "feature"), hints=_PLACE_HINTS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which two arrays do you subtract, and what do you do with signs?",
        "Both blocks get the same `x` and the same arrays; the absolute value of the difference has shape "
        "(T, D), and its largest entry is wanted.",
        "Take the absolute value of `pre_block(...) - post_block(...)`, its maximum, and the two indices of "
        "its argmax.",
    ),
    withheld=(
        "transformer_block.in_numpy.block",
        "transformer_block.in_numpy.stack",
        "transformer_block.joins",
    ),
)
