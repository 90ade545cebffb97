"""Answers to `norm_placement.sandwich`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong
from tests.gallery.block.written import norm
from transformer_block.in_numpy.layer_norm import layer_norm


def mended(x, gain_in, bias_in, up, down, gain_out, bias_out):
    read = layer_norm(x, gain_in, bias_in)
    update = np.maximum(read @ up.T, 0) @ down.T
    return x + layer_norm(update, gain_out, bias_out)


def one_line(x, a, b, up, down, c, d):
    return norm(np.maximum(norm(x, a, b) @ up.T, 0) @ down.T, c, d) + x


def einsum(x, a, b, up, down, c, d):
    inner = np.einsum("btd,fd->btf", norm(x, a, b), up)
    inner[inner < 0] = 0
    return x + norm(np.einsum("btf,df->btd", inner, down), c, d)


def transposed(x, a, b, up, down, c, d):
    columns = np.swapaxes(norm(x, a, b), -1, -2)
    update = down @ (up @ columns).clip(min=0)
    return x + norm(np.swapaxes(update, -1, -2), c, d)


def token_by_token(x, a, b, up, down, c, d):
    out = np.empty_like(x)
    for where in np.ndindex(x.shape[:-1]):
        inner = up @ norm(x[where], a, b)
        out[where] = x[where] + norm(down @ (inner * (inner > 0)), c, d)
    return out


def with_var(x, a, b, up, down, c, d):
    def n(v, gain, bias):
        centered = v - v.mean(-1, keepdims=True)
        return centered / np.sqrt(v.var(-1, keepdims=True) + 1e-5) * gain + bias

    return x + n(np.maximum(n(x, a, b) @ up.T, 0) @ down.T, c, d)


class Mended:
    def __call__(self, *given):
        return one_line(*given)


RIGHT: dict[str, Answer] = {
    "mended": mended,
    "one line": one_line,
    "einsum": einsum,
    "transposed": transposed,
    "token by token": token_by_token,
    "with var": with_var,
    "an object with __call__": Mended(),
}


def wired(rule):
    """An answer by a rule of x, the norm before, the branch, and the norm behind it."""

    def answer(x, a, b, up, down, c, d):
        return rule(
            x,
            lambda v: norm(v, a, b),
            lambda v: np.maximum(v @ up.T, 0) @ down.T,
            lambda v: norm(v, c, d),
        )

    return answer


def in_place(x, *given):
    x += mended(x, *given) - x
    return x


def no_return(*given):
    mended(*given)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "untouched": Wrong(wired(lambda x, n, f, m: n(x + f(n(x)))), "as it was given"),
    "behind the add": Wrong(wired(lambda x, n, f, m: m(f(n(x)) + x)), "norm behind the add"),
    "reused": Wrong(wired(lambda x, n, f, m: x + n(f(n(x)))), "first norm reused"),
    "exchanged": Wrong(wired(lambda x, n, f, m: x + n(f(m(x)))), "norms exchanged"),
    "pre-norm": Wrong(wired(lambda x, n, f, m: x + f(n(x))), "no norm behind the branch"),
    "no norm before": Wrong(wired(lambda x, n, f, m: x + m(f(x))), "no norm before the branch"),
    "both before": Wrong(wired(lambda x, n, f, m: x + f(m(n(x)))), "both norms before the branch"),
    "around the normed": Wrong(wired(lambda x, n, f, m: n(x) + m(f(n(x)))), "residual around the normed x"),
    "nothing added": Wrong(wired(lambda x, n, f, m: m(f(n(x)))), "nothing added"),
    "in place": Wrong(in_place, None),
    "always float64": Wrong(lambda x, *given: mended(x.astype(float), *given), None),
    "three norms": Wrong(wired(lambda x, n, f, m: m(x + m(f(n(x))))), None),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda x, *given: x,
    "zeros": lambda x, *given: np.zeros_like(x),
    "a norm": lambda x, a, b, *given: norm(x, a, b),
    "x and the last bias": lambda x, *given: x + given[-1],
    "noise": lambda x, *given: np.random.default_rng(0).normal(size=x.shape),
}
