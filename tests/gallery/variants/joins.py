"""Answers to `variants.joins`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def gather(n, mix):
    return mix @ n


def bend(n, up, down):
    return np.maximum(n @ up.T, 0) @ down.T


def by_rules(rule, x, mix, up, down, scales, L):
    if rule == "parallel":
        n = norm(x)
        return x + gather(n, mix) + bend(n, up, down)
    if rule == "layer_scale":
        h = x + scales[0] * gather(norm(x), mix)
        return h + scales[1] * bend(norm(h), up, down)
    a = (2 * L) ** 0.25
    h = norm(a * x + gather(x, mix))
    return norm(a * h + bend(h, up, down))


def by_dict(rule, x, mix, up, down, scales, L):
    branches = (lambda n: np.einsum("ts,...sd->...td", mix, n)), (lambda n: bend(n, up, down))

    def parallel(x):
        return x + sum(branch(norm(x)) for branch in branches)

    def layer_scale(x):
        for row, branch in zip(scales, branches, strict=True):
            x = x + branch(norm(x)) * row
        return x

    def deep_norm(x):
        for branch in branches:
            x = norm(x * float(2 * L) ** 0.25 + branch(x))
        return x

    return {"parallel": parallel, "layer_scale": layer_scale, "deep_norm": deep_norm}[rule](x)


def by_updates(rule, x, mix, up, down, scales, L):
    y, read = x.copy(), norm(x)
    for number in (0, 1):
        if rule == "layer_scale":
            read = norm(y)
        elif rule == "deep_norm":
            read = y
        update = bend(read, up, down) if number else gather(read, mix)
        if rule == "layer_scale":
            y = y + update * scales[number]
        elif rule == "parallel":
            y = y + update
        else:
            y = norm(np.sqrt(np.sqrt(np.array(2 * L, x.dtype))) * y + update)
    return y


def with_diagonal(rule, x, mix, up, down, scales, L):
    if rule != "layer_scale":
        return by_rules(rule, x, mix, up, down, scales, L)
    h = x + gather(norm(x), mix) @ np.diag(scales[0])
    return h + bend(norm(h), up, scales[1][:, None] * down)


def in_float64(rule, x, mix, up, down, scales, L):
    wide = (each.astype(np.float64) for each in (x, mix, up, down, scales))
    return by_rules(rule, *wide, L).astype(x.dtype)


class Joined:
    def __call__(self, *given):
        return by_dict(*given)


RIGHT: dict[str, Answer] = {
    "by rules": by_rules,
    "by a dict of functions": by_dict,
    "update by update": by_updates,
    "with a diagonal": with_diagonal,
    "float64 inside": in_float64,
    "a lambda": lambda *given: by_rules(*given),
    "an object with __call__": Joined(),
}


def no_return(rule, x, mix, up, down, scales, L):
    by_rules(rule, x, mix, up, down, scales, L)


def but(wrong_rule, make):
    """Right, but for one rule: `make(x, g, b, scales, L)` with both branches as functions."""

    def answer(rule, x, mix, up, down, scales, L):
        if rule != wrong_rule:
            return by_rules(rule, x, mix, up, down, scales, L)
        return make(x, lambda n: gather(n, mix), lambda n: bend(n, up, down), scales, L)

    return answer


def pre(x, g, b, first=1, second=1):
    h = x + first * g(norm(x))
    return h + second * b(norm(h))


def post(x, g, b, first=1, second=1):
    h = norm(first * x + g(x))
    return norm(second * h + b(h))


def scaled_stream(x, g, b, scales, L):
    h = scales[0] * (x + g(norm(x)))
    return scales[1] * (h + b(norm(h)))


def scaled_inputs(x, g, b, scales, L):
    h = x + g(norm(x) * scales[0])
    return h + b(norm(h) * scales[1])


def bare(x, g, b, scales, L):
    h = x + scales[0] * g(x)
    return h + scales[1] * b(h)


def sum_made_louder(x, g, b, scales, L):
    a = (2 * L) ** 0.25
    h = norm(a * (x + g(x)))
    return norm(a * (h + b(h)))


def louder_pre(x, g, b, scales, L):
    a = (2 * L) ** 0.25
    h = a * x + g(norm(x))
    return a * h + b(norm(h))


def in_place(rule, x, mix, up, down, scales, L):
    y = by_rules(rule, x, mix, up, down, scales, L)
    x[...] = y
    return y


WRONG: dict[str, Wrong] = {
    "no return": Wrong(no_return, "no return"),
    "sequential": Wrong(but("parallel", lambda x, g, b, s, L: pre(x, g, b)), "one branch after the other"),
    "chained": Wrong(
        but("parallel", lambda x, g, b, s, L: x + g(norm(x)) + b(g(norm(x)))), "second branch reads the first"
    ),
    "no norm": Wrong(but("parallel", lambda x, g, b, s, L: x + g(x) + b(x)), "no norm in the parallel block"),
    "half a norm": Wrong(
        but("parallel", lambda x, g, b, s, L: x + g(norm(x)) + b(x)), "second branch without a norm"
    ),
    "normed stream": Wrong(
        but("parallel", lambda x, g, b, s, L: norm(x) + g(norm(x)) + b(norm(x))),
        "residual around the normed x",
    ),
    "two streams": Wrong(
        but("parallel", lambda x, g, b, s, L: (x + g(norm(x))) + (x + b(norm(x)))), "x added twice"
    ),
    "no scales": Wrong(but("layer_scale", lambda x, g, b, s, L: pre(x, g, b)), "scales left out"),
    "first row": Wrong(
        but("layer_scale", lambda x, g, b, s, L: pre(x, g, b, s[0], s[0])), "one row for both branches"
    ),
    "rows": Wrong(but("layer_scale", lambda x, g, b, s, L: pre(x, g, b, s[1], s[0])), "rows exchanged"),
    "stream": Wrong(but("layer_scale", scaled_stream), "stream scaled too"),
    "inputs": Wrong(but("layer_scale", scaled_inputs), "scales before the branch"),
    "bare": Wrong(but("layer_scale", bare), "no norms with LayerScale"),
    "quiet": Wrong(but("deep_norm", lambda x, g, b, s, L: post(x, g, b)), "stream not louder"),
    "root": Wrong(
        but("deep_norm", lambda x, g, b, s, L: post(x, g, b, (2 * L) ** 0.5, (2 * L) ** 0.5)),
        "square root of 2L",
    ),
    "of L": Wrong(
        but("deep_norm", lambda x, g, b, s, L: post(x, g, b, L**0.25, L**0.25)), "fourth root of L"
    ),
    "quieter": Wrong(
        but("deep_norm", lambda x, g, b, s, L: post(x, g, b, (2 * L) ** -0.25, (2 * L) ** -0.25)),
        "stream quieter",
    ),
    "once": Wrong(but("deep_norm", lambda x, g, b, s, L: post(x, g, b, (2 * L) ** 0.25)), "first add alone"),
    "sum": Wrong(but("deep_norm", sum_made_louder), "factor on the sum"),
    "before": Wrong(but("deep_norm", louder_pre), "pre-norm with a louder stream"),
    "parallel always": Wrong(lambda rule, *given: by_rules("parallel", *given), None),
    "only two rules": Wrong(
        lambda rule, *given: by_rules(rule, *given) if rule != "deep_norm" else None, None
    ),
    "changes x": Wrong(in_place, None),
    "always float64": Wrong(lambda rule, x, *rest: by_rules(rule, x.astype(float), *rest), None),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda rule, x, *rest: x,
    "the norm of x": lambda rule, x, *rest: norm(x),
    "zeros": lambda rule, x, *rest: np.zeros_like(x),
    "the mix": lambda rule, x, mix, *rest: mix @ x,
    "noise": lambda rule, x, *rest: np.random.default_rng(0).normal(size=x.shape).astype(x.dtype),
}
