"""Answers to `training.dropout`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def stretched(x, keep, rate, training):
    return x * keep / (1 - rate) if training else x


def in_one_factor(x, keep, rate, training):
    if not training:
        return x.copy()
    return x * (keep / (1 - rate)).astype(x.dtype)


def by_where(x, keep, rate, training):
    return np.where(keep, x / (1 - rate), np.zeros_like(x)) if training else x * 1


def entry_by_entry(x, keep, rate, training):
    y = x.copy()
    if training:
        for place in np.ndindex(x.shape):
            y[place] = x[place] / (1 - rate) if keep[place] else 0
    return y


def by_index(x, keep, rate, training):
    y = np.array(x)
    if training:
        y[keep] /= 1 - rate
        y[~keep] = 0
    return y


def wider(x, keep, rate, training):
    return stretched(x.astype(np.float64), keep, rate, training).astype(x.dtype)


class Dropout:
    def __call__(self, x, keep, rate, training):
        return in_one_factor(x, keep, rate, training)


RIGHT: dict[str, Answer] = {
    "kept and stretched": stretched,
    "in one factor": in_one_factor,
    "by where": by_where,
    "entry by entry": entry_by_entry,
    "by index": by_index,
    "float64 inside": wider,
    "an object with __call__": Dropout(),
    "a lambda": lambda x, keep, p, training: x * keep / (1 - p) if training else x,
}


def no_return(x, keep, rate, training):
    stretched(x, keep, rate, training)


def in_place(x, keep, rate, training):
    if training:
        x *= keep
        x /= 1 - rate
    return x


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "not stretched": Wrong(lambda x, k, p, t: x * k if t else x, "kept and not stretched"),
    "by the rate": Wrong(lambda x, k, p, t: x * k / p if t else x, "divided by the rate"),
    "turned over": Wrong(lambda x, k, p, t: x * ~k / (1 - p) if t else x, "mask turned over"),
    "by this draw": Wrong(
        lambda x, k, p, t: x * k / k.mean() if t else x, "divided by the share that was kept"
    ),
    "always": Wrong(lambda x, k, p, t: x * k / (1 - p), "dropout in evaluation"),
    "scaled twice": Wrong(lambda x, k, p, t: x * k / (1 - p) if t else x * (1 - p), "scaled in evaluation"),
    "the other place": Wrong(
        lambda x, k, p, t: x * k if t else x * (1 - p), "scaled in evaluation, not in training"
    ),
    "modes exchanged": Wrong(lambda x, k, p, t: x if t else x * k / (1 - p), None),
    "a mask of its own": Wrong(
        lambda x, k, p, t: x * (np.random.default_rng(0).random(x.shape) > p) / (1 - p) if t else x, None
    ),
    "always float64": Wrong(lambda *given: stretched(*given).astype(float), None),
    "in place": Wrong(in_place, None),
    "the mean kept": Wrong(lambda x, k, p, t: np.where(k, x, x.mean()) if t else x, None),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda x, *rest: 0 * x,
    "ones": lambda x, *rest: 0 * x + 1,
    "the mask": lambda x, keep, *rest: keep,
    "half": lambda x, *rest: x / 2,
    "noise": lambda x, *rest: np.random.default_rng(0).normal(size=x.shape).astype(x.dtype),
}
