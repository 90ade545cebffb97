"""Answers to `cache.step`."""

import numpy as np

from block_course.diagnosis import NO_RETURN
from tests.gallery.answers import Answer, Wrong
from transformer_block.in_numpy.positions import rotary


def softmax(scores):
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def new_heads(x, qkv, n_heads):
    T, D = x.shape
    return (x @ qkv.T).reshape(T, 3, n_heads, D // n_heads).transpose(1, 2, 0, 3)


def step(x, keys, values, qkv, out, n_heads):
    T, S = x.shape[0], keys.shape[1]
    q, k, v = new_heads(x, qkv, n_heads)
    keys = np.concatenate([keys, rotary(k, S)], axis=1)
    values = np.concatenate([values, v], axis=1)
    scores = rotary(q, S) @ keys.transpose(0, 2, 1) / np.sqrt(q.shape[-1]).astype(x.dtype)
    hidden = np.arange(S + T) > S + np.arange(T)[:, None]
    weights = softmax(np.where(hidden, x.dtype.type(-np.inf), scores))
    return (weights @ values).transpose(1, 0, 2).reshape(x.shape) @ out.T, keys, values


def einsum(x, keys, values, qkv, out, n_heads):
    (T, D), S = x.shape, keys.shape[1]
    w = qkv.reshape(3, n_heads, D // n_heads, D)
    q, k, v = (np.einsum("td,hkd->htk", x, each) for each in w)
    keys, values = np.append(keys, rotary(k, S), axis=1), np.append(values, v, axis=1)
    scores = np.einsum("htk,hsk->hts", rotary(q, S), keys) * (D // n_heads) ** -0.5
    scores = scores + np.where(np.tri(T, S + T, S, dtype=bool), 0, -np.inf).astype(x.dtype)
    gathered = np.einsum("hts,hsk->thk", softmax(scores), values)
    return np.einsum("thk,ehk->te", gathered, out.reshape(D, n_heads, -1)), keys, values


def token_by_token(x, keys, values, qkv, out, n_heads):
    """A chunk as so many single steps, which need no mask."""
    rows = []
    for token in x:
        q, k, v = new_heads(token[None], qkv, n_heads)
        position = keys.shape[1]
        keys = np.concatenate([keys, rotary(k, position)], axis=1)
        values = np.concatenate([values, v], axis=1)
        weights = softmax(rotary(q, position) @ keys.swapaxes(1, 2) / q.shape[-1] ** 0.5)
        rows.append((weights @ values)[:, 0].ravel() @ out.T)
    return np.stack(rows), keys, values


def in_float64(x, keys, values, qkv, out, n_heads):
    arrays = (each.astype(np.float64) for each in (x, keys, values, qkv, out))
    return tuple(each.astype(x.dtype) for each in step(*arrays, n_heads))


def filled_rooms(x, keys, values, qkv, out, n_heads):
    """Room for all, written in place."""
    (T, D), S = x.shape, keys.shape[1]
    K = D // n_heads
    all_keys, all_values = np.empty((2, n_heads, S + T, K), x.dtype)
    all_keys[:, :S], all_values[:, :S] = keys, values
    q, k, v = np.split(x @ qkv.T, 3, axis=1)
    y = np.zeros_like(x)
    for h in range(n_heads):
        part = slice(h * K, (h + 1) * K)
        all_keys[h, S:], all_values[h, S:] = rotary(k[:, part], S), v[:, part]
        turned = rotary(q[:, part], S)
        for t in range(T):
            seen = S + t + 1
            weights = softmax(all_keys[h, :seen] @ turned[t] / K**0.5)
            y[t, part] = weights @ all_values[h, :seen]
    return y @ out.T, all_keys, all_values


class Step:
    def __call__(self, x, keys, values, qkv, out, n_heads):
        return step(x, keys, values, qkv, out, n_heads)


RIGHT: dict[str, Answer] = {
    "transposed": step,
    "einsum": einsum,
    "token by token": token_by_token,
    "float64 inside": in_float64,
    "rooms that are filled": filled_rooms,
    "an object with __call__": Step(),
    "a lambda": lambda x, keys, values, qkv, out, n_heads: step(x, keys, values, qkv, out, n_heads),
}


def changed(
    at=lambda S: S,
    turn=rotary,
    turn_queries=None,
    turn_values=lambda v, S: v,
    held=lambda keys: keys,
    visible=lambda T, S: np.tri(T, S + T, S, dtype=bool),
    front=False,
    scale=lambda K: K**0.5,
    merge=lambda g: g.transpose(1, 0, 2).reshape(g.shape[1], -1),
):
    def answer(x, keys, values, qkv, out, n_heads):
        T, S = x.shape[0], keys.shape[1]
        q, k, v = new_heads(x, qkv, n_heads)
        q = (turn_queries or turn)(q, at(S))
        k, v = turn(k, at(S)), turn_values(v, at(S))
        pairs = [(held(keys), k), (values, v)]
        keys, values = (np.concatenate(pair[::-1] if front else pair, axis=1) for pair in pairs)
        scores = q @ keys.swapaxes(1, 2) / scale(q.shape[-1])
        weights = softmax(np.where(visible(T, S), scores, -np.inf).astype(x.dtype))
        return merge(weights @ values) @ out.T, keys, values

    return answer


def forgets(x, keys, values, qkv, out, n_heads):
    step(x, keys, values, qkv, out, n_heads)


def keeps_nothing(x, keys, values, qkv, out, n_heads):
    return step(x, keys, values, qkv, out, n_heads)[0], keys, values


WRONG: dict[str, Wrong] = {
    "position 0": Wrong(changed(at=lambda S: 0), "offset 0"),
    "one too far": Wrong(changed(at=lambda S: S + 1), "offset one too large"),
    "without positions": Wrong(changed(turn=lambda heads, S: heads), "not turned at all"),
    "queries as they are": Wrong(changed(turn_queries=lambda heads, S: heads), "queries not turned"),
    "turned twice": Wrong(changed(held=lambda keys: rotary(keys, 0)), "held keys turned again"),
    "turned values": Wrong(changed(turn_values=rotary), "values turned too"),
    "no mask": Wrong(changed(visible=lambda T, S: np.full((T, S + T), True)), "no mask inside the chunk"),
    "first rows": Wrong(changed(visible=lambda T, S: np.tri(T, S + T, dtype=bool)), "mask from the start"),
    "in front": Wrong(changed(front=True), "new tokens in front"),
    "mixed heads": Wrong(changed(merge=lambda g: g.reshape(g.shape[1], -1)), "heads not put back"),
    "no root": Wrong(changed(scale=lambda K: 1.0), "no √K"),
    "keeps nothing": Wrong(keeps_nothing, None),
    "forgets to return": Wrong(forgets, NO_RETURN),
}

TRIVIAL: dict[str, Answer] = {
    "what it got": lambda x, keys, values, qkv, out, n_heads: (x, keys, values),
    "zeros": lambda x, keys, values, qkv, out, n_heads: (
        np.zeros_like(x),
        np.zeros((keys.shape[0], keys.shape[1] + len(x), keys.shape[2]), x.dtype),
        np.zeros((keys.shape[0], keys.shape[1] + len(x), keys.shape[2]), x.dtype),
    ),
    "noise": lambda x, keys, values, qkv, out, n_heads: (np.random.default_rng(0).normal(size=x.shape),) * 3,
    "a projection": lambda x, keys, values, qkv, out, n_heads: (x @ out.T, keys, values),
}

_SPLIT = "parts = np.split(x @ qkv.T, 3, axis="
EQUIVALENT = {f"reference: {_SPLIT}-1) → {_SPLIT}+1) #1": "of two axes, the last is axis 1"}
