"""`masks.softmax`: a softmax over the keys that a query sees, and zeros where it sees none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.masks.rows import ATTENTION_OF_THE_PACKAGE, marks, scores_of
from block_course.checks.masks.softmax_misconceptions import MISCONCEPTIONS
from block_course.checks.properties import paired, values
from block_course.checks.wording import entry, number, two_numbers, vector
from block_course.exercise import Array, Case, Exercise, Hints

EXAMPLE, BATCH, BATCH_32, SHARED = (
    "two queries",
    "a batch",
    "a batch in float32",
    "one mask for a whole batch",
)
OTHER_HIDDEN, OTHER_SEEN = "the batch with other hidden scores", "the batch with other visible scores"
EMPTY = "a query that sees nothing"
HUGE, HUGE_HIDDEN = "scores near 1,000", "hidden scores near 1,000"
MIXED = "queries near 1,000 and others near −1,000"


def reference(scores: Array, visible: Array) -> Array:
    """Hidden keys count neither above nor below the fraction bar; 0/0 is 0."""
    lowered = np.where(visible, scores.astype(np.float64), -np.inf)
    with np.errstate(invalid="ignore"):
        exponentials = np.exp(lowered - lowered.max(axis=-1, keepdims=True))
        return np.asarray(np.nan_to_num(exponentials / exponentials.sum(axis=-1, keepdims=True)))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Masks of their own and a shared one; the batch with other scores; then what breaks an exponential."""
    B, T, S = 2, int(rng.integers(3, 5)), int(rng.integers(5, 8))
    scores, visible = scores_of(rng, (B, T, S)), _visible(rng, (B, T, S))
    other = scores_of(rng, (B, T, S))
    near = rng.uniform(990.0, 1010.0, (B, T, S)).astype(np.float32)
    near_both = near - np.float32(2000.0) * (np.arange(T) % 2 == 0)[:, None].astype(np.float32)
    empty = _visible(rng, (B, T, S))
    empty[1, 1] = False
    raised = np.where(visible, scores, near).astype(np.float32)
    return [
        _case(EXAMPLE, np.log(_EXAMPLE_EXPONENTIALS), np.tri(2, 3, 1, dtype=bool)),
        _case(BATCH, scores, visible),
        _case(BATCH_32, scores_of(rng, (B, T, S), np.float32), _visible(rng, (B, T, S))),
        _case(SHARED, scores_of(rng, (B, T, S)), _visible(rng, (T, S))),
        _case(OTHER_HIDDEN, np.where(visible, scores, other), visible),
        _case(OTHER_SEEN, np.where(visible, other, scores), visible),
        _case(EMPTY, scores_of(rng, (B, T, S)), empty),
        _case(HUGE, near, visible, condition=1e3, extreme=True),
        _case(MIXED, near_both, visible, condition=1e3, extreme=True),
        _case(HUGE_HIDDEN, raised, visible, extreme=True),
    ]


_EXAMPLE_EXPONENTIALS = np.array([[3.0, 1.0, 4.0], [1.0, 2.0, 5.0]])


