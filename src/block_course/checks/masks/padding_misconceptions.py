"""Known wrong ways to hide padding, each with what to tell its author."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_course.checks.masks.rows import marks, softmax_of
from block_course.checks.masks.rows import wrong as wrong_on
from block_course.checks.wording import number, shape, vector
from block_course.exercise import Array, Case, Misconception, Outputs


def _visible(scores: Array, lengths: Array) -> Array:
    return np.arange(scores.shape[-1]) < lengths[:, None, None]


def _of(case: Case) -> Array:
    return _visible(*(np.asarray(case.arguments[name]) for name in ("scores", "lengths")))


def _wrong(
    name: str, answer: Callable[..., Array], sentence: Callable[[Array, Array, Array], str]
) -> Misconception:
    return wrong_on(name, answer, sentence, _of)


def _under(scores: Array, visible: Array, fill: float = -np.inf) -> Array:
    return softmax_of(np.where(visible, scores, scores.dtype.type(fill)))


def _repaired(weights: Array) -> Array:
    return np.nan_to_num(weights, nan=0.0)


def _renormalized(scores: Array, lengths: Array) -> Array:
    cut = softmax_of(scores) * _visible(scores, lengths)
    return np.asarray(cut / cut.sum(-1, keepdims=True))


def _one_length(scores: Array, lengths: Array) -> Array:
    return _under(scores, np.arange(scores.shape[-1]) < lengths.max())


def _without_the_middle(scores: Array, lengths: Array) -> Array:
    return _under(scores, np.arange(scores.shape[-1]) < lengths[:, None])


def _queries_too(fill: float) -> Callable[..., Array]:
    def answer(scores: Array, lengths: Array) -> Array:
        weights = _under(scores, _visible(scores, lengths))
        weights[_padded_queries(scores, lengths)] = fill
        return weights

    return answer


def _padded_queries(scores: Array, lengths: Array) -> Array:
    return np.asarray(np.arange(scores.shape[1]) >= lengths[:, None])


def _has_padded_queries(case: Case) -> bool:
    return bool(_padded_queries_of(case).any())


def _padded_queries_of(case: Case) -> Array:
    return _padded_queries(*(np.asarray(case.arguments[name]) for name in ("scores", "lengths")))


def _of_padded_query(case: Case, outputs: Outputs) -> str:
    item, query = np.argwhere(_padded_queries_of(case))[0]
    length = np.asarray(case.arguments["lengths"])[item]
    return (
        f"Item {item} has {length} tokens, and its query {query}, which is padding, gets the weights "
        f"{vector(outputs[0][item, query])} in yours. Hidden are the padded *keys*: a padded query shares 1 "
        "among the real keys like any other, and nobody reads what it gathers."
    )


def _unscaled(scores: Array, lengths: Array) -> Array:
    exponentials = np.where(_visible(scores, lengths), np.exp(scores), 0.0).astype(scores.dtype)
    return np.asarray(exponentials / exponentials.sum(-1, keepdims=True))


def _one_maximum(scores: Array, lengths: Array) -> Array:
    lowered = np.where(_visible(scores, lengths), scores, -np.inf).astype(scores.dtype)
    exponentials = np.exp(lowered - lowered.max())
    return np.asarray(exponentials / exponentials.sum(-1, keepdims=True))


def _cannot_line_up(case: Case, outputs: Outputs) -> str:
    B, T, S = np.asarray(case.arguments["scores"]).shape
    return (
        f"A mask of shape {shape((B, S))} meets scores of shape {shape((B, T, S))}: NumPy lines axes up from "
        f"the end and takes the {B} items for {T} queries. With as many items as queries it would not even "
        "complain. Give the mask an axis of size 1 between the two: (B, 1, S)."
    )


MISCONCEPTIONS = (
    _wrong(
        "mask applied after the softmax",
        lambda scores, lengths: softmax_of(scores) * _visible(scores, lengths),
        lambda scores, mask, weights: (
            f"The scores {vector(scores)} under the mask {marks(mask)} give weights that sum to "
            f"{number(weights.sum())}. The padding got its 0 after the division, and had counted in the sum "
            "below. The real keys share 1: hide the padding before the softmax."
        ),
    ),
    _wrong(
        "padding filled with 0",
        lambda scores, lengths: _under(scores, _visible(scores, lengths), 0.0),
        lambda scores, mask, weights: (
            f"Under the mask {marks(mask)} a padded key keeps the weight {number(weights[~mask][0])}: a "
            "score of 0 is a score like any other, e⁰ = 1. Hidden scores become −∞."
        ),
    ),
    *(
        _wrong(
            "mask turned over",
            answer,
            lambda scores, mask, weights: (
                f"Visible are the keys {marks(mask)}, and your weights are {vector(weights)}: the padding is "
                "seen and the tokens are hidden. Key s is real if s < length."
            ),
        )
        for answer in (
            lambda scores, lengths: _under(scores, ~_visible(scores, lengths)),
            lambda scores, lengths: _repaired(_under(scores, ~_visible(scores, lengths))),
        )
    ),
    _wrong(
        "one key of padding too many",
        lambda scores, lengths: _under(scores, _visible(scores, lengths + 1)),
        lambda scores, mask, weights: (
            f"Visible are the keys {marks(mask)}, and yours gives weight {number(weights[mask.sum()])} to "
            f"key {mask.sum()}, which is padding. With {mask.sum()} tokens the last one is key "
            f"{mask.sum() - 1}: s < length, not ≤."
        ),
    ),
    _wrong(
        "one length for all items",
        _one_length,
        lambda scores, mask, weights: (
            f"Visible are the keys {marks(mask)}, and yours spends {number(weights[~mask].sum())} on the "
            "rest in this item: its mask follows the longest one. Each item has its own length."
        ),
    ),
    _wrong(
        "padding not hidden",
        lambda scores, lengths: softmax_of(scores),
        lambda scores, mask, weights: (
            f"Visible are the keys {marks(mask)}, and yours spends {number(weights[~mask].sum())} on the "
            "rest: `lengths` is not used."
        ),
    ),
    Misconception(
        name="mask without its middle axis",
        answer=_without_the_middle,
        message=_cannot_line_up,
        tells=lambda case: True,
    ),
    _wrong(
        "cut and divided again after the softmax",
        _renormalized,
        lambda scores, mask, weights: (
            f"Padding with a score near 1,000 leaves your tokens the weights {vector(weights[mask])}: the "
            "largest score was taken over all keys, and beside the padding the exponentials of the tokens "
            "round to 0. Hide the padding before you look for the largest."
        ),
    ),
    *(
        Misconception(
            name="padded queries left out",
            answer=_queries_too(fill),
            message=_of_padded_query,
            tells=_has_padded_queries,
        )
        for fill in (0.0, np.nan)
    ),
    _wrong(
        "padding not low enough",
        lambda scores, lengths: _under(scores, _visible(scores, lengths), -1000.0),
        lambda scores, mask, weights: (
            f"A query whose scores are all near −1,000 spends {number(weights[~mask].sum())} on the padding "
            "in yours: the score that the padding got is no lower than its own. −∞ is below every score."
        ),
    ),
    _wrong(
        "largest score not subtracted",
        _unscaled,
        lambda scores, mask, weights: (
            f"Scores such as {number(scores[mask][0], 0)} give the weights {vector(weights)}: their "
            "exponentials pass the largest number of the dtype, or round to 0. Subtract the largest visible "
            "score of each query first."
        ),
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
)
