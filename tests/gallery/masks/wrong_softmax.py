"""Wrong answers to `masks.softmax`."""

import numpy as np

from tests.gallery.answers import Wrong


def softmax(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def right(scores, visible):
    with np.errstate(all="ignore"):
        return np.nan_to_num(softmax(np.where(visible, scores, -np.inf)))


def filled(fill, axis=-1):
    return lambda scores, visible: softmax(np.where(visible, scores, scores.dtype.type(fill)), axis)


def no_maximum(scores, visible):
    e = np.exp(np.where(visible, scores, -np.inf))
    return (
        np.nan_to_num(e / e.sum(-1, keepdims=True)) if not np.isinf(e).any() else e / e.sum(-1, keepdims=True)
    )


def no_maximum_times_mask(scores, visible):
    e = np.exp(scores) * visible
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def renormalized(scores, visible):
    weights = softmax(scores) * visible
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def added(scores, visible):
    return softmax(scores + np.where(visible, 0, -1e9).astype(scores.dtype))


def lowered_by_the_hidden(scores, visible):
    return softmax(scores - 1e9 * (1 - visible.astype(scores.dtype)))


def in_place(scores, visible):
    scores[~np.broadcast_to(visible, scores.shape)] = -np.inf
    return right(scores, visible)


def no_return(scores, visible):
    right(scores, visible)


def queries(scores, visible):
    return np.nan_to_num(filled(-np.inf, axis=-2)(scores, visible))


def first_mask_for_all(scores, visible):
    return right(scores, visible[:1] if visible.ndim == 3 else visible)


def one_maximum(scores, visible):
    s = np.where(visible, scores, -np.inf)
    with np.errstate(all="ignore"):
        e = np.exp(s - s.max())
        return np.nan_to_num(e / e.sum(-1, keepdims=True))


def with_epsilon(scores, visible, epsilon=1e-9):
    e = np.exp(scores - scores.max(-1, keepdims=True)) * visible
    return e / (e.sum(-1, keepdims=True) + epsilon)


def epsilon_after_hiding(scores, visible):
    s = np.where(visible, scores, -1e30)
    e = np.exp(s - s.max(-1, keepdims=True)) * visible
    return e / (e.sum(-1, keepdims=True) + 1e-8)


def largest_of_all_keys(scores, visible):
    e = np.exp(scores - scores.max(-1, keepdims=True)) * visible
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "multiplies after": Wrong(lambda a, m: softmax(a) * m, "mask applied after the softmax"),
    "fills with 0": Wrong(filled(0), "hidden scores filled with 0"),
    "multiplies the scores": Wrong(lambda a, m: softmax(a * m), "hidden scores filled with 0"),
    "turned over": Wrong(lambda a, m: right(a, ~m), "mask turned over"),
    "turned over, nan kept": Wrong(lambda a, m: filled(-np.inf)(a, ~m), "mask turned over"),
    "axis -2": Wrong(queries, "softmax over the queries"),
    "axis -2, nan kept": Wrong(filled(-np.inf, axis=-2), "softmax over the queries"),
    "mask ignored": Wrong(lambda a, m: softmax(a), "mask ignored"),
    "exponentials alone": Wrong(lambda a, m: np.exp(a) * m, "not divided by the sum"),
    "nan kept": Wrong(filled(-np.inf), "0/0 where nothing is visible"),
    "a billion": Wrong(filled(-1e9), "a large negative number in place of −∞"),
    "a billion added": Wrong(added, "a large negative number in place of −∞"),
    "a billion taken away": Wrong(lowered_by_the_hidden, "a large negative number in place of −∞"),
    "the smallest float": Wrong(
        lambda a, m: softmax(np.where(m, a, np.finfo(a.dtype).min)), "a large negative number in place of −∞"
    ),
    "cut and shared again": Wrong(renormalized, "cut and divided again after the softmax"),
    "no maximum": Wrong(no_maximum_times_mask, "largest score not subtracted"),
    "no maximum, hidden at -inf": Wrong(no_maximum, "largest score not subtracted"),
    "largest of all keys": Wrong(largest_of_all_keys, "cut and divided again after the softmax"),
    "one maximum": Wrong(one_maximum, "one largest score for all queries"),
    "an epsilon below": Wrong(with_epsilon, "something added to the divisor"),
    "an epsilon after hiding": Wrong(epsilon_after_hiding, "something added to the divisor"),
    "always float64": Wrong(lambda a, m: right(a.astype(float), m), None),
    "changes the scores": Wrong(in_place, None),
    "minus ten": Wrong(filled(-10), None),
    "the first mask for all": Wrong(first_mask_for_all, None),
    "over all keys of all queries": Wrong(lambda a, m: softmax(np.where(m, a, -1e30), (-2, -1)), None),
    "three axes alone": Wrong(lambda a, m: right(a[:, :, :], m[:, :, :]), None),
    "rounded": Wrong(lambda a, m: right(a, m).round(3), None),
}
