"""`masks.padding`: attention weights that spend nothing on padded keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.masks.padding_misconceptions import MISCONCEPTIONS
from block_course.checks.masks.rows import ATTENTION_OF_THE_PACKAGE, scores_of
from block_course.checks.outputs import informative, on_cases
from block_course.checks.properties import paired, values
from block_course.checks.wording import entry, quantity, two_numbers, vector
from block_course.exercise import Array, Case, Exercise, Failure, Hints, Property, Run

EXAMPLE, BATCH, BATCH_32, FULL = (
    "two sentences",
    "a batch",
    "a batch in float32",
    "a batch without padding",
)
OTHER_PADDING, OTHER_TOKENS = "the batch with other padding", "the batch with other tokens"
HUGE, HIGH = "padding with scores near 1,000", "scores near 1,000"
LOW, MIXED = "scores near −1,000", "queries near −1,000 beside others near 0"


def reference(scores: Array, lengths: Array) -> Array:
    """The softmax of each row over the keys before its item's length."""
    visible = np.arange(scores.shape[-1]) < lengths[:, None, None]
    lowered = np.where(visible, scores.astype(np.float64), -np.inf)
    exponentials = np.exp(lowered - lowered.max(axis=-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Two precisions, nothing to hide; the batch with other scores; then what breaks an exponential.

    Each way to break it breaks another choice of the last four: that tells the mistakes apart.
    """
    B, T, S = 3, int(rng.integers(4, 6)), int(rng.integers(6, 9))
    lengths = rng.permutation(S - 2)[:B] + 1
    scores, other = scores_of(rng, (B, T, S)), scores_of(rng, (B, T, S))
    padded = np.broadcast_to(np.arange(S) >= lengths[:, None, None], scores.shape)
    near = rng.uniform(990.0, 1010.0, (B, T, S))
    some = 1000.0 * (np.arange(T) % 2 == 0)[:, None]
    extremes = {
        HUGE: np.where(padded, near, scores),
        HIGH: scores + 1000.0,
        LOW: scores - 1000.0,
        MIXED: scores - some,
    }
    return [
        _case(EXAMPLE, np.log(_EXAMPLE_EXPONENTIALS), np.array([4, 2])),
        _case(BATCH, scores, lengths),
        _case(BATCH_32, scores_of(rng, (B, T, S), np.float32), rng.permutation(S - 2)[:B] + 2),
        _case(FULL, scores_of(rng, (B, T, S)), np.full(B, S)),
        _case(OTHER_PADDING, np.where(padded, other, scores), lengths),
        _case(OTHER_TOKENS, np.where(padded, scores, other), lengths),
        *(_case(name, each.astype(np.float32), lengths, extreme=True) for name, each in extremes.items()),
    ]


_EXAMPLE_EXPONENTIALS = np.array(
    [
        [[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0]],
        [[1.0, 3.0, 4.0, 2.0], [2.0, 3.0, 4.0, 1.0], [3.0, 1.0, 2.0, 2.0]],
    ]
)


def _case(name: str, scores: Array, lengths: Array, *, extreme: bool = False) -> Case:
    given = {"scores": scores.copy(), "lengths": lengths.astype(np.int64)}
    return Case(name=name, arguments=given, extreme=extreme)


def _no_mass_on_padding(exercise: Exercise, run: Run) -> Failure | None:
    """Looks at the learner's own output: not one bit of weight lies on a padded key."""
    for case, seen in on_cases(run, (EXAMPLE, BATCH, BATCH_32)):
        got, complaint = informative(exercise, case, seen)
        if got is None:
            return Failure(case=case.name, message=complaint)
        lengths = np.asarray(case.arguments["lengths"])
        padded = np.arange(got.shape[-1]) >= lengths[:, None, None]
        mass = np.where(padded, np.abs(got), 0.0).sum(axis=(1, 2))
        if mass.any():
            item = int(np.argmax(mass > 0.0))
            message = (
                f"item {item} has {lengths[item]} tokens of {got.shape[-1]}, and its queries spend "
                f"{quantity(mass[item])} on the rest; it should be 0"
            )
            return Failure(case=case.name, message=message)
    return None


def _explain(case: Case, index: tuple[int, ...], got: Array, right: Array) -> str:
    row = np.asarray(case.arguments["scores"])[index[:-1]]
    length = int(np.asarray(case.arguments["lengths"])[index[0]])
    is_now, should_be = two_numbers(got[index], right[index])
    return (
        f"the scores {vector(row)}, {length} of {len(row)} keys real: weight {index[-1]} is {is_now} and "
        f"should be {should_be}"
    )


def _explain_padding(case: Case, index: tuple[int, ...], got: Array, before: Array) -> str:
    was, is_now = two_numbers(before[index], got[index])
    return f"other scores for the padding, and the weight {entry(index)} went from {was} to {is_now}"


_MASS_HINTS: Hints = (
    "Which keys of item b are padding? Print your mask of one item, as ones and zeros, with `lengths[b]` "
    "beside it.",
    "In item b the keys 0 to lengths[b] − 1 are real. The mask differs from item to item and is the same for "
    "all queries of one: shape (B, 1, S).",
    "Compare `np.arange(S)` with `lengths`, given two axes of size 1 behind its own, and hide what is not "
    "below.",
)
_EXTREME_HINTS: Hints = (
    "If the padding has a score of 1,000, or a whole query has scores of −1,000: which number does your "
    "function subtract before the exponential, and what is left of the padding?",
    "Each query has a largest score of its own, taken over its visible keys. Over all keys, padding can be "
    "so large that the exponentials of the real keys round to 0. And no finite score is below every other.",
    "Set padded scores to −∞ first, then take the maximum of each row.",
)

EXERCISE = Exercise(
    id="masks.padding",
    answer="padded_weights",
    title="No attention for padding",
    level="core",
    minutes=12,
    framework="numpy",
    withheld=ATTENTION_OF_THE_PACKAGE,
    reference=reference,
    cases=cases,
    properties=(
        Property(
            name="mass",
            title="the weight on padded keys is exactly 0",
            points=1.0,
            holds=_no_mass_on_padding,
            hints=_MASS_HINTS,
        ),
        values(
            "weights",
            "the real keys share 1 as a softmax shares it",
            1.25,
            on=(EXAMPLE, BATCH, BATCH_32),
            explain=_explain,
        ),
        paired(
            "padding",
            "what stands in the padding does not matter",
            0.5,
            pairs=((BATCH, OTHER_PADDING),),
            alive=(BATCH, OTHER_TOKENS),
            expect=lambda before, after, y, y_after: y,
            explain=_explain_padding,
        ),
        values(
            "full",
            "without padding it is the plain softmax",
            0.25,
            on=(FULL,),
            explain=_explain,
        ),
        values(
            "extremes",
            "scores near 1,000 and near −1,000 do no harm, in the padding or elsewhere",
            0.5,
            on=(HUGE, HIGH, LOW, MIXED),
            explain=_explain,
            requires=("weights",),
            hints=_EXTREME_HINTS,
        ),
        dtype_kept(0.25, of="scores", requires=("weights",)),
        inputs_unchanged(0.25, requires=("weights",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "`lengths` has one entry for each item. Which axes must a mask made from it have beside scores of "
        "shape (B, T, S)?",
        "Key s of item b is visible if s < lengths[b], for every query. A mask of shape (B, 1, S) says so to "
        "NumPy; one of shape (B, S) would be read as queries by keys.",
        "Compare `np.arange(S)` with `lengths[:, None, None]`, and give scores and mask to your "
        "`masked_softmax`.",
    ),
)