def _visible(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Every query sees two keys or more, and two or more are hidden from it; no two rows need be alike."""
    visible = rng.random(shape) < 0.5
    order = rng.random(shape).argsort(axis=-1)
    np.put_along_axis(visible, order[..., :2], True, axis=-1)
    np.put_along_axis(visible, order[..., 2:4], False, axis=-1)
    return visible


def _case(name: str, scores: Array, visible: Array, *, condition: float = 1.0, extreme: bool = False) -> Case:
    given = {"scores": scores.copy(), "visible": visible.copy()}
    return Case(name=name, arguments=given, condition=condition, extreme=extreme)


def _explain(case: Case, index: tuple[int, ...], got: Array, right: Array) -> str:
    scores = np.asarray(case.arguments["scores"])
    mask = np.broadcast_to(np.asarray(case.arguments["visible"]), scores.shape)
    is_now, should_be = two_numbers(got[index], right[index])
    row = index[:-1]
    return (
        f"the scores {vector(scores[row])} under the mask {marks(mask[row])}: weight {index[-1]} is {is_now} "
        f"and should be {should_be}"
    )


def _explain_hidden(case: Case, index: tuple[int, ...], got: Array, before: Array) -> str:
    was, is_now = two_numbers(before[index], got[index])
    return f"a hidden score was changed, and the weight {entry(index)} went from {was} to {is_now}"


def _zeros_where_nothing_is_seen(got: Array, right: Array) -> Array:
    """The other rows are judged elsewhere."""
    if got.shape != right.shape or got.dtype.kind != "f":
        return got
    empty = ~right.any(axis=-1, keepdims=True)
    return np.where(empty, got, right.astype(got.dtype))


def _explain_empty(case: Case, index: tuple[int, ...], got: Array, right: Array) -> str:
    return (
        f"a query that sees no key gets the weights {vector(got[index[:-1]])}; they should all be "
        f"{number(0.0)}"
    )


_EMPTY_HINTS: Hints = (
    "Call your function with a row of the mask that is False throughout. What is the sum that it divides by?",
    "Where nothing is visible both sums of the softmax are empty. The agreed value of 0/0 is 0: attention "
    "adds nothing. A large negative number in place of −∞ gives the plain mean of what should be hidden.",
    "Make the exponentials of hidden keys 0, and divide by their sum where it is above 0, and by 1 where it "
    "is 0. The maximum of an empty row needs a stand-in too.",
)
_EXTREME_HINTS: Hints = (
    "What is the exponential of 1000, in float32 and in float64?",
    "The same number may be subtracted from all scores of a row: the softmax stays. With the largest "
    "*visible* score of the row subtracted, every visible exponential is at most 1 and one of them is 1.",
    "Take the maximum over the last axis after hidden scores have been set to −∞, and subtract it before the "
    "exponential.",
)

EXERCISE = Exercise(
    id="masks.softmax",
    answer="masked_softmax",
    title="A softmax under a mask",
    level="core",
    minutes=15,
    framework="numpy",
    withheld=ATTENTION_OF_THE_PACKAGE,
    reference=reference,
    cases=cases,
    properties=(
        values(
            "weights",
            "visible keys share 1 as a softmax shares it, hidden ones get 0",
            1.5,
            on=(EXAMPLE, BATCH, BATCH_32),
            explain=_explain,
        ),
        paired(
            "hidden",
            "what is hidden does not count, whatever its score",
            0.75,
            pairs=((BATCH, OTHER_HIDDEN),),
            alive=(BATCH, OTHER_SEEN),
            expect=lambda before, after, y, y_after: y,
            explain=_explain_hidden,
        ),
        values(
            "shared",
            "one mask (T, S) serves a batch (B, T, S)",
            0.25,
            on=(SHARED,),
            explain=_explain,
            requires=("weights",),
        ),
        values(
            "empty",
            "a query that sees no key gets zeros",
            1.25,
            on=(EMPTY,),
            adjust=_zeros_where_nothing_is_seen,
            explain=_explain_empty,
            requires=("hidden",),
            hints=_EMPTY_HINTS,
        ),
        values(
            "extremes",
            "scores near ±1,000, visible or hidden, do no harm in float32",
            0.75,
            on=(HUGE, MIXED, HUGE_HIDDEN),
            explain=_explain,
            requires=("weights",),
            hints=_EXTREME_HINTS,
        ),
        dtype_kept(0.25, of="scores", requires=("weights",)),
        inputs_unchanged(0.25, requires=("weights",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Over which axis do the weights of one query sum to 1, and which of its keys belong to that sum?",
        "The mask stands in the fraction twice: a hidden key has weight 0, and its exponential does not "
        "count in the sum that the others are divided by.",
        "Set hidden scores to −∞; subtract the largest of each row; take exponentials; divide by their sum "
        "over the last axis. Then treat the row whose sum is 0.",
    ),
)
