"""Answers to `backward.scaled_dot_product`."""

import math

import numpy as np

from tests.gallery.answers import Answer, Wrong
from tests.gallery.backward import softmax as through


def shares(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def swapped(x):
    return np.swapaxes(x, -1, -2)


def walk(softmax=shares, back=through.by_formula, there=math.sqrt, then=math.sqrt):
    def answer(dy, q, k, v):
        w = softmax(q @ swapped(k) / there(q.shape[-1]))
        ds = back(dy @ swapped(v), w) / then(q.shape[-1])
        return ds @ k, swapped(ds) @ q, swapped(w) @ dy

    return answer


def scaled_queries(dy, q, k, v):
    root = math.sqrt(q.shape[-1])
    w = shares(q / root @ swapped(k))
    ds = through.shared_first(dy @ swapped(v), w)
    return ds @ (k / root), swapped(ds) @ (q / root), swapped(w) @ dy


def einsum(dy, q, k, v):
    root = q.dtype.type(np.sqrt(q.shape[-1]))
    w = shares(np.einsum("...tk,...sk->...ts", q, k) / root)
    ds = through.by_formula(np.einsum("...tv,...sv->...ts", dy, v), w) / root
    dq = np.einsum("...ts,...sk->...tk", ds, k)
    return dq, np.einsum("...ts,...tk->...sk", ds, q), np.einsum("...ts,...tv->...sv", w, dy)


def head_by_head(dy, q, k, v):
    if q.ndim == 2:
        return walk()(dy, q, k, v)
    parts = [walk()(*each) for each in zip(dy, q, k, v, strict=True)]
    return tuple(np.stack(each) for each in zip(*parts, strict=True))


def query_by_query(dy, q, k, v):
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    root = math.sqrt(q.shape[-1])
    for place in np.ndindex(q.shape[:-1]):
        head = place[:-1]
        w = shares(k[head] @ q[place] / root)
        ds = through.by_formula(v[head] @ dy[place], w) / root
        dq[place] = ds @ k[head]
        dk[head] += np.outer(ds, q[place])
        dv[head] += np.outer(w, dy[place])
    return dq, dk, dv


def wider(dy, q, k, v):
    wide = (each.astype(np.float64) for each in (dy, q, k, v))
    return tuple(each.astype(q.dtype) for each in walk()(*wide))


class Backward:
    def __call__(self, dy, q, k, v):
        return walk(back=through.by_jacobian)(dy, q, k, v)


RIGHT: dict[str, Answer] = {
    "step by step": walk(),
    "queries scaled first": scaled_queries,
    "einsum": einsum,
    "head by head": head_by_head,
    "query by query": query_by_query,
    "float64 inside": wider,
    "an object with the whole derivative": Backward(),
    "a lambda": lambda dy, q, k, v: walk()(dy, q, k, v),
}


def one(K):
    return 1


def no_return(dy, q, k, v):
    walk()(dy, q, k, v)


def dv_untransposed(dy, q, k, v):
    dq, dk, _ = walk()(dy, q, k, v)
    return dq, dk, shares(q @ swapped(k) / math.sqrt(q.shape[-1])) @ dy


def exchanged(dy, q, k, v):
    dq, dk, dv = walk()(dy, q, k, v)
    return dk, dq, dv


def overflowing(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def values_first(dy, q, k, v):
    return walk()(dy, q, k, v)[::-1]


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "no root back": Wrong(walk(then=one), "√K forgotten on the way back"),
    "no root": Wrong(walk(there=one, then=one), "no √K at all"),
    "no softmax back": Wrong(walk(back=lambda dw, w: dw), "softmax passed over"),
    "the diagonal": Wrong(walk(back=lambda dw, w: dw * w * (1 - w)), "softmax entry by entry"),
    "no mean": Wrong(walk(back=lambda dw, w: w * dw), "softmax without its mean"),
    "w for wᵀ": Wrong(dv_untransposed, "weights not transposed"),
    "exchanged": Wrong(exchanged, "queries and keys exchanged"),
    "overflow": Wrong(walk(softmax=overflowing), "largest score not subtracted"),
    "overflow, other order": Wrong(
        walk(softmax=overflowing, back=through.shared_first), "largest score not subtracted"
    ),
    "values first": Wrong(values_first, None),
    "divided by K": Wrong(walk(then=lambda K: K), None),
    "the softmax over queries": Wrong(walk(softmax=lambda s: swapped(shares(swapped(s)))), None),
    "always float64": Wrong(lambda *given: tuple(each.astype(float) for each in walk()(*given)), None),
    "zeros for q": Wrong(lambda dy, q, k, v: (0 * q, *walk()(dy, q, k, v)[1:]), None),
}

TRIVIAL: dict[str, Answer] = {
    "the inputs": lambda dy, q, k, v: (q, k, v),
    "zeros": lambda dy, q, k, v: (0 * q, 0 * k, 0 * v),
    "ones": lambda dy, q, k, v: tuple(np.ones_like(each) for each in (q, k, v)),
    "noise": lambda dy, q, k, v: tuple(
        np.random.default_rng(0).normal(size=each.shape).astype(q.dtype) for each in (q, k, v)
    ),
    "dy alone": lambda dy, q, k, v: dy,
}
