"""Known wrong masked softmaxes, each with what to tell its author."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_course.checks.masks.rows import marks, softmax_of
from block_course.checks.masks.rows import wrong as wrong_on
from block_course.checks.wording import number, two_numbers, vector
from block_course.exercise import Array, Case, Misconception, Outputs

_LARGE = -1e9
_LITTLE = (1e-6, 1e-8, 1e-9, 1e-10)


def _wrong(
    name: str, answer: Callable[..., Array], sentence: Callable[[Array, Array, Array], str]
) -> Misconception:
    return wrong_on(name, answer, sentence, lambda case: np.asarray(case.arguments["visible"]))


def _after(scores: Array, visible: Array) -> Array:
    return np.asarray(softmax_of(scores) * visible)


def _renormalized(scores: Array, visible: Array) -> Array:
    cut = _after(scores, visible)
    total = cut.sum(-1, keepdims=True)
    return np.asarray(cut / np.where(total > 0.0, total, 1.0))


def _filled(scores: Array, visible: Array, fill: float, axis: int = -1) -> Array:
    # a scalar of the dtype, so that float32 stays float32
    return softmax_of(np.where(visible, scores, scores.dtype.type(fill)), axis)


def _lowered(scores: Array, visible: Array) -> Array:
    return softmax_of(scores + np.where(visible, 0.0, _LARGE).astype(scores.dtype))


def _unguarded(scores: Array, visible: Array) -> Array:
    return _filled(scores, visible, -np.inf)


def _repaired(weights: Array) -> Array:
    return np.nan_to_num(weights, nan=0.0)


def _unnormalized(scores: Array, visible: Array) -> Array:
    return np.where(visible, np.exp(scores), 0.0).astype(scores.dtype)


def _no_maximum(scores: Array, visible: Array) -> Array:
    exponentials = _unnormalized(scores, visible)
    total = exponentials.sum(-1, keepdims=True)
    return np.asarray(exponentials / np.where(total > 0.0, total, 1.0))


def _no_maximum_then_cut(scores: Array, visible: Array) -> Array:
    exponentials = np.exp(scores) * visible
    total = exponentials.sum(-1, keepdims=True)
    return np.asarray(exponentials / np.where(total > 0.0, total, 1.0))


def _one_maximum(scores: Array, visible: Array) -> Array:
    lowered = np.where(visible, scores, -np.inf).astype(scores.dtype)
    exponentials = np.exp(lowered - lowered.max())
    total = exponentials.sum(-1, keepdims=True)
    return np.asarray(exponentials / np.where(total > 0.0, total, 1.0))


def _with_a_little(little: float, over: str) -> Callable[..., Array]:
    def answer(scores: Array, visible: Array) -> Array:
        visible = np.broadcast_to(visible, scores.shape)
        counted = visible | ~visible.any(-1, keepdims=True) if over == "visible" else np.ones_like(visible)
        highest = np.where(counted, scores, -np.inf).max(-1, keepdims=True)
        exponentials = np.where(visible, np.exp(np.minimum(scores - highest, 0.0)), 0.0)
        return np.asarray(exponentials / (exponentials.sum(-1, keepdims=True) + little))

    return answer


def _short_of_one(total: float) -> str:
    return two_numbers(total, 1.0)[0]


def _of_empty_row(sentence: str) -> Callable[[Case, Outputs], str]:
    """{row}: the weights of a query that sees no key."""

    def message(case: Case, outputs: Outputs) -> str:
        visible = np.broadcast_to(np.asarray(case.arguments["visible"]), outputs[0].shape)
        empty = np.argwhere(~visible.any(-1))
        return sentence.format(row=vector(outputs[0][tuple(empty[0])]))

    return message


def _sees_nothing(case: Case) -> bool:
    return bool((~np.asarray(case.arguments["visible"]).any(-1)).any())


MISCONCEPTIONS = (
    _wrong(
        "mask applied after the softmax",
        _after,
        lambda scores, mask, weights: (
            f"The scores {vector(scores)} under the mask {marks(mask)} give weights that sum to "
            f"{number(weights.sum())}: the hidden ones were set to 0 after the division, and they still "
            "counted in the sum below. Visible weights sum to 1. Take them out before the softmax."
        ),
    ),
    _wrong(
        "hidden scores filled with 0",
        lambda scores, visible: _filled(scores, visible, 0.0),
        lambda scores, mask, weights: (
            f"Under the mask {marks(mask)} your hidden keys keep the weight {number(weights[~mask][0])}: a "
            "score of 0 is a score like any other, e⁰ = 1. Hidden scores become −∞."
        ),
    ),
    *(
        _wrong(
            "mask turned over",
            answer,
            lambda scores, mask, weights: (
                f"Under the mask {marks(mask)} your weights are {vector(weights)}: what should be visible is "
                "hidden. True means visible here."
            ),
        )
        for answer in (
            lambda scores, visible: _unguarded(scores, ~visible),
            lambda scores, visible: _repaired(_unguarded(scores, ~visible)),
        )
    ),
    *(
        _wrong(
            "softmax over the queries",
            answer,
            lambda scores, mask, weights: (
                f"The weights of one query are {vector(weights)} in yours and sum to "
                f"{number(weights.sum())}: the softmax runs over the queries, axis −2. Each query shares 1 "
                "among its keys, axis −1."
            ),
        )
        for answer in (
            lambda scores, visible: _filled(scores, visible, -np.inf, axis=-2),
            lambda scores, visible: _repaired(_filled(scores, visible, -np.inf, axis=-2)),
        )
    ),
    _wrong(
        "mask ignored",
        lambda scores, visible: softmax_of(scores),
        lambda scores, mask, weights: (
            f"Under the mask {marks(mask)} your hidden keys have the weight {number(weights[~mask][0])}: the "
            "mask is not used."
        ),
    ),
    _wrong(
        "not divided by the sum",
        _unnormalized,
        lambda scores, mask, weights: (
            f"The weights of one query sum to {number(weights.sum())} in yours: these are the exponentials. "
            "Divide them by their sum over the visible keys."
        ),
    ),
    Misconception(
        name="0/0 where nothing is visible",
        answer=_unguarded,
        tells=_sees_nothing,
        message=_of_empty_row(
            "A query that sees no key gets the weights {row}: every score of the row is −∞, and the softmax "
            "divides 0 by 0. One layer later a NaN is in every row. Here such a query gets zeros."
        ),
    ),
    *(
        Misconception(
            name="a large negative number in place of −∞",
            answer=answer,
            tells=_sees_nothing,
            message=_of_empty_row(
                "A query that sees no key gets the weights {row}: with the same large negative number in "
                "every place of the row, the hidden keys share 1 among themselves. It should get zeros."
            ),
        )
        for answer in (lambda scores, visible: _filled(scores, visible, _LARGE), _lowered)
    ),
    _wrong(
        "cut and divided again after the softmax",
        _renormalized,
        lambda scores, mask, weights: (
            "A hidden score near 1,000 leaves your visible keys the weights "
            f"{vector(weights[mask])}: the largest score was taken over all keys, and beside the hidden one "
            "their exponentials round to 0. Take hidden keys out before you look for the largest."
        ),
    ),
    *(
        _wrong(
            "largest score not subtracted",
            answer,
            lambda scores, mask, weights: (
                f"Scores such as {number(scores.max(), 0)} give the weights {vector(weights)}: their "
                "exponentials pass the largest number of the dtype. Subtract the largest visible score of "
                "each row first."
            ),
        )
        for answer in (_no_maximum, _no_maximum_then_cut)
    ),
    _wrong(
        "one largest score for all queries",
        _one_maximum,
        lambda scores, mask, weights: (
            f"A query with scores such as {number(scores[mask][0], 0)} gets the weights {vector(weights)}: "
            "one number was subtracted from all scores, the largest of all queries, and the exponentials of "
            "this one round to 0. Each query has its own largest score: `axis=-1, keepdims=True`."
        ),
    ),
    *(
        _wrong(
            "something added to the divisor",
            _with_a_little(little, over),
            lambda scores, mask, weights: (
                f"The visible weights of one query sum to {_short_of_one(weights[mask].sum())} in yours: "
                "something small was added to the divisor, and all weights are a little short. A sum that "
                "is above 0 needs no help; treat the query that sees nothing by itself."
            ),
        )
        for little in _LITTLE
        for over in ("visible", "all")
    ),
)
