"""Answers to `encoder_decoder.cross_attention`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def shares(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def split(x, n_heads):
    return x.reshape(*x.shape[:2], n_heads, x.shape[2] // n_heads).transpose(0, 2, 1, 3)


def merge(z):
    return z.transpose(0, 2, 1, 3).reshape(z.shape[0], z.shape[2], -1)


def cross(
    read=lambda x, m: (x, m), mask=lambda v, T: v[:, None, None], order=1, root=None, axis=-1, back=merge
):
    def answer(x, memory, visible, q, kv, out, n_heads):
        asks, asked = read(x, memory)
        k, v = (split(asked @ part.T, n_heads) for part in np.split(kv, 2)[::order])
        queries = split(asks @ q.T, n_heads)
        K, D = queries.shape[-1], x.shape[-1]
        scores = queries @ k.swapaxes(-1, -2) / (root(K, D) if root else K**0.5)
        seen = mask(visible, asks.shape[1]) if asked.shape == memory.shape else True
        scores = np.where(seen, scores, scores.dtype.type(-np.inf))
        return back(shares(scores, axis) @ v) @ out.T

    return answer


def einsum(x, memory, visible, q, kv, out, n_heads):
    B, T, D = x.shape
    shape = (n_heads, D // n_heads, D)
    a = np.einsum("btd,hkd->bhtk", x, q.reshape(shape))
    k, v = np.einsum("bsd,chkd->cbhsk", memory, kv.reshape(2, *shape))
    scores = np.einsum("bhtk,bhsk->bhts", a, k) / np.sqrt(shape[1]).astype(x.dtype)
    weights = shares(scores + np.where(visible, 0, -1e9).astype(x.dtype)[:, None, None])
    return np.einsum("bhts,bhsk->bthk", weights, v).reshape(B, T, D) @ out.T


def item_by_item(x, memory, visible, q, kv, out, n_heads):
    D = x.shape[-1]
    result = np.empty_like(x)
    for b, real in enumerate(visible):
        kept = memory[b][real]
        heads = np.split(np.arange(D), n_heads)
        gathered = []
        for rows in heads:
            a, k, v = x[b] @ q[rows].T, kept @ kv[:D][rows].T, kept @ kv[D:][rows].T
            gathered.append(shares(a @ k.T / (D // n_heads) ** 0.5) @ v)
        result[b] = np.concatenate(gathered, axis=-1) @ out.T
    return result


def weights_cut(x, memory, visible, q, kv, out, n_heads):
    a, k, v = (split(each, n_heads) for each in (x @ q.T, *np.split(memory @ kv.T, 2, axis=-1)))
    e = np.exp(a @ k.transpose(0, 1, 3, 2) * a.shape[-1] ** -0.5) * visible[:, None, None, :]
    return merge(e / e.sum(-1, keepdims=True) @ v) @ out.T


def wider(x, memory, visible, q, kv, out, n_heads):
    wide = (each.astype(np.float64) for each in (q, kv, out))
    return einsum(x.astype(np.float64), memory.astype(np.float64), visible, *wide, n_heads).astype(x.dtype)


class CrossAttention:
    def __call__(self, x, memory, visible, q, kv, out, n_heads):
        return weights_cut(x, memory, visible, q, kv, out, n_heads)


RIGHT: dict[str, Answer] = {
    "step by step": cross(),
    "einsum": einsum,
    "item by item, head by head": item_by_item,
    "exponentials cut": weights_cut,
    "float64 inside": wider,
    "an object with __call__": CrossAttention(),
    "a lambda": lambda *given: cross()(*given),
}


def no_return(*given):
    cross()(*given)


def causal(visible, T):
    S = visible.shape[-1]
    return visible[:, None, None] & (np.arange(S) <= np.arange(T)[:, None] + S - T)


def causal_too_early(visible, T):
    return visible[:, None, None] & (np.arange(visible.shape[-1]) <= np.arange(T)[:, None])


def in_place(x, *rest):
    x[...] = cross()(x, *rest)
    return x


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "x alone": Wrong(cross(read=lambda x, m: (x, x)), "self-attention"),
    "exchanged": Wrong(cross(read=lambda x, m: (m, x)), "queries from the memory"),
    "no mask": Wrong(cross(mask=lambda v, T: True), "padding not hidden"),
    "turned over": Wrong(
        lambda x, m, v, *rest: np.nan_to_num(cross(mask=lambda v, T: ~v[:, None, None])(x, m, v, *rest)),
        "mask turned over",
    ),
    "causal": Wrong(cross(mask=causal), "a causal mask on the memory"),
    "causal from the start": Wrong(cross(mask=causal_too_early), "a causal mask on the memory"),
    "values first": Wrong(cross(order=-1), "keys and values exchanged"),
    "over the queries": Wrong(
        lambda x, m, v, *rest: np.nan_to_num(cross(axis=-2)(x, m, v, *rest)), "softmax over the queries"
    ),
    "root of D": Wrong(cross(root=lambda K, D: D**0.5), "root of D"),
    "not transposed back": Wrong(
        cross(back=lambda z: z.reshape(z.shape[0], z.shape[2], -1)), "heads not transposed back"
    ),
    "no root": Wrong(cross(root=lambda K, D: 1), None),
    "out not transposed": Wrong(lambda x, m, v, q, kv, out, H: cross()(x, m, v, q, kv, out.T, H), None),
    "one head always": Wrong(lambda x, m, v, q, kv, out, H: cross()(x, m, v, q, kv, out, 1), None),
    "in place": Wrong(in_place, None),
    "always float64": Wrong(lambda *given: cross()(*given).astype(float), None),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda x, *rest: x,
    "zeros": lambda x, *rest: np.zeros_like(x),
    "ones": lambda x, *rest: np.ones_like(x),
    "the mean of the memory": lambda x, m, *rest: x * 0 + m.mean(1, keepdims=True),
    "noise": lambda x, *rest: np.random.default_rng(0).normal(size=x.shape).astype(x.dtype),
}
