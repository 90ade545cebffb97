"""Answers to `norm_placement.post`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong
from tests.gallery.block.written import attend, bend, by_name, norm, norm_of, variant
from transformer_block.in_numpy.attention import attention
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.in_numpy.layer_norm import layer_norm


def of_the_given_parts(x, n_heads, *arrays):
    p = by_name(arrays)
    attended = attention(x, *arrays[2:6], n_heads)
    h = layer_norm(x + attended, p["norm_1.weight"], p["norm_1.bias"])
    return layer_norm(h + feed_forward(h, *arrays[8:]), p["norm_2.weight"], p["norm_2.bias"])


def from_nothing_but_numpy(x, p, n_heads):
    h = norm_of(x + attend(x, p, n_heads), p, 1)
    return norm_of(h + bend(h, p), p, 2)


def in_a_loop(x, n_heads, *arrays):
    p = by_name(arrays)
    branches = (lambda h: attend(h, p, n_heads), lambda h: bend(h, p))
    for number, branch in enumerate(branches, start=1):
        x = norm_of(x + branch(x), p, number)
    return x


def sums_first(x, p, n_heads):
    update = attend(x, p, n_heads)
    h = norm(update + x, p["norm_1.weight"], p["norm_1.bias"])
    inner = h @ p["feed_forward.up.weight"].T + p["feed_forward.up.bias"]
    total = np.where(inner > 0, inner, 0) @ p["feed_forward.down.weight"].T + h
    return norm(total + p["feed_forward.down.bias"], p["norm_2.weight"], p["norm_2.bias"])


def item_by_item(x, n_heads, *arrays):
    if x.ndim == 2:
        return in_a_loop(x, n_heads, *arrays)
    return np.stack([in_a_loop(item, n_heads, *arrays) for item in x])


class Post:
    def __call__(self, x, n_heads, *arrays):
        return in_a_loop(x, n_heads, *arrays)


RIGHT: dict[str, Answer] = {
    "of the given parts": of_the_given_parts,
    "from nothing but NumPy": variant(from_nothing_but_numpy),
    "in a loop": in_a_loop,
    "sums first": variant(sums_first),
    "item by item": item_by_item,
    "an object with __call__": Post(),
    "a lambda": lambda *given: of_the_given_parts(*given),
}


def pre_norm(x, p, n_heads):
    h = x + attend(norm_of(x, p, 1), p, n_heads)
    return h + bend(norm_of(h, p, 2), p)


def exchanged(x, p, n_heads):
    h = norm_of(x + attend(x, p, n_heads), p, 2)
    return norm_of(h + bend(h, p), p, 1)


def reused(x, p, n_heads):
    h = norm_of(x + attend(x, p, n_heads), p, 1)
    return norm_of(h + bend(h, p), p, 1)


def updates(x, p, n_heads):
    h = x + norm_of(attend(x, p, n_heads), p, 1)
    return h + norm_of(bend(h, p), p, 2)


def from_x(x, p, n_heads):
    h = norm_of(x + attend(x, p, n_heads), p, 1)
    return norm_of(x + bend(h, p), p, 2)


def past_the_norm(x, p, n_heads):
    total = x + attend(x, p, n_heads)
    return norm_of(total + bend(norm_of(total, p, 1), p), p, 2)


def no_skips(x, p, n_heads):
    return norm_of(bend(norm_of(attend(x, p, n_heads), p, 1), p), p, 2)


def last_norm(x, p, n_heads):
    h = x + attend(x, p, n_heads)
    return norm_of(h + bend(h, p), p, 2)


def both(x, p, n_heads):
    h = norm_of(x + attend(norm_of(x, p, 1), p, n_heads), p, 1)
    return norm_of(h + bend(norm_of(h, p, 2), p), p, 2)


def in_place(x, p, n_heads):
    x += attend(x, p, n_heads)
    h = norm_of(x, p, 1)
    return norm_of(h + bend(h, p), p, 2)


def no_return(x, p, n_heads):
    from_nothing_but_numpy(x, p, n_heads)


WRONG = {
    "no return": Wrong(variant(no_return), "no return"),
    "pre-norm": Wrong(variant(pre_norm), "pre-norm"),
    "exchanged": Wrong(variant(exchanged), "norms exchanged"),
    "reused": Wrong(variant(reused), "first norm reused"),
    "updates": Wrong(variant(updates), "update normalized in place of the sum"),
    "from x": Wrong(variant(from_x), "second residual begins at x"),
    "past the norm": Wrong(variant(past_the_norm), "second residual begins before the norm"),
    "no skips": Wrong(variant(no_skips), "no skips"),
    "last norm": Wrong(variant(last_norm), "one norm, at the end"),
    "norms everywhere": Wrong(variant(both), None),
    "in place": Wrong(variant(in_place), None),
    "always float64": Wrong(variant(lambda x, *of: from_nothing_but_numpy(x.astype(float), *of)), None),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda x, n_heads, *arrays: x,
    "zeros": lambda x, n_heads, *arrays: np.zeros_like(x),
    "a norm": lambda x, n_heads, *arrays: norm(x, arrays[0], arrays[1]),
    "ones": lambda x, n_heads, *arrays: np.ones_like(x),
    "noise": lambda x, n_heads, *arrays: np.random.default_rng(0).normal(size=x.shape),
}

_SCORES = "post_block: scores = np.einsum({0}, q, k) / np.sqrt(q.shape[-1])"
_MERGED = "post_block: merged = np.einsum({0}, shares, v).reshape(x.shape)"
_LETTERS = "einsum's letters are names"
EQUIVALENT = {
    f"{line.format(lower)} → {line.format(lower.upper()).partition(': ')[2]} #1": _LETTERS
    for line, lower in (
        (_SCORES, '"...thk,...shk->...hts"'),
        (_MERGED, '"...hts,...shk->...thk"'),
    )
}
