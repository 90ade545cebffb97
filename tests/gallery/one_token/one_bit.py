"""Answers to `one_token.one_bit`."""

import itertools

import numpy as np

from tests.gallery.answers import Answer, Wrong


def normed(x):
    centered = x - x.mean(axis=-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(axis=-1, keepdims=True))


def pairs(n, tolerance=1e-4):
    return np.abs(n[:, None] - n[None]).max(axis=-1) < tolerance


def by_norms(x):
    return pairs(normed(x))


def by_cosine(x):
    n = (x - x.mean(axis=-1, keepdims=True)).astype(np.float64)
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    return n @ n.T > 1 - 1e-7


def by_range(x):
    low, high = x.min(axis=-1, keepdims=True), x.max(axis=-1, keepdims=True)
    return pairs((x - low) / (high - low))


def pair_by_pair(x):
    n = normed(x)
    table = np.zeros((len(x), len(x)), bool)
    for t, s in itertools.product(range(len(x)), repeat=2):
        table[t, s] = np.allclose(n[t], n[s], atol=1e-4)
    return table


def in_numbers(x):
    return by_norms(x).astype(int)


def rounded(x):
    labels = np.unique(np.round(normed(x) + 20, 2), axis=0, return_inverse=True)[1].reshape(-1)
    return labels[:, None] == labels


class Alike:
    def __call__(self, tokens):
        return by_range(tokens)


RIGHT: dict[str, Answer] = {
    "by their norms": by_norms,
    "by the angle": by_cosine,
    "by the range of their features": by_range,
    "pair by pair": pair_by_pair,
    "ones and zeros": in_numbers,
    "an object with __call__": Alike(),
    "a lambda": lambda x: pairs(normed(x), 1e-3),
}


def no_return(x):
    by_norms(x)


def in_place(x):
    x -= x.mean(axis=-1, keepdims=True)
    return by_norms(x)


def flipped(x):
    n = normed(x)
    return pairs(np.abs(n) * np.sign(n * n[:, :1]))


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "tokens": Wrong(lambda x: pairs(x, 1e-9), "tokens compared, not norms"),
    "centered": Wrong(lambda x: pairs(x - x.mean(-1, keepdims=True), 1e-9), "mean alone taken away"),
    "divided": Wrong(lambda x: pairs(x / x.std(-1, keepdims=True), 1e-6), "spread alone taken away"),
    "without a sign": Wrong(flipped, "direction without its sign"),
    "the absolute angle": Wrong(
        lambda x: by_cosine(x) | by_cosine(np.concatenate([x, -x]))[: len(x), len(x) :],
        "direction without its sign",
    ),
    "one bit": Wrong(lambda x: (x[:, 0] > x[:, 1])[:, None] == (x[:, 0] > x[:, 1]), "one bit of every token"),
    "the order": Wrong(lambda x: pairs(x.argsort(-1).astype(float)), "order of the features"),
    "with eps": Wrong(
        lambda x: pairs(
            (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5).astype(x.dtype)
        ),
        "eps in the way",
    ),
    "a plain angle": Wrong(
        lambda x: x @ x.T / np.linalg.norm(x, axis=-1) / np.linalg.norm(x, axis=-1)[:, None] > 1 - 1e-7,
        "spread alone taken away",
    ),
    "a label for each": Wrong(lambda x: by_norms(x).argmax(-1), None),
    "changes x": Wrong(in_place, None),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda x: x,
    "all": lambda x: np.ones((len(x), len(x)), bool),
    "none": lambda x: np.zeros((len(x), len(x)), bool),
    "each to itself": lambda x: np.eye(len(x), dtype=bool),
    "noise": lambda x: np.random.default_rng(0).random((len(x), len(x))) < 0.5,
}

EQUIVALENT = {
    "reference: return np.asarray(np.abs(n[:, None] - n[None]).max(axis=2) < _SAME) → "
    "return np.asarray(np.abs(n[:, None] - n[None]).max(axis=2) <= _SAME) #1": (
        "no two tokens are just so far apart"
    ),
}
