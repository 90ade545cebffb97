"""Answers to `layer_norm.statistics`."""

import math
import sys
import warnings

import numpy as np

from tests.gallery.answers import Answer
from tests.gallery.layer_norm.wrong_statistics import WRONG
from transformer_block.in_numpy.layer_norm import statistics as from_the_package


def two_lines(x):
    mean = x.mean(axis=-1, keepdims=True)
    return mean, ((x - mean) ** 2).mean(axis=-1, keepdims=True)


def numpys_own(x):
    return np.mean(x, axis=-1, keepdims=True), np.var(x, axis=-1, keepdims=True)


def none_for_the_axis(x):
    mean = np.mean(x, -1)[..., None]
    return mean, np.std(x, -1)[..., None] ** 2


def einsum(x):
    features = x.shape[-1]
    mean = np.einsum("...d->...", x)[..., np.newaxis] / features
    deviation = x - mean
    return mean, np.einsum("...d,...d->...", deviation, deviation)[..., np.newaxis] / features


def python_loops(x):
    mean, variance = np.zeros((*x.shape[:-1], 1), x.dtype), np.zeros((*x.shape[:-1], 1), x.dtype)
    for where in np.ndindex(x.shape[:-1]):
        total = x.dtype.type(0)
        for feature in x[where]:
            total = total + feature
        mean[where] = total / x.shape[-1]
        squares = x.dtype.type(0)
        for feature in x[where]:
            squares = squares + (feature - mean[where][0]) ** 2
        variance[where] = squares / x.shape[-1]
    return [mean, variance]


def exact_sums(x):
    shape = (*x.shape[:-1], 1)
    rows = [[float(feature) for feature in row] for row in x.reshape(-1, x.shape[-1])]
    means = [math.fsum(row) / len(row) for row in rows]
    variances = [
        math.fsum((each - mean) ** 2 for each in row) / len(row)
        for row, mean in zip(rows, means, strict=True)
    ]
    return np.reshape(means, shape), np.reshape(variances, shape)


def welford(x):
    mean, squares = np.zeros_like(x[..., :1]), np.zeros_like(x[..., :1])
    for count in range(1, x.shape[-1] + 1):
        feature = x[..., count - 1 : count]
        step = feature - mean
        mean = mean + step / count
        squares = squares + step * (feature - mean)
    return mean, squares / x.shape[-1]


def averaging_matrix(x):
    average = np.full((x.shape[-1], 1), 1 / x.shape[-1], x.dtype)
    mean = x @ average
    return mean, (x - mean) ** 2 @ average


def noisy(x):
    sys.stdout.write(f"{x.shape}\n")
    sys.stderr.write("careful\n")
    warnings.warn("a warning of my own", stacklevel=1)
    np.seterr(all="raise")
    np.random.seed(1)
    return numpys_own(x)


class Statistics:
    def __call__(self, tokens):
        return numpys_own(tokens)


__all__ = ["RIGHT", "TRIVIAL", "WRONG"]

RIGHT: dict[str, Answer] = {
    "two lines": two_lines,
    "numpy's own var": numpys_own,
    "None for the axis": none_for_the_axis,
    "einsum": einsum,
    "Python loops, in a list": python_loops,
    "exact sums in Python floats": exact_sums,
    "Welford's recurrence": welford,
    "a matrix that averages": averaging_matrix,
    "prints, warns, seeds": noisy,
    "a lambda": lambda x: (x.mean(-1, keepdims=True), x.var(-1, keepdims=True)),
    "an object with __call__": Statistics(),
    "the package's function": from_the_package,
}


TRIVIAL: dict[str, Answer] = {
    "x twice": lambda x: (x, x),
    "zeros": lambda x: (np.zeros_like(x[..., :1]), np.zeros_like(x[..., :1])),
    "ones": lambda x: (np.ones_like(x[..., :1]), np.ones_like(x[..., :1])),
    "the example, always": lambda x: (np.full_like(x[..., :1], 5.0), np.full_like(x[..., :1], 6.5)),
    "the first feature": lambda x: (x[..., :1], x[..., :1]),
    "not a number": lambda x: (np.full_like(x[..., :1], np.nan), np.full_like(x[..., :1], np.nan)),
}
