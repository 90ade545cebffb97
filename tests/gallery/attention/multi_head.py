"""Answers to `attention.multi_head`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong
from tests.gallery.attention import heads as regroup
from tests.gallery.attention.heads import merge, split
from tests.gallery.attention.scaled_dot_product import attend, softmax


def by_helpers(x, qkv, qkv_bias, out, out_bias, n_heads):
    q, k, v = (split(each, n_heads) for each in np.split(x @ qkv.T + qkv_bias, 3, axis=-1))
    return merge(attend(q, k, v)[0]) @ out.T + out_bias


def a_loop_over_heads(x, qkv, qkv_bias, out, out_bias, n_heads):
    K = x.shape[-1] // n_heads
    rows = qkv.reshape(3, n_heads, K, -1)
    biases = qkv_bias.reshape(3, n_heads, K)
    y = np.zeros_like(x) + out_bias
    for h in range(n_heads):
        q, k, v = (x @ rows[i, h].T + biases[i, h] for i in range(3))
        y = y + attend(q, k, v)[0] @ out[:, h * K : (h + 1) * K].T
    return y


def einsum(x, qkv, qkv_bias, out, out_bias, n_heads):
    projected = np.einsum("...d,ed->...e", x, qkv) + qkv_bias
    q, k, v = np.moveaxis(projected.reshape(*x.shape[:-1], 3, n_heads, -1), -3, 0)
    weights = softmax(np.einsum("...thk,...shk->...hts", q, k) * q.shape[-1] ** -0.5)
    z = np.einsum("...hts,...shk->...thk", weights, v).reshape(x.shape)
    return np.einsum("...d,ed->...e", z, out) + out_bias


def item_by_item(x, *rest):
    return by_helpers(x, *rest) if x.ndim == 2 else np.stack([item_by_item(each, *rest) for each in x])


def in_float64(x, *rest):
    *wide, n_heads = (e.astype(np.float64) if isinstance(e, np.ndarray) else e for e in (x, *rest))
    return by_helpers(*wide, n_heads).astype(x.dtype)


class MultiHead:
    def __call__(self, x, *rest):
        return by_helpers(x, *rest)


RIGHT: dict[str, Answer] = {
    "helpers of other cells": by_helpers,
    "a loop over heads": a_loop_over_heads,
    "einsum": einsum,
    "item by item": item_by_item,
    "float64 inside": in_float64,
    "an object with __call__": MultiHead(),
    "a lambda": lambda x, w, b, o, c, h: by_helpers(x, w, b, o, c, h),
}


def changed(cut=split, back=merge, gather=lambda q, k, v: attend(q, k, v)[0], order=(0, 1, 2)):
    def answer(x, qkv, qkv_bias, out, out_bias, n_heads):
        parts = np.split(x @ qkv.T + qkv_bias, 3, axis=-1)
        q, k, v = (cut(parts[i], n_heads) for i in order)
        return back(gather(q, k, v)) @ out.T + out_bias

    return answer


def scaled(divisor):
    def gather(q, k, v):
        return softmax(q @ k.swapaxes(-1, -2) / divisor(q)) @ v

    return gather


def over_queries(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5, -2) @ v


def heads_first(x, qkv, qkv_bias, out, out_bias, n_heads):
    q, k, v = np.split(split(x @ qkv.T + qkv_bias, n_heads), 3, axis=-1)
    return merge(attend(q, k, v)[0]) @ out.T + out_bias


def without(*biases):
    def answer(x, qkv, qkv_bias, out, out_bias, n_heads):
        given = {"qkv": qkv_bias, "out": out_bias}
        given |= {name: 0 * given[name] for name in biases}
        return by_helpers(x, qkv, given["qkv"], out, given["out"], n_heads)

    return answer


def of_three_axes(x, qkv, qkv_bias, out, out_bias, n_heads):
    B, T, D = x.shape
    parts = (x @ qkv.T + qkv_bias).reshape(B, T, 3, n_heads, D // n_heads)
    q, k, v = parts.transpose(2, 0, 3, 1, 4)
    return over_queries(q, k, v).transpose(0, 2, 1, 3).reshape(B, T, D) @ out.T + out_bias


def no_return(*given):
    by_helpers(*given)


def in_place(x, *rest):
    x[...] = by_helpers(x, *rest)
    return x


WRONG = {
    "no root": Wrong(changed(gather=scaled(lambda q: 1)), "no √K"),
    "root of D": Wrong(changed(gather=scaled(lambda q: (q.shape[-1] * q.shape[-3]) ** 0.5)), "√D for √K"),
    "over queries": Wrong(changed(gather=over_queries), "softmax over the queries"),
    "bare merge": Wrong(changed(back=regroup.bare_merge), "heads not transposed back"),
    "heads first": Wrong(heads_first, "heads before q, k and v"),
    "keys first": Wrong(changed(order=(1, 0, 2)), "queries and keys exchanged"),
    "out transposed": Wrong(lambda x, w, b, o, c, h: by_helpers(x, w, b, o.T, c, h), "out transposed"),
    "no bias of qkv": Wrong(without("qkv"), "bias of qkv left out"),
    "no bias of out": Wrong(without("out"), "bias of out left out"),
    "no bias": Wrong(without("qkv", "out"), "no bias"),
    "one head": Wrong(lambda *given: by_helpers(*given[:-1], 1), "one head"),
    "over queries, three axes": Wrong(of_three_axes, "softmax over the queries"),
    "no return": Wrong(no_return, "no return"),
    "values first": Wrong(changed(order=(1, 2, 0)), None),
    "bare split": Wrong(changed(cut=regroup.bare_split), "cut by a bare reshape"),
    "bare both ways": Wrong(
        changed(cut=regroup.bare_split, back=regroup.bare_merge), "cut by a bare reshape"
    ),
    "in place": Wrong(in_place, None),
    "always float64": Wrong(lambda *given: by_helpers(*given).astype(np.float64), None),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda x, *rest: x,
    "zeros": lambda x, *rest: np.zeros_like(x),
    "the bias": lambda x, w, b, o, c, h: np.zeros_like(x) + c,
    "x and the bias": lambda x, w, b, o, c, h: x + c,
    "noise": lambda x, *rest: np.random.default_rng(0).normal(size=x.shape).astype(x.dtype),
}

_LETTERS = "the letters of an einsum are names"
EQUIVALENT = {
    'reference: shares = np.exp(np.einsum("...thk,...shk->...hts", q, k) / np.sqrt(q.shape[-1])) → '
    'shares = np.exp(np.einsum("...THK,...SHK->...HTS", q, k) / np.sqrt(q.shape[-1])) #1': _LETTERS,
    'reference: merged = np.einsum("...hts,...shk->...thk", weights, v).reshape(x.shape) → '
    'merged = np.einsum("...HTS,...SHK->...THK", weights, v).reshape(x.shape) #1': _LETTERS,
}
