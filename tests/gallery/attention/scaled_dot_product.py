"""Answers to `attention.scaled_dot_product`."""

import math

import numpy as np

from tests.gallery.answers import Answer, Wrong


def softmax(scores, axis=-1):
    shares = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return shares / shares.sum(axis=axis, keepdims=True)


def attend(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]).astype(q.dtype))
    return weights @ v, weights


def einsum(q, k, v):
    scores = np.einsum("...tk,...sk->...ts", q, k) * q.shape[-1] ** -0.5
    weights = softmax(scores)
    return np.einsum("...ts,...sv->...tv", weights, v), weights


def query_by_query(q, k, v):
    if q.ndim > 2:
        pairs = [query_by_query(*each) for each in zip(q, k, v, strict=True)]
        return tuple(np.stack(each) for each in zip(*pairs, strict=True))
    weights, gathered = np.zeros((len(q), len(k)), q.dtype), np.zeros((len(q), v.shape[1]), q.dtype)
    for t, query in enumerate(q):
        scores = np.array([query @ key for key in k]) / math.sqrt(len(query))
        shares = np.exp(scores - max(scores))
        weights[t] = shares / sum(shares)
        for share, value in zip(weights[t], v, strict=True):
            gathered[t] += share * value
    return gathered, weights


def by_logarithms(q, k, v):
    scores = (q / q.shape[-1] ** 0.5) @ k.swapaxes(-1, -2)
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - top - np.log(np.exp(scores - top).sum(-1, keepdims=True)))
    return [weights @ v, weights]


def in_float64(q, k, v):
    return tuple(each.astype(q.dtype) for each in attend(*(e.astype(np.float64) for e in (q, k, v))))


def divided_last(q, k, v):
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    total = shares.sum(-1)[..., None]
    return (shares @ v) / total, shares / total


class Attend:
    def __call__(self, queries, keys, values):
        return attend(queries, keys, values)


RIGHT: dict[str, Answer] = {
    "a helper for the softmax": attend,
    "einsum": einsum,
    "query by query": query_by_query,
    "by logarithms, in a list": by_logarithms,
    "float64 inside": in_float64,
    "divided last": divided_last,
    "an object with __call__": Attend(),
    "a lambda": lambda q, k, v: attend(q, k, v),
}


def changed(scale=lambda q, v: q.shape[-1] ** 0.5, shares=softmax):
    def answer(q, k, v):
        weights = shares(q @ k.swapaxes(-1, -2) / scale(q, v))
        return weights @ v, weights

    return answer


def overflowing(scores):
    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)


def whole(scores):
    shares = np.exp(scores - scores.max((-2, -1), keepdims=True))
    return shares / shares.sum((-2, -1), keepdims=True)


def late(q, k, v):
    weights = softmax(q @ k.swapaxes(-1, -2)) / q.shape[-1] ** 0.5
    return weights @ v, weights


def no_return(q, k, v):
    attend(q, k, v)


def in_place(q, k, v):
    q /= q.shape[-1] ** 0.5
    weights = softmax(q @ k.swapaxes(-1, -2))
    return weights @ v, weights


def one_maximum(scores):
    e = np.exp(scores - scores.max())
    return e / e.sum(-1, keepdims=True)


WRONG = {
    "no root": Wrong(changed(lambda q, v: 1), "no √K"),
    "K": Wrong(changed(lambda q, v: q.shape[-1]), "divided by K"),
    "width of v": Wrong(changed(lambda q, v: v.shape[-1] ** 0.5), "root of the value width"),
    "over queries": Wrong(changed(shares=lambda s: softmax(s, -2)), "softmax over the queries"),
    "over all": Wrong(changed(shares=whole), "softmax over the whole pattern"),
    "scores": Wrong(changed(shares=lambda s: s), "no softmax"),
    "exponentials": Wrong(changed(shares=np.exp), "exponentials not divided by their sum"),
    "late": Wrong(late, "√K after the softmax"),
    "weights first": Wrong(lambda *given: attend(*given)[::-1], "weights first"),
    "overflow": Wrong(changed(shares=overflowing), "largest score not subtracted"),
    "one maximum for all": Wrong(changed(shares=one_maximum), "largest score not subtracted"),
    "no return": Wrong(no_return, "no return"),
    "in place": Wrong(in_place, None),
    "no swap": Wrong(lambda q, k, v: (softmax(q @ k) @ v, softmax(q @ k)), None),
    "gathered alone": Wrong(lambda *given: attend(*given)[0], None),
    "always float64": Wrong(lambda *given: tuple(e.astype(np.float64) for e in attend(*given)), None),
}


def equal_shares(q, k, v):
    weights = np.full((*q.shape[:-1], k.shape[-2]), 1 / k.shape[-2], q.dtype)
    return weights @ v, weights


TRIVIAL: dict[str, Answer] = {
    "equal shares": equal_shares,
    "as given": lambda q, k, v: (q, k),
    "zeros": lambda q, k, v: tuple(np.zeros_like(each) for each in attend(q, k, v)),
    "ones": lambda q, k, v: tuple(np.ones_like(each) for each in attend(q, k, v)),
    "noise": lambda q, k, v: tuple(
        np.random.default_rng(0).random(e.shape).astype(q.dtype) for e in attend(q, k, v)
    ),
}

EQUIVALENT = {
    'reference: scores = np.einsum("...tk,...sk->...ts", q, k) / np.sqrt(q.shape[-1]) → '
    'scores = np.einsum("...TK,...SK->...TS", q, k) / np.sqrt(q.shape[-1]) #1': "letters are names",
    'reference: return np.einsum("...ts,...sv->...tv", weights, v), weights → '
    'return np.einsum("...TS,...SV->...TV", weights, v), weights #1': "letters are names",
}
