"""Answers to `feed_forward.swiglu`."""

import math

import numpy as np

from tests.gallery.answers import Answer, Wrong


def silu(u):
    with np.errstate(over="ignore"):
        return u / (1 + np.exp(-u))


def mended(x, gate, up, down):
    return (silu(x @ gate.T) * (x @ up.T)) @ down.T


def einsum(x, gate, up, down):
    opened, wide = np.einsum("...d,fd->...f", x, gate), np.einsum("...d,fd->...f", x, up)
    return np.einsum("...f,...f,df->...d", silu(opened), wide, down)


def by_tanh(x, gate, up, down):
    u = np.matmul(x, gate.T)
    return (0.5 * u * (1 + np.tanh(u / 2)) * np.matmul(x, up.T)) @ down.T


def neuron_by_neuron(x, gate, up, down):
    y = np.zeros_like(x)
    for g, u, d in zip(gate, up, down.T, strict=True):
        y = y + silu((x * g).sum(-1, keepdims=True)) * (x * u).sum(-1, keepdims=True) * d
    return y


def by_columns(x, gate, up, down):
    columns = x.reshape(-1, x.shape[-1]).T
    return (down @ (silu(gate @ columns) * (up @ columns))).T.reshape(x.shape)


def one_product(x, gate, up, down):
    opened, wide = np.split(x @ np.concatenate([gate, up]).T, 2, axis=-1)
    return (wide * silu(opened)) @ down.T


def wider(x, gate, up, down):
    return mended(*(each.astype(np.float64) for each in (x, gate, up, down))).astype(x.dtype)


class SwiGLU:
    def __call__(self, x, w1, w3, w2):
        return mended(x, w1, w3, w2)


RIGHT: dict[str, Answer] = {
    "mended": mended,
    "einsum": einsum,
    "by tanh": by_tanh,
    "neuron by neuron": neuron_by_neuron,
    "by columns": by_columns,
    "one product for both": one_product,
    "float64 inside": wider,
    "an object with __call__": SwiGLU(),
}


def sigma(u):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-u))


def gated(bend, of_up=lambda u: u):
    return lambda x, gate, up, down: ((bend(x @ gate.T) * of_up(x @ up.T)) @ down.T).astype(x.dtype)


def gelu(u):
    return u * (1 + np.vectorize(math.erf)(u / 2**0.5)) / 2


def no_return(x, gate, up, down):
    mended(x, gate, up, down)


def in_place(x, gate, up, down):
    y = mended(x, gate, up, down)
    x += 1
    return y


def fragile(x, gate, up, down):
    u = x @ gate.T
    return (u * np.exp(u) / (1 + np.exp(u)) * (x @ up.T)) @ down.T


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "as it stood": Wrong(gated(lambda u: u, sigma), "the gate as misprinted"),
    "sigma": Wrong(gated(sigma), "the logistic function for SiLU"),
    "exchanged": Wrong(gated(lambda u: u, silu), "gate and up exchanged"),
    "GELU": Wrong(gated(gelu), "GELU for SiLU"),
    "ReLU": Wrong(gated(lambda u: np.maximum(u, 0)), "ReLU for SiLU"),
    "both bent": Wrong(gated(silu, silu), "SiLU on both sums"),
    "bilinear": Wrong(gated(lambda u: u), "no bend at all"),
    "tanh": Wrong(gated(np.tanh), None),
    "added": Wrong(lambda x, g, u, d: (silu(x @ g.T) + x @ u.T) @ d.T, None),
    "overflows": Wrong(fragile, None),
    "always float64": Wrong(lambda x, g, u, d: mended(x.astype(float), g, u, d), None),
    "changes x": Wrong(in_place, None),
    "not transposed": Wrong(lambda x, g, u, d: (silu(x @ g) * (x @ u)) @ d, None),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda x, g, u, d: x,
    "zeros": lambda x, g, u, d: np.zeros_like(x),
    "ones": lambda x, g, u, d: np.ones_like(x),
    "SiLU of x": lambda x, g, u, d: silu(x),
    "noise": lambda x, g, u, d: np.random.default_rng(0).normal(size=x.shape).astype(x.dtype),
}
