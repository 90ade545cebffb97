"""Answers to `block.mend`."""

from functools import partial

import numpy as np

from tests.gallery.answers import Answer, Wrong
from tests.gallery.block import forward, written
from tests.gallery.block.written import EQUIVALENT, attend, bend, by_name, norm_of, variant
from transformer_block.in_numpy.attention import attention
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.in_numpy.layer_norm import layer_norm


def broken(x, n_heads, *arrays):
    p = by_name(arrays)
    norm = partial(layer_norm, gamma=p["norm_1.weight"], beta=p["norm_1.bias"])
    qkv = p["attention.qkv.weight"], p["attention.qkv.bias"]
    h = x + attention(norm(x), *qkv, p["attention.out.weight"], None, n_heads)
    up = p["feed_forward.up.weight"], p["feed_forward.up.bias"]
    down = p["feed_forward.down.weight"], p["feed_forward.down.bias"]
    return h + feed_forward(norm(h), *up, *down)


def mended(x, n_heads, *arrays, second="norm_2", bias=True):
    p = by_name(arrays)
    norm_1 = partial(layer_norm, gamma=p["norm_1.weight"], beta=p["norm_1.bias"])
    norm_2 = partial(layer_norm, gamma=p[f"{second}.weight"], beta=p[f"{second}.bias"])
    qkv = p["attention.qkv.weight"], p["attention.qkv.bias"]
    out = p["attention.out.weight"], p["attention.out.bias"] if bias else None
    h = x + attention(norm_1(x), *qkv, *out, n_heads)
    up = p["feed_forward.up.weight"], p["feed_forward.up.bias"]
    down = p["feed_forward.down.weight"], p["feed_forward.down.bias"]
    return h + feed_forward(norm_2(h), *up, *down)


def bias_added_outside(x, n_heads, *arrays):
    p = by_name(arrays)
    args = p["attention.qkv.weight"], p["attention.qkv.bias"], p["attention.out.weight"], None, n_heads
    h = x + attention(norm_of(x, p, 1), *args) + p["attention.out.bias"]
    return h + bend(norm_of(h, p, 2), p)


__all__ = ["EQUIVALENT", "RIGHT", "TRIVIAL", "WRONG"]

RIGHT: dict[str, Answer] = {
    "mended": mended,
    "the bias added outside": bias_added_outside,
    "written out": written.block,
    "einsum, a loop over heads": forward.einsum_and_heads_in_a_loop,
    "float64 inside": forward.in_float64,
    "an object with __call__": forward.Block(),
    "a lambda": lambda x, H, *arrays: forward.from_given_parts(x, H, *arrays),
}


def transposed(x, p, H):
    p = p | {"attention.out.weight": p["attention.out.weight"].T}
    h = x + attend(norm_of(x, p, 1), p, H)
    return h + bend(norm_of(h, p, 2), p)


def bias_twice(x, p, H):
    h = x + attend(norm_of(x, p, 1), p, H) + p["attention.out.bias"]
    return h + bend(norm_of(h, p, 2), p)


def exchanged_without_bias(x, p, H):
    h = x + attend(norm_of(x, p, 2), p, H) - p["attention.out.bias"]
    return h + bend(norm_of(h, p, 1), p)


def no_return(x, n_heads, *arrays):
    mended(x, n_heads, *arrays)


WRONG = {
    "broken": Wrong(broken, "nothing mended"),
    "bias alone": Wrong(partial(mended, second="norm_1"), "first norm still reused"),
    "norm alone": Wrong(partial(mended, bias=False), "bias of out still left out"),
    "exchanged": Wrong(variant(forward.exchanged), "norms exchanged"),
    "exchanged, no bias": Wrong(variant(exchanged_without_bias), "norms exchanged"),
    "second norm gone": Wrong(variant(forward.no_second_norm), "second norm taken out"),
    "the misprint": Wrong(variant(forward.misprint), "second residual begins at x"),
    "transposed": Wrong(variant(transposed), "out transposed"),
    "bias twice": Wrong(variant(bias_twice), "bias of out added twice"),
    "no return": Wrong(no_return, "no return"),
    "post-norm": Wrong(variant(forward.post_norm), None),
    "in place": Wrong(forward.in_place, None),
    "always float64": Wrong(lambda *given: mended(*given).astype(np.float64), None),
}

TRIVIAL: dict[str, Answer] = {
    **forward.TRIVIAL,
    "x and the bias": lambda x, n_heads, *arrays: x + arrays[5],
}
del TRIVIAL["the last array"]
