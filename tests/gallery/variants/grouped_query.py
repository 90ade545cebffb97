"""Answers to `variants.grouped_query`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def softmax(scores, axis=-1):
    shares = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return shares / shares.sum(axis=axis, keepdims=True)


def attend(q, k, v):
    return softmax(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5) @ v


def repeated(q, k, v):
    copies = q.shape[-3] // k.shape[-3]
    return attend(q, k.repeat(copies, axis=-3), v.repeat(copies, axis=-3))


def by_index(q, k, v):
    H, G = q.shape[-3], k.shape[-3]
    served = np.arange(H) // (H // G)
    return attend(q, k[..., served, :, :], v[..., served, :, :])


def head_by_head(q, k, v):
    H, G = q.shape[-3], k.shape[-3]
    heads = []
    for h in range(H):
        g = h * G // H
        heads.append(attend(q[..., h, :, :], k[..., g, :, :], v[..., g, :, :]))
    return np.stack(heads, axis=-3)


def grouped(q, k, v):
    *batch, H, T, K = q.shape
    G = k.shape[-3]
    groups = q.reshape(*batch, G, H // G * T, K)
    return attend(groups, k, v).reshape(q.shape)


def einsum(q, k, v):
    *batch, H, T, K = q.shape
    G = k.shape[-3]
    queries = q.reshape(*batch, G, H // G, T, K)
    weights = softmax(np.einsum("...gntk,...gsk->...gnts", queries, k) * K**-0.5)
    return np.einsum("...gnts,...gsk->...gntk", weights, v).reshape(q.shape)


def broadcast(q, k, v):
    *batch, _, T, K = q.shape
    queries = q.reshape(*batch, k.shape[-3], -1, T, K)
    return attend(queries, k[..., None, :, :], v[..., None, :, :]).reshape(q.shape)


def in_float64(q, k, v):
    return repeated(*(each.astype(np.float64) for each in (q, k, v))).astype(q.dtype)


class GroupedQuery:
    def __call__(self, q, k, v):
        return by_index(q, k, v)


RIGHT: dict[str, Answer] = {
    "repeated": repeated,
    "by index": by_index,
    "head by head": head_by_head,
    "groups as longer texts": grouped,
    "einsum": einsum,
    "broadcast": broadcast,
    "float64 inside": in_float64,
    "a lambda": lambda q, k, v: repeated(q, k, v),
    "an object with __call__": GroupedQuery(),
}


def no_return(q, k, v):
    repeated(q, k, v)


def reading(of_keys, of_values):
    """Heads of keys and of values chosen by H and G."""

    def answer(q, k, v):
        H, G = q.shape[-3], k.shape[-3]
        return attend(q, k[..., of_keys(H, G), :, :], v[..., of_values(H, G), :, :])

    return answer


def in_a_row(H, G):
    return np.arange(H) * G // H


def in_turn(H, G):
    return np.arange(H) % G


def from_the_end(H, G):
    return in_a_row(H, G)[::-1]


def the_first(H, G):
    return np.zeros(H, int)


def of_means(q, k, v):
    return attend(q, *(each.mean(axis=-3, keepdims=True) for each in (k, v)))


def mean_query(q, k, v):
    *batch, _, T, K = q.shape
    return attend(q.reshape(*batch, k.shape[-3], -1, T, K).mean(axis=-3), k, v)


def changed(scale=lambda H, K: K**-0.5, weigh=softmax):
    def answer(q, k, v):
        H, K, n = q.shape[-3], q.shape[-1], q.shape[-3] // k.shape[-3]
        keys, values = (np.repeat(each, n, axis=-3) for each in (k, v))
        return weigh(q @ keys.swapaxes(-1, -2) * scale(H, K)) @ values

    return answer


def fragile(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def in_place(q, k, v):
    y = repeated(q, k, v)
    q *= 2
    return y


WRONG: dict[str, Wrong] = {
    "no return": Wrong(no_return, "no return"),
    "tiled": Wrong(reading(in_turn, in_turn), "heads tiled"),
    "np.tile": Wrong(
        lambda q, k, v: attend(q, *(np.tile(x, (q.shape[-3] // k.shape[-3], 1, 1)) for x in (k, v))),
        "heads tiled",
    ),
    "tiled in batches alone": Wrong(
        lambda q, k, v: attend(q, *(np.tile(x, (1, q.shape[1] // k.shape[1], 1, 1)) for x in (k, v))),
        "heads tiled",
    ),
    "values tiled": Wrong(reading(in_a_row, in_turn), "values tiled"),
    "from the end": Wrong(reading(from_the_end, from_the_end), "groups in the opposite order"),
    "the first": Wrong(reading(the_first, the_first), "first head for all"),
    "means": Wrong(of_means, "mean of the heads"),
    "mean queries": Wrong(mean_query, "one query for a group"),
    "no root": Wrong(changed(scale=lambda H, K: 1.0), "no √K"),
    "root of D": Wrong(changed(scale=lambda H, K: (H * K) ** -0.5), "root of D"),
    "over queries": Wrong(changed(weigh=lambda scores: softmax(scores, -2)), "softmax over queries"),
    "raw": Wrong(changed(weigh=lambda scores: scores), "no softmax"),
    "over heads": Wrong(changed(weigh=lambda scores: softmax(scores, -3)), None),
    "overflows": Wrong(changed(weigh=fragile), None),
    "no groups": Wrong(attend, None),
    "always float64": Wrong(lambda q, k, v: repeated(q.astype(float), k, v), None),
    "changes q": Wrong(in_place, None),
    "batches alone": Wrong(lambda q, k, v: repeated(q, k, v) if q.ndim == 4 else repeated(q[0], k, v), None),
}

TRIVIAL: dict[str, Answer] = {
    "q": lambda q, k, v: q,
    "zeros": lambda q, k, v: np.zeros_like(q),
    "ones": lambda q, k, v: np.ones_like(q),
    "mean of the values": lambda q, k, v: np.broadcast_to(v.mean((-3, -2), keepdims=True), q.shape),
    "noise": lambda q, k, v: np.random.default_rng(0).normal(size=q.shape).astype(q.dtype),
}
