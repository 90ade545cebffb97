"""Answers to `audit.post_in_pre`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong
from tests.gallery.block.written import attend, bend, by_name, norm_of
from transformer_block.in_numpy.attention import attention
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.in_numpy.layer_norm import layer_norm


def pre_block(x, p, H):
    h = x + attend(norm_of(x, p, 1), p, H)
    return h + bend(norm_of(h, p, 2), p)


def post_block(x, p, H):
    h = norm_of(x + attend(x, p, H), p, 1)
    return norm_of(h + bend(h, p), p, 2)


def largest(difference):
    return np.abs(difference).max()


def verdict(pre, post):
    return "pre" if pre == 0 else "post" if post == 0 else "neither"


def told(pre=pre_block, post=post_block, gap=largest, verdict=verdict):
    def whose(x, y, n_heads, *arrays):
        p = by_name(arrays)
        found = [round(float(gap(block(x, p, n_heads) - y)), 3) for block in (pre, post)]
        return {"pre": found[0], "post": found[1], "placement": verdict(*found)}

    return whose


def from_given_parts(x, y, n_heads, *arrays):
    n1, n2 = arrays[:2], arrays[6:8]
    attend_to, widen = arrays[2:6], arrays[8:]
    h = x + attention(layer_norm(x, *n1), *attend_to, n_heads)
    pre = h + feed_forward(layer_norm(h, *n2), *widen)
    h = layer_norm(x + attention(x, *attend_to, n_heads), *n1)
    post = layer_norm(h + feed_forward(h, *widen), *n2)
    gaps = {"pre": np.round(largest(pre - y), 3), "post": np.round(largest(post - y), 3)}
    fits = [name for name, gap in gaps.items() if not gap]
    return {**gaps, "placement": "".join(fits) or "neither"}


def in_float64(x, y, n_heads, *arrays):
    return told()(*(np.float64(each) for each in (x, y)), n_heads, *(np.float64(each) for each in arrays))


def by_closeness(x, y, n_heads, *arrays):
    p = by_name(arrays)
    table = {"placement": "neither"}
    for name, block in (("pre", pre_block), ("post", post_block)):
        out = block(x, p, n_heads)
        table[name] = round(float(largest(out - y)), 3)
        if np.allclose(out, y, rtol=1e-4, atol=1e-4):
            table["placement"] = name
    return table


def sorted_gaps(x, y, n_heads, *arrays):
    table = told()(x, y, n_heads, *arrays)
    least, name = min((table[name], name) for name in ("pre", "post"))
    return table | {"placement": name if least < 0.001 else "neither"}


class Whose:
    def __call__(self, *given):
        return told()(*given)


RIGHT: dict[str, Answer] = {
    "written out": told(),
    "from the given parts": from_given_parts,
    "in float64": in_float64,
    "by closeness": by_closeness,
    "the least gap, if it is none": sorted_gaps,
    "an object with __call__": Whose(),
}


def half(x, p, H):
    h = norm_of(x + attend(x, p, H), p, 1)
    return h + bend(h, p)


def updates_normed(x, p, H):
    h = x + norm_of(attend(x, p, H), p, 1)
    return h + norm_of(bend(h, p), p, 2)


def exchanged(*given):
    table = told()(*given)
    return table | {"pre": table["post"], "post": table["pre"]}


def no_return(*given):
    told()(*given)


def as_text(*given):
    return {name: str(value) for name, value in told()(*given).items()}


WRONG = {
    "norms on the updates": Wrong(told(post=updates_normed), "norms on the updates"),
    "no return": Wrong(no_return, "no return"),
    "the nearer": Wrong(
        told(verdict=lambda pre, post: "pre" if pre < post else "post"), "the nearer of the two"
    ),
    "loose": Wrong(
        told(verdict=lambda pre, post: "post" if post < 0.1 else "pre" if pre < 0.1 else "neither"),
        "near is taken for equal",
    ),
    "bits": Wrong(told(verdict=lambda pre, post: "neither"), "never a fit"),
    "mean": Wrong(told(gap=lambda difference: np.abs(difference).mean()), "mean for largest"),
    "signed": Wrong(told(gap=np.max), "differences without their size"),
    "exchanged": Wrong(exchanged, "pre and post exchanged"),
    "half a post-norm": Wrong(told(post=half), "post-norm without its second norm"),
    "length for largest": Wrong(told(gap=np.linalg.norm), None),
    "as text": Wrong(as_text, None),
    "pre for post": Wrong(told(post=pre_block), None),
}

TRIVIAL: dict[str, Answer] = {
    "always post": lambda x, y, n_heads, *p: {"pre": 0.5, "post": 0.0, "placement": "post"},
    "always neither": lambda x, y, n_heads, *p: {"pre": 0.5, "post": 0.5, "placement": "neither"},
    "x and y": lambda x, y, n_heads, *p: {"pre": largest(x - y), "post": largest(x - y), "placement": "post"},
    "an empty dict": lambda x, y, n_heads, *p: {},
    "y": lambda x, y, n_heads, *p: y,
}
