"""Answers to `masks.causal`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def compared(T, S=None):
    S = T if S is None else S
    return np.arange(S) <= np.arange(S - T, S)[:, None]


def triangle(T, S=None):
    S = S or T
    return np.tri(T, S, S - T, dtype=bool)


def lower(T, S=None):
    S = T if S is None else S
    return np.tril(np.ones((T, S)), k=S - T).astype(bool)


def loops(T, S=None):
    if S is None:
        S = T
    mask = np.zeros((T, S), dtype=bool)
    for t in range(T):
        for s in range(S):
            if s <= t + S - T:
                mask[t, s] = True
    return mask


def rows_sliced(T, S=None):
    S = T if S is None else S
    mask = np.full((T, S), False)
    for t in range(T):
        mask[t, : t + 1 + S - T] = True
    return mask


def last_rows_of_a_square(T, S=None):
    S = T if S is None else S
    return np.tri(S, dtype=bool)[S - T :]


def from_lists(T, S=None):
    S = T if S is None else S
    return np.array([[s - t <= S - T for s in range(S)] for t in range(T)])


class Mask:
    def __call__(self, n_queries, n_keys=None):
        return rows_sliced(n_queries, n_keys)


RIGHT: dict[str, Answer] = {
    "compares positions": compared,
    "np.tri": triangle,
    "np.tril of ones": lower,
    "loops": loops,
    "rows sliced": rows_sliced,
    "the last rows of a square": last_rows_of_a_square,
    "a list of lists": from_lists,
    "the upper triangle turned over": lambda T, S=None: (
        ~np.triu(np.ones((T, S or T), bool), (S or T) - T + 1)
    ),
    "an object with __call__": Mask(),
}


def no_return(T, S=None):
    np.tri(T, S or T, (S or T) - T, dtype=bool)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "hidden marked": Wrong(
        lambda T, S=None: np.triu(np.ones((T, S or T), bool), (S or T) - T + 1), "mask turned over"
    ),
    "no offset": Wrong(lambda T, S=None: np.tril(np.ones((T, S or T), bool)), "aligned to the first key"),
    "T - S": Wrong(lambda T, S=None: np.tri(T, S or T, T - (S or T), bool), "offset with the wrong sign"),
    "less than": Wrong(
        lambda T, S=None: np.arange(S or T) < np.arange(T)[:, None] + (S or T) - T,
        "hides the query's own position",
    ),
    "k one too large": Wrong(
        lambda T, S=None: np.tri(T, S or T, (S or T) - T + 1, bool), "shifted: the next position is visible"
    ),
    "upper triangle": Wrong(
        lambda T, S=None: np.triu(np.ones((T, S or T), bool), (S or T) - T), "queries and keys exchanged"
    ),
    "zero and minus infinity": Wrong(
        lambda T, S=None: np.where(triangle(T, S), 0.0, -np.inf), "a mask to add in place of one to read"
    ),
    "a square": Wrong(lambda T, S=None: np.tri(T, dtype=bool), "S ignored"),
    "ones and zeros": Wrong(lambda T, S=None: triangle(T, S).astype(int), None),
    "floats": Wrong(lambda T, S=None: np.tri(T, S or T, (S or T) - T), None),
    "an axis too many": Wrong(lambda T, S=None: triangle(T, S)[None], None),
    "keys by queries": Wrong(lambda T, S=None: triangle(T, S).T, None),
    "only without S": Wrong(lambda T: triangle(T), None),
    "a window of three": Wrong(
        lambda T, S=None: triangle(T, S) & ~np.tri(T, S or T, (S or T) - T - 3, bool), None
    ),
    "a list": Wrong(lambda T, S=None: triangle(T, S).tolist(), None),
}

TRIVIAL: dict[str, Answer] = {
    "all visible": lambda T, S=None: np.ones((T, S or T), bool),
    "all hidden": lambda T, S=None: np.zeros((T, S or T), bool),
    "the diagonal": lambda T, S=None: np.eye(T, S or T, dtype=bool),
    "noise": lambda T, S=None: np.random.default_rng(0).random((T, S or T)) < 0.5,
    "the example": lambda T, S=None: np.tri(4, dtype=bool),
    "a number": lambda T, S=None: T,
}
