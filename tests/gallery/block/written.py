"""A block as a learner writes it, from nothing but NumPy, and what its mistakes are made of."""

import numpy as np

NAMES = [
    "norm_1.weight",
    "norm_1.bias",
    "attention.qkv.weight",
    "attention.qkv.bias",
    "attention.out.weight",
    "attention.out.bias",
    "norm_2.weight",
    "norm_2.bias",
    "feed_forward.up.weight",
    "feed_forward.up.bias",
    "feed_forward.down.weight",
    "feed_forward.down.bias",
]


def by_name(arrays):
    return dict(zip(NAMES, arrays, strict=True))


def norm(x, weight, bias):
    deviation = x - x.mean(-1, keepdims=True)
    return weight * deviation / np.sqrt((deviation**2).mean(-1, keepdims=True) + 1e-5) + bias


def attend(x, p, n_heads):
    *batch, T, D = x.shape
    q, k, v = np.split(x @ p["attention.qkv.weight"].T + p["attention.qkv.bias"], 3, axis=-1)
    cut = (np.swapaxes(each.reshape(*batch, T, n_heads, D // n_heads), -2, -3) for each in (q, k, v))
    q, k, v = cut
    scores = q @ np.swapaxes(k, -1, -2) / (D // n_heads) ** 0.5
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    merged = np.swapaxes(shares @ v, -2, -3).reshape(*batch, T, D)
    return merged @ p["attention.out.weight"].T + p["attention.out.bias"]


def bend(x, p):
    inner = np.maximum(x @ p["feed_forward.up.weight"].T + p["feed_forward.up.bias"], 0)
    return inner @ p["feed_forward.down.weight"].T + p["feed_forward.down.bias"]


def norm_of(x, p, which):
    return norm(x, p[f"norm_{which}.weight"], p[f"norm_{which}.bias"])


def block(x, n_heads, *arrays):
    p = by_name(arrays)
    h = x + attend(norm_of(x, p, 1), p, n_heads)
    return h + bend(norm_of(h, p, 2), p)


def variant(rule):
    """An answer by a rule of x, the parameters and the number of heads."""
    return lambda x, n_heads, *arrays: rule(x, by_name(arrays), n_heads)


_LETTERS = "the letters of an einsum are names"
EQUIVALENT = {
    'reference: scores = np.einsum("...thk,...shk->...hts", q, k) / np.sqrt(q.shape[-1]) → '
    'scores = np.einsum("...THK,...SHK->...HTS", q, k) / np.sqrt(q.shape[-1]) #1': _LETTERS,
    'reference: merged = np.einsum("...hts,...shk->...thk", shares, v).reshape(x.shape) → '
    'merged = np.einsum("...HTS,...SHK->...THK", shares, v).reshape(x.shape) #1': _LETTERS,
}
"""Mutants of the references that compute the same."""
