"""Answers to `attention.mend`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong
from tests.gallery.attention import heads as regroup
from tests.gallery.attention import multi_head
from tests.gallery.attention.heads import merge
from tests.gallery.attention.scaled_dot_product import softmax


def code(axis=-1, back=merge, shares=None):
    """The given code, with an axis and a merge."""

    def answer(x, qkv, out, n_heads):
        *batch, T, D = x.shape
        parts = np.split(x @ qkv.T, 3, axis=-1)
        shape = (*batch, T, n_heads, D // n_heads)
        q, k, v = (part.reshape(shape).swapaxes(-2, -3) for part in parts)
        scores = q @ k.swapaxes(-1, -2) / (D // n_heads) ** 0.5
        weights = shares(scores) if shares else softmax(scores, axis)
        return back(weights @ v) @ out.T

    return answer


def without_biases(answer):
    def mended(x, qkv, out, n_heads):
        zero = np.zeros(3 * x.shape[-1], x.dtype)
        return answer(x, qkv, zero, out, zero[: x.shape[-1]], n_heads)

    return mended


class Mended:
    def __call__(self, x, qkv, out, n_heads):
        return code()(x, qkv, out, n_heads)


RIGHT: dict[str, Answer] = {
    "mended": code(),
    "the queries' axis last": code(shares=lambda s: softmax(s.swapaxes(-1, -2), -2).swapaxes(-1, -2)),
    "a loop over heads": without_biases(multi_head.a_loop_over_heads),
    "einsum": without_biases(multi_head.einsum),
    "float64 inside": without_biases(multi_head.in_float64),
    "merged by concatenation": code(back=lambda z: np.concatenate(np.moveaxis(z, -3, 0), axis=-1)),
    "an object with __call__": Mended(),
    "a lambda": lambda x, w, o, h: code()(x, w, o, h),
}


def over_all(scores):
    shares = np.exp(scores - scores.max((-2, -1), keepdims=True))
    return shares / shares.sum((-2, -1), keepdims=True)


def no_return(x, qkv, out, n_heads):
    code()(x, qkv, out, n_heads)


def in_place(x, qkv, out, n_heads):
    x[...] = code()(x, qkv, out, n_heads)
    return x


WRONG = {
    "broken": Wrong(code(-2, regroup.bare_merge), "nothing mended"),
    "merge alone": Wrong(code(-2), "softmax still over the queries"),
    "softmax alone": Wrong(code(back=regroup.bare_merge), "heads still not transposed back"),
    "over heads": Wrong(code(-3), "softmax over the heads"),
    "over all": Wrong(code(shares=over_all), "softmax over the whole pattern"),
    "interleaved": Wrong(code(back=regroup.interleaved), "features of heads mixed in the merge"),
    "interleaved, over queries": Wrong(code(-2, regroup.interleaved), "features of heads mixed in the merge"),
    "no return": Wrong(no_return, "no return"),
    "in place": Wrong(in_place, None),
    "no softmax": Wrong(code(shares=lambda s: s), None),
    "always float64": Wrong(lambda *given: code()(*given).astype(np.float64), None),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda x, *rest: x,
    "zeros": lambda x, *rest: np.zeros_like(x),
    "ones": lambda x, *rest: np.ones_like(x),
    "a product": lambda x, qkv, out, h: x @ out.T,
    "noise": lambda x, *rest: np.random.default_rng(0).normal(size=x.shape).astype(x.dtype),
}

_LETTERS = "the letters of an einsum are names"
EQUIVALENT = {
    'reference: shares = np.exp(np.einsum("...thk,...shk->...hts", q, k) / np.sqrt(q.shape[-1])) → '
    'shares = np.exp(np.einsum("...THK,...SHK->...HTS", q, k) / np.sqrt(q.shape[-1])) #1': _LETTERS,
    'reference: return np.asarray(np.einsum("...hts,...shk->...thk", weights, v).reshape(x.shape) @ out.T) → '
    'return np.asarray(np.einsum("...HTS,...SHK->...THK", weights, v).reshape(x.shape) @ out.T) #1': (
        _LETTERS
    ),
}
