"""Answers to `block.forward`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong
from tests.gallery.block import written
from tests.gallery.block.written import EQUIVALENT, attend, bend, by_name, norm_of, variant
from transformer_block.in_numpy.attention import attention
from transformer_block.in_numpy.block import Block as OfThePackage
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.in_numpy.layer_norm import layer_norm


def from_given_parts(x, n_heads, *arrays):
    p = by_name(arrays)
    read = layer_norm(x, p["norm_1.weight"], p["norm_1.bias"])
    qkv = p["attention.qkv.weight"], p["attention.qkv.bias"]
    out = p["attention.out.weight"], p["attention.out.bias"]
    h = x + attention(read, *qkv, *out, n_heads)
    read = layer_norm(h, p["norm_2.weight"], p["norm_2.bias"])
    up = p["feed_forward.up.weight"], p["feed_forward.up.bias"]
    down = p["feed_forward.down.weight"], p["feed_forward.down.bias"]
    return h + feed_forward(read, *up, *down)


def twelve_names(x, n_heads, g1, b1, qkv, qkv_b, out, out_b, g2, b2, up, up_b, down, down_b):
    h = x + attention(layer_norm(x, g1, b1), qkv, qkv_b, out, out_b, n_heads)
    return h + feed_forward(layer_norm(h, g2, b2), up, up_b, down, down_b)


def einsum_and_heads_in_a_loop(x, n_heads, *arrays):
    p = by_name(arrays)
    read = norm_of(x, p, 1)
    q, k, v = np.split(
        np.einsum("...d,ed->...e", read, p["attention.qkv.weight"]) + p["attention.qkv.bias"], 3, -1
    )
    K = x.shape[-1] // n_heads
    h = x + p["attention.out.bias"]
    for head in range(n_heads):
        own = slice(head * K, (head + 1) * K)
        scores = np.einsum("...tk,...sk->...ts", q[..., own], k[..., own]) / np.sqrt(np.array(K, x.dtype))
        shares = np.exp(scores)
        gathered = (shares / shares.sum(-1, keepdims=True)) @ v[..., own]
        h = h + gathered @ p["attention.out.weight"][:, own].T
    return h + bend(norm_of(h, p, 2), p)


def item_by_item(x, n_heads, *arrays):
    if x.ndim == 2:
        return written.block(x, n_heads, *arrays)
    return np.stack([item_by_item(each, n_heads, *arrays) for each in x])


def in_float64(x, n_heads, *arrays):
    wide = (each.astype(np.float64) for each in arrays)
    return written.block(x.astype(np.float64), n_heads, *wide).astype(x.dtype)


def a_loop_over_branches(x, n_heads, *arrays):
    p = by_name(arrays)
    branches = [lambda read: attend(read, p, n_heads), lambda read: bend(read, p)]
    for number, branch in enumerate(branches, start=1):
        x = x + branch(norm_of(x, p, number))
    return x


class Block:
    def __call__(self, tokens, heads, *arrays):
        return written.block(tokens, heads, *arrays)


__all__ = ["EQUIVALENT", "RIGHT", "TRIVIAL", "WRONG"]

RIGHT: dict[str, Answer] = {
    "from the given parts": from_given_parts,
    "twelve names": twelve_names,
    "written out": written.block,
    "einsum, a loop over heads": einsum_and_heads_in_a_loop,
    "item by item": item_by_item,
    "float64 inside": in_float64,
    "a loop over branches": a_loop_over_branches,
    "an object with __call__": Block(),
    "a lambda": lambda x, h, *a: written.block(x, h, *a),
}


def misprint(x, p, H):
    h = x + attend(norm_of(x, p, 1), p, H)
    return x + bend(norm_of(h, p, 2), p)


def one_norm(x, p, H):
    h = x + attend(norm_of(x, p, 1), p, H)
    return h + bend(norm_of(h, p, 1), p)


def exchanged(x, p, H):
    h = x + attend(norm_of(x, p, 2), p, H)
    return h + bend(norm_of(h, p, 1), p)


def post_norm(x, p, H):
    h = norm_of(x + attend(x, p, H), p, 1)
    return norm_of(h + bend(h, p), p, 2)


def around_the_normed(x, p, H):
    x = norm_of(x, p, 1)
    x = x + attend(x, p, H)
    x = norm_of(x, p, 2)
    return x + bend(x, p)


def no_second_norm(x, p, H):
    h = x + attend(norm_of(x, p, 1), p, H)
    return h + bend(h, p)


def side_by_side(x, p, H):
    return x + attend(norm_of(x, p, 1), p, H) + bend(norm_of(x, p, 2), p)


def no_skip(x, p, H):
    return bend(norm_of(attend(norm_of(x, p, 1), p, H), p, 2), p)


def no_return(x, n_heads, *arrays):
    y = written.block(x, n_heads, *arrays)  # noqa: F841


def in_place(x, n_heads, *arrays):
    p = by_name(arrays)
    x += attend(norm_of(x, p, 1), p, n_heads)
    x += bend(norm_of(x, p, 2), p)
    return x


def three_axes(x, n_heads, *arrays):
    B, T, D = x.shape
    return written.block(x, n_heads, *arrays).reshape(B, T, D)


def gelu(x, p, H):
    h = x + attend(norm_of(x, p, 1), p, H)
    z = norm_of(h, p, 2) @ p["feed_forward.up.weight"].T + p["feed_forward.up.bias"]
    inner = z / (1 + np.exp(-1.702 * z))
    return h + inner @ p["feed_forward.down.weight"].T + p["feed_forward.down.bias"]


def of_the_package(x, n_heads, *arrays):
    from transformer_block.config import BlockConfig

    p = by_name(arrays)
    sizes = {"d_model": x.shape[-1], "n_heads": n_heads, "d_ff": len(p["feed_forward.up.bias"])}
    return OfThePackage(BlockConfig(**sizes), p)(x)


WRONG = {
    "the misprint": Wrong(variant(misprint), "second residual begins at x"),
    "one norm": Wrong(variant(one_norm), "first norm reused"),
    "norms exchanged": Wrong(variant(exchanged), "norms exchanged"),
    "post-norm": Wrong(variant(post_norm), "post-norm"),
    "around the normed": Wrong(variant(around_the_normed), "residual around the normed x"),
    "no second norm": Wrong(variant(no_second_norm), "no norm before the feed-forward part"),
    "side by side": Wrong(variant(side_by_side), "feed-forward part reads x"),
    "no skip": Wrong(variant(no_skip), "no skip"),
    "one head": Wrong(lambda x, H, *arrays: written.block(x, 1, *arrays), "one head"),
    "no return": Wrong(no_return, "no return"),
    "in place": Wrong(in_place, None),
    "three axes": Wrong(three_axes, None),
    "GELU": Wrong(variant(gelu), None),
    "always float64": Wrong(lambda *given: written.block(*given).astype(np.float64), None),
    "always float32": Wrong(lambda *given: written.block(*given).astype(np.float32), None),
    "a stage too": Wrong(lambda x, *given: (x, written.block(x, *given)), None),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda x, n_heads, *arrays: x,
    "zeros": lambda x, n_heads, *arrays: np.zeros_like(x),
    "ones": lambda x, n_heads, *arrays: np.ones_like(x),
    "noise": lambda x, n_heads, *arrays: np.random.default_rng(0).normal(size=x.shape).astype(x.dtype),
    "the last array": lambda x, n_heads, *arrays: x + arrays[-1],
    "a norm": lambda x, n_heads, *arrays: written.norm(x, arrays[0], arrays[1]),
}
