"""Answers to `precision_and_modes.variance`."""

import math
import sys
import warnings

import numpy as np

from block_course.diagnosis import NO_RETURN
from tests.gallery.answers import Answer, Wrong


def wide(x):
    return x.astype(np.promote_types(x.dtype, np.float32))


def two_passes(x):
    deviation = x - x.mean(axis=-1, keepdims=True)
    return (deviation**2).mean(axis=-1)


def in_float64(x):
    return two_passes(x.astype(np.float64))


def numpys_own(x):
    return np.var(x, axis=-1, dtype=np.float64)


def subtracted_twice(x):
    x = wide(x)
    deviation = x - x.mean(axis=-1, keepdims=True)
    return two_passes(deviation)


def corrected(x):
    x = wide(x)
    deviation = x - x.mean(axis=-1, keepdims=True)
    return (deviation**2).mean(axis=-1) - deviation.mean(axis=-1) ** 2


def from_the_first_feature(x):
    x = wide(x)
    return two_passes(x - x[..., :1])


def in_exact_sums(x):
    result = np.empty(x.shape[:-1])
    for where in np.ndindex(result.shape):
        token = [float(each) for each in x[where]]
        mean = math.fsum(token) / len(token)
        result[where] = math.fsum((each - mean) ** 2 for each in token) / len(token)
    return result


def einsum(x):
    x = x.astype(float)
    deviation = x - np.einsum("btd->bt", x)[..., None] / x.shape[-1]
    return np.einsum("btd,btd->bt", deviation, deviation) / x.shape[-1]


def by_pairs(x):
    x = wide(x)
    return ((x[..., :, None] - x[..., None, :]) ** 2).mean(axis=(-2, -1)) / 2


def kept_in_float32_where_it_came(x):
    return in_float64(x).astype(np.promote_types(x.dtype, np.float32))


def noisy(x):
    sys.stdout.write("here\n")
    warnings.warn("a warning of my own", stacklevel=1)
    np.seterr(all="raise")
    return in_float64(x)


class Variance:
    def __call__(self, tokens):
        return numpys_own(tokens)


RIGHT: dict[str, Answer] = {
    "in the widest format": lambda x: np.var(x.astype(np.longdouble), axis=-1),
    "in float64": in_float64,
    "numpy's own, told to be wide": numpys_own,
    "the mean subtracted twice": subtracted_twice,
    "corrected by what is left": corrected,
    "from the first feature": from_the_first_feature,
    "exact sums": in_exact_sums,
    "einsum": einsum,
    "half the mean square of all pairs": by_pairs,
    "narrowed to float32": kept_in_float32_where_it_came,
    "prints and warns": noisy,
    "an object with __call__": Variance(),
    "a lambda": lambda x: x.astype(float).var(-1),
}


def no_return(x):
    in_float64(x)


def in_place(x):
    before = in_float64(x)
    x -= x.mean(axis=-1, keepdims=True)
    return before


def shortcut(x):
    return (x * x).mean(axis=-1) - x.mean(axis=-1) ** 2


def widened_for_half(x):
    return two_passes(wide(x))


def narrowed(x):
    return in_float64(x).astype(x.dtype)


WRONG: dict[str, Wrong] = {
    "no return": Wrong(no_return, NO_RETURN),
    "ddof=1": Wrong(lambda x: x.astype(float).var(axis=-1, ddof=1), "sample variance"),
    "std": Wrong(lambda x: x.astype(float).std(axis=-1), "standard deviation for variance"),
    "mean of squares": Wrong(lambda x: (x.astype(float) ** 2).mean(axis=-1), "mean not subtracted"),
    "axis -2": Wrong(lambda x: x.astype(float).var(axis=-2), "over the positions"),
    "axis 1": Wrong(lambda x: x.astype(float).var(axis=1), "over the positions"),
    "the shortcut": Wrong(shortcut, "shortcut"),
    "the shortcut, wider": Wrong(lambda x: shortcut(wide(x)), "shortcut in float32"),
    "the shortcut in float64": Wrong(
        lambda x: shortcut(x.astype(np.float64)), "too coarse for a mean of millions"
    ),
    "all in float32": Wrong(
        lambda x: np.var(x.astype(np.float32), axis=-1), "too coarse for a mean of millions"
    ),
    "var": Wrong(lambda x: x.var(axis=-1), "two passes in x's own format"),
    "two passes as they come": Wrong(two_passes, "two passes in x's own format"),
    "two passes in float32": Wrong(widened_for_half, "mean off by a step"),
    "narrowed again": Wrong(narrowed, "squares in float16"),
    "a batch's": Wrong(lambda x: x.astype(float).var(), None),
    "always float32": Wrong(lambda x: subtracted_twice(x.astype(np.float32)), None),
    "in place": Wrong(in_place, None),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda x: np.zeros(x.shape[:-1]),
    "ones": lambda x: np.ones(x.shape[:-1]),
    "x": lambda x: x,
    "the first feature": lambda x: x[..., 0],
    "noise": lambda x: np.random.default_rng(0).random(x.shape[:-1]),
}
