"""Answers to `cache.mask`."""

import numpy as np

from block_course.diagnosis import NO_RETURN
from tests.gallery.answers import Answer, Wrong


def chunk_mask(T, held, window=None):
    queries, keys = np.arange(held, held + T)[:, None], np.arange(held + T)[None]
    distance = queries - keys
    visible = distance >= 0
    return visible if window is None else visible & (distance < window)


def by_tri(T, held, window=None):
    S = T + held
    mask = np.tri(T, S, held, dtype=bool)
    return mask if window is None else mask & ~np.tri(T, S, held - window, dtype=bool)


def by_loops(T, held, window=None):
    mask = np.zeros((T, held + T), dtype=bool)
    for t in range(T):
        first = 0 if window is None else max(0, held + t - window + 1)
        mask[t, first : held + t + 1] = True
    return mask


def last_rows(T, held, window=None):
    S = T + held
    whole = np.tril(np.ones((S, S), dtype=bool))
    if window is not None:
        whole = np.triu(whole, 1 - window)
    return whole[held:]


def by_lists(T, held, window=None):
    width = held + T if window is None else window
    rows = [[0 <= held + t - s < width for s in range(held + T)] for t in range(T)]
    return np.array(rows)


def by_outer(T, held, window=None):
    mask = np.less_equal.outer(np.arange(held + T), held + np.arange(T)).T
    return (
        mask
        if not window
        else mask
        & np.greater.outer(held + np.arange(T), -1 + 0 * np.arange(held + T))
        & (np.subtract.outer(held + np.arange(T), np.arange(held + T)) < window)
    )


class Mask:
    def __call__(self, T, held, window=None):
        return chunk_mask(T, held, window)


RIGHT: dict[str, Answer] = {
    "distances": chunk_mask,
    "two triangles": by_tri,
    "loops": by_loops,
    "the last rows of a whole": last_rows,
    "lists": by_lists,
    "outer comparisons": by_outer,
    "an object with __call__": Mask(),
    "a lambda": lambda T, held, window=None: chunk_mask(T, held, window),
}


def ruled(rule):
    def answer(T, held, window=None):
        q, k = held + np.arange(T)[:, None], np.arange(held + T)
        return rule(q, k, T, held, T + held if window is None else window)

    return answer


def no_return(T, held, window=None):
    chunk_mask(T, held, window)


WRONG: dict[str, Wrong] = {
    "from the first key": Wrong(
        ruled(lambda q, k, T, held, w: (k <= q - held) & (k > q - held - w)), "aligned to the first key"
    ),
    "turned over": Wrong(lambda *a, **k: ~chunk_mask(*a, **k), "mask turned over"),
    "strictly before": Wrong(
        ruled(lambda q, k, T, held, w: (k < q) & (q - k < w)), "hides the query's own position"
    ),
    "open chunk": Wrong(ruled(lambda q, k, T, held, w: q - k < w), "no mask inside the chunk"),
    "held always": Wrong(
        ruled(lambda q, k, T, held, w: (k <= q) & ((q - k < w) | (k < held))), "held keys always visible"
    ),
    "no window": Wrong(ruled(lambda q, k, T, held, w: k <= q), "window ignored"),
    "wide": Wrong(ruled(lambda q, k, T, held, w: (k <= q) & (q - k <= w)), "window one key too wide"),
    "narrow": Wrong(
        lambda T, held, window=None: chunk_mask(T, held, None if window is None else window - 1),
        "window one key too narrow",
    ),
    "one window": Wrong(
        ruled(lambda q, k, T, held, w: (k <= q) & (k >= held + T - w)), "one window for the whole chunk"
    ),
    "held columns": Wrong(
        lambda T, held, window=None: chunk_mask(T, held, window)[:, :held], "no columns for the new keys"
    ),
    "numbers": Wrong(lambda *a, **k: chunk_mask(*a, **k).astype(float), None),
    "forgets to return": Wrong(no_return, NO_RETURN),
}

TRIVIAL: dict[str, Answer] = {
    "all": lambda T, held, window=None: np.ones((T, held + T), dtype=bool),
    "none": lambda T, held, window=None: np.zeros((T, held + T), dtype=bool),
    "a coin for each": lambda T, held, window=None: np.random.default_rng(0).random((T, held + T)) < 0.5,
    "the sizes": lambda T, held, window=None: np.array([T, held]),
}
