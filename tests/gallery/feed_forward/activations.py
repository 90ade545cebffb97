"""Answers to `feed_forward.activations`."""

import math

import numpy as np
from scipy import special

from tests.gallery.answers import Answer, Wrong


def erf(u):
    return np.vectorize(math.erf)(u).astype(u.dtype)


def three_lines(u):
    gelu = u * (1 + erf(u / np.sqrt(2).astype(u.dtype))) / 2
    tanh = 0.5 * u * (1 + np.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3)))
    return np.maximum(u, 0), gelu, tanh


def by_scipy(u):
    return u * (u > 0), (u * special.ndtr(u)).astype(u.dtype), three_lines(u)[2]


def by_erfc(u):
    below = np.vectorize(math.erfc)(-u / math.sqrt(2)) / 2
    return np.where(u < 0, 0, u).astype(u.dtype), (u * below).astype(u.dtype), three_lines(u)[2]


def by_logistic(u):
    """½(1 + tanh z) is the logistic function of 2z."""
    z = 2 * np.sqrt(2 / np.pi).astype(u.dtype) * u * (1 + 0.044715 * u * u)
    with np.errstate(over="ignore"):
        return (np.abs(u) + u) / 2, three_lines(u)[1], u / (1 + np.exp(-z))


def loops(u):
    out = [np.zeros_like(u) for _ in range(3)]
    for where in np.ndindex(u.shape):
        v = float(u[where])
        out[0][where] = v if v > 0 else 0.0
        out[1][where] = v * (1 + math.erf(v / 2**0.5)) / 2
        out[2][where] = v / 2 * (1 + math.tanh((2 / math.pi) ** 0.5 * (v + 0.044715 * v**3)))
    return out


def wider(u):
    return tuple(each.astype(u.dtype) for each in three_lines(u.astype(np.float64)))


class Bends:
    def __call__(self, sums):
        return three_lines(sums)


RIGHT: dict[str, Answer] = {
    "three lines": three_lines,
    "scipy's normal distribution": by_scipy,
    "erfc": by_erfc,
    "a logistic function": by_logistic,
    "loops, in a list": loops,
    "float64 inside": wider,
    "an object with __call__": Bends(),
}


def with_gelu(gelu):
    return lambda u: (three_lines(u)[0], gelu(u), three_lines(u)[2])


def with_tanh(tanh):
    return lambda u: (*three_lines(u)[:2], tanh(u))


def no_return(u):
    three_lines(u)


def in_place(u):
    answers = three_lines(u.copy())
    u *= u > 0
    return answers


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "exact twice": Wrong(lambda u: three_lines(u)[:2] + three_lines(u)[1:2], "one GELU twice: the exact one"),
    "tanh twice": Wrong(with_gelu(lambda u: three_lines(u)[2]), "one GELU twice: the one by tanh"),
    "exchanged": Wrong(lambda u: [three_lines(u)[i] for i in (0, 2, 1)], "the two GELUs exchanged"),
    "erf(u)": Wrong(with_gelu(lambda u: u * (1 + erf(u)) / 2), "√2 left out of the error function"),
    "u erf": Wrong(
        with_gelu(lambda u: u * erf(u / math.sqrt(2))), "error function for the normal distribution"
    ),
    "1.702": Wrong(
        with_gelu(lambda u: u / (1 + np.exp(-1.702 * u))), "a logistic function for the normal distribution"
    ),
    "SiLU": Wrong(with_gelu(lambda u: u / (1 + np.exp(-u))), "SiLU for GELU"),
    "no factor": Wrong(with_tanh(lambda u: 0.5 * u * (1 + np.tanh(u + 0.044715 * u**3))), "√(2/π) left out"),
    "no cubic": Wrong(
        with_tanh(lambda u: 0.5 * u * (1 + np.tanh(math.sqrt(2 / math.pi) * u))), "cubic term left out"
    ),
    "half forgotten": Wrong(with_gelu(lambda u: u * (1 + erf(u / math.sqrt(2)))), None),
    "leaky": Wrong(lambda u: (np.where(u > 0, u, 0.01 * u).astype(u.dtype), *three_lines(u)[1:]), None),
    "always float64": Wrong(lambda u: three_lines(u.astype(float)), None),
    "changes u": Wrong(in_place, None),
    "two of three": Wrong(lambda u: three_lines(u)[:2], None),
    "rounded": Wrong(lambda u: tuple(each.round(3) for each in three_lines(u)), None),
}

TRIVIAL: dict[str, Answer] = {
    "u three times": lambda u: (u, u, u),
    "zeros": lambda u: (np.zeros_like(u),) * 3,
    "ReLU three times": lambda u: (np.maximum(u, 0),) * 3,
    "halves": lambda u: (u / 2,) * 3,
    "not a number": lambda u: (np.full_like(u, np.nan),) * 3,
}
