"""Answers to `masks.softmax`."""

import numpy as np

from tests.gallery.answers import Answer
from tests.gallery.masks.wrong_softmax import WRONG

__all__ = ["RIGHT", "TRIVIAL", "WRONG"]


def in_steps(scores, visible):
    hidden = np.where(visible, scores, -np.inf)
    highest = hidden.max(axis=-1, keepdims=True)
    highest = np.where(np.isinf(highest), 0, highest)
    exponentials = np.exp(hidden - highest)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def repaired(scores, visible):
    s = np.where(visible, scores, -np.inf)
    s = s - s.max(-1, keepdims=True)
    e = np.exp(s)
    return np.nan_to_num(e / e.sum(-1, keepdims=True))


def cut_twice(scores, visible):
    lowered = np.where(visible, scores, scores.dtype.type(-1e9))
    e = np.exp(lowered - lowered.max(-1, keepdims=True)) * visible
    return e / np.maximum(e.sum(-1, keepdims=True), np.finfo(e.dtype).tiny)


def loops(scores, visible):
    visible = np.broadcast_to(visible, scores.shape)
    weights = np.zeros_like(scores)
    for where in np.ndindex(scores.shape[:-1]):
        keys = [s for s in range(scores.shape[-1]) if visible[where][s]]
        if not keys:
            continue
        highest = max(scores[where][s] for s in keys)
        total = sum(np.exp(scores[where][s] - highest) for s in keys)
        for s in keys:
            weights[where][s] = np.exp(scores[where][s] - highest) / total
    return weights


def row_by_row(scores, visible):
    visible = np.broadcast_to(visible, scores.shape)
    weights = np.zeros_like(scores)
    for row, seen, out in zip(
        scores.reshape(-1, scores.shape[-1]),
        visible.reshape(-1, scores.shape[-1]),
        weights.reshape(-1, scores.shape[-1]),
        strict=True,
    ):
        if seen.any():
            e = np.exp(row[seen] - row[seen].max())
            out[seen] = e / e.sum()
    return weights


def by_logarithms(scores, visible):
    wide = np.where(visible, scores.astype(np.float64), -np.inf)
    total = np.logaddexp.reduce(wide, axis=-1, keepdims=True)
    return np.exp(wide - np.where(np.isinf(total), 0.0, total)).astype(scores.dtype)


def numpys_where(scores, visible):
    highest = np.max(scores, axis=-1, keepdims=True, where=visible, initial=-np.inf)
    highest[np.isinf(highest)] = 0
    e = np.zeros_like(scores)
    np.exp(scores - highest, out=e, where=np.broadcast_to(visible, scores.shape))
    total = e.sum(-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


def warns(scores, visible):
    np.seterr(all="raise")
    with np.errstate(invalid="ignore", over="ignore", under="ignore", divide="ignore"):
        return repaired(scores, visible)


class Softmax:
    def __call__(self, a, m):
        return in_steps(a, m)


RIGHT: dict[str, Answer] = {
    "in steps": in_steps,
    "nan repaired": repaired,
    "lowered, then cut": cut_twice,
    "loops": loops,
    "row by row": row_by_row,
    "by logarithms": by_logarithms,
    "NumPy's where": numpys_where,
    "strict about errors": warns,
    "an object with __call__": Softmax(),
}

TRIVIAL: dict[str, Answer] = {
    "the scores": lambda scores, visible: scores,
    "zeros": lambda scores, visible: np.zeros_like(scores),
    "the mask": lambda scores, visible: np.broadcast_to(visible, scores.shape).astype(scores.dtype),
    "an even share": lambda scores, visible: np.full_like(scores, 1 / scores.shape[-1]),
    "not a number": lambda scores, visible: np.full_like(scores, np.nan),
    "an even share of what is visible": lambda scores, visible: np.broadcast_to(
        visible / np.maximum(visible.sum(-1, keepdims=True), 1), scores.shape
    ).astype(scores.dtype),
    "noise": lambda scores, visible: np.random.default_rng(0).random(scores.shape).astype(scores.dtype),
}
