"""Answers to `one_token.stage`."""

import math

import numpy as np

from tests.gallery.answers import Answer, Wrong


def shares(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def normed(x, axis=-1, eps=1e-5):
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


def walk(read=lambda x, placed: x, root=math.sqrt, axis=-1, summed=None, norm=normed):
    def answer(x, placed, query, key, value):
        tokens = read(x, placed)
        scores = (tokens @ query.T) @ (tokens @ key.T).T / root(x.shape[-1])
        attended = shares(scores, axis) @ (tokens @ value.T)
        add_1 = summed(x, placed, attended) if summed else placed + attended
        return attended, add_1, norm(add_1)

    return answer


def einsum(x, placed, query, key, value):
    q, k, v = (np.einsum("td,ed->te", x, each) for each in (query, key, value))
    weights = shares(np.einsum("te,se->ts", q, k) * x.dtype.type(x.shape[-1] ** -0.5))
    attended = np.einsum("ts,se->te", weights, v)
    return attended, attended + placed, normed(attended + placed)


def token_by_token(x, placed, query, key, value):
    attended = np.zeros_like(x)
    for t in range(len(x)):
        scores = [float((query @ x[t]) @ (key @ x[s])) / math.sqrt(x.shape[1]) for s in range(len(x))]
        powers = [math.exp(each - max(scores)) for each in scores]
        for s, power in enumerate(powers):
            attended[t] += power / sum(powers) * (value @ x[s])
    sums = placed + attended
    rows = [(row - row.mean()) / math.sqrt(row.var() + 1e-5) for row in sums]
    return attended, sums, np.array(rows, x.dtype)


def scaled_first(x, placed, query, key, value):
    root = x.shape[-1] ** 0.5
    weights = shares(x @ (query.T @ key / root) @ x.T)
    attended = weights @ x @ value.T
    add_1 = placed + attended
    centered = add_1 - add_1.mean(-1)[:, None]
    return attended, add_1, centered * ((centered**2).mean(-1)[:, None] + 1e-5) ** -0.5


def wider(*given):
    return tuple(each.astype(given[0].dtype) for each in walk()(*(one.astype(np.float64) for one in given)))


class Walk:
    def __call__(self, x, placed, query, key, value):
        return einsum(x, placed, query, key, value)


RIGHT: dict[str, Answer] = {
    "stage by stage": walk(),
    "einsum": einsum,
    "token by token": token_by_token,
    "one matrix for queries and keys": scaled_first,
    "float64 inside": wider,
    "an object with __call__": Walk(),
    "a lambda": lambda x, p, q, k, v: walk()(x, p, q, k, v),
}


def no_return(*given):
    walk()(*given)


def in_place(x, placed, query, key, value):
    attended = walk()(x, placed, query, key, value)[0]
    placed += attended
    return attended, placed, normed(placed)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "reads the positions": Wrong(walk(read=lambda x, placed: placed), "attention reads the positions"),
    "no root": Wrong(walk(root=lambda D: 1), "no root in the scores"),
    "over the queries": Wrong(walk(axis=0), "softmax over the queries"),
    "x plus attention": Wrong(walk(summed=lambda x, placed, a: x + a), "position lost at the sum"),
    "no skip": Wrong(walk(summed=lambda x, placed, a: a), "skip forgotten"),
    "over the tokens": Wrong(walk(norm=lambda x: normed(x, 0)), "norm over the tokens"),
    "centered": Wrong(walk(norm=lambda x: x - x.mean(-1, keepdims=True)), "mean subtracted, scale kept"),
    "divided by D": Wrong(walk(root=lambda D: D), None),
    "sample variance": Wrong(
        walk(norm=lambda x: (x - x.mean(-1, keepdims=True)) / x.std(-1, ddof=1, keepdims=True)), None
    ),
    "everything summed": Wrong(walk(summed=lambda x, placed, a: x + placed + a), None),
    "changes its input": Wrong(in_place, None),
    "always float64": Wrong(lambda *given: tuple(each.astype(float) for each in walk()(*given)), None),
    "two stages": Wrong(lambda *given: walk()(*given)[:2], None),
}

TRIVIAL: dict[str, Answer] = {
    "the inputs": lambda x, placed, *rest: (x, placed, placed),
    "zeros": lambda x, *rest: (0 * x, 0 * x, 0 * x),
    "ones": lambda x, *rest: (0 * x + 1,) * 3,
    "noise": lambda x, *rest: tuple(np.random.default_rng(0).normal(size=(3, *x.shape)).astype(x.dtype)),
    "one output": lambda x, *rest: x,
}
