"""Wrong answers to `layer_norm.statistics`."""

import numpy as np
import torch

from tests.gallery.answers import Wrong


def right(x):
    return x.mean(-1, keepdims=True), x.var(-1, keepdims=True)


def from_unbiased_std(x):
    mean = x.mean(axis=-1, keepdims=True)
    return mean, x.std(axis=-1, ddof=1, keepdims=True) ** 2


def sum_over_less_one(x):
    mean = x.mean(axis=-1, keepdims=True)
    return mean, ((x - mean) ** 2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1)


def one_pass(x):
    mean = x.mean(axis=-1, keepdims=True)
    return mean, (x * x).mean(axis=-1, keepdims=True) - mean**2


def summed_squares(x):
    mean = x.mean(axis=-1, keepdims=True)
    return mean, ((x - mean) ** 2).sum(axis=-1, keepdims=True)


def absolute_deviation(x):
    mean = x.mean(axis=-1, keepdims=True)
    return mean, np.abs(x - mean).mean(axis=-1, keepdims=True)


def in_place(x):
    mean = x.mean(axis=-1, keepdims=True)
    x -= mean
    return mean, (x**2).mean(axis=-1, keepdims=True)


def no_return(x):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)  # noqa: F841


def no_keepdims(x):
    mean = x.mean(-1)
    return mean, ((x - mean) ** 2).mean(-1)


def keepdims_in_the_second(x):
    m = np.mean(x, axis=-1)
    return m, np.mean((m - x) ** 2, axis=-1, keepdims=True)


def over_len(x):
    mean = x.sum(axis=-1, keepdims=True) / len(x)
    return mean, ((x - mean) ** 2).sum(axis=-1, keepdims=True) / len(x)


def variance_over_len(x):
    mean = x.mean(axis=-1, keepdims=True)
    return mean, ((x - mean) ** 2).sum(axis=-1, keepdims=True) / len(x)


def three_sizes(x):
    B, T, D = x.shape
    mean = x.sum(-1).reshape(B, T, 1) / D
    return mean, ((x - mean) ** 2).sum(-1).reshape(B, T, 1) / D


def axes_added_in_front(x):
    return x.mean(-1)[:, :, None], x.var(-1)[:, :, None]


def nested_loops(x):
    mean, variance = np.zeros((*x.shape[:2], 1), x.dtype), np.zeros((*x.shape[:2], 1), x.dtype)
    for b in range(len(x)):
        for t in range(len(x[b])):
            mean[b, t, 0], variance[b, t, 0] = x[b, t].mean(), x[b, t].var()
    return mean, variance


def copies(x):
    return tuple(np.broadcast_to(each, x.shape) for each in right(x))


def in_dtype(dtype):
    return lambda x: tuple(each.astype(dtype) for each in right(x))


def rounded(x):
    mean, variance = right(x)
    return mean.round(3), variance.round(3)


WRONG = {
    "divides by D - 1": Wrong(sum_over_less_one, "sample variance"),
    "squares std(ddof=1)": Wrong(from_unbiased_std, "sample variance"),
    "root of the variance": Wrong(
        lambda x: (x.mean(-1, keepdims=True), np.sqrt(x.var(-1, keepdims=True))),
        "standard deviation for variance",
    ),
    "axis -2": Wrong(
        lambda x: (x.mean(axis=-2, keepdims=True), x.var(axis=-2, keepdims=True)),
        "statistics over the tokens",
    ),
    "axis 0": Wrong(
        lambda x: (x.mean(axis=0, keepdims=True), x.var(axis=0, keepdims=True)),
        "statistics over the first axis",
    ),
    "axis 1": Wrong(
        lambda x: (x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)), "statistics over axis 1"
    ),
    "no axis": Wrong(lambda x: (np.mean(x), np.var(x)), "statistics over the whole array"),
    "no keepdims": Wrong(lambda x: (np.mean(x, -1), np.var(x, -1)), "last axis dropped"),
    "mean of the squares": Wrong(
        lambda x: (x.mean(-1, keepdims=True), (x**2).mean(-1, keepdims=True)), "mean not subtracted"
    ),
    "the two exchanged": Wrong(lambda x: right(x)[::-1], "variance before mean"),
    "one pass": Wrong(one_pass, "one-pass variance"),
    "no axis, keepdims": Wrong(
        lambda x: (x.mean(keepdims=True), x.var(keepdims=True)), "statistics over the whole array"
    ),
    "no return": Wrong(no_return, "no return"),
    "no keepdims before the difference": Wrong(no_keepdims, "mean without its last axis"),
    "keepdims in the second mean alone": Wrong(keepdims_in_the_second, "mean without its last axis"),
    "keepdims in the mean alone": Wrong(
        lambda x: (x.mean(-1, keepdims=True), x.var(-1)), "last axis of the variance dropped"
    ),
    "sum, not mean, of the squares": Wrong(summed_squares, "sum of the squares"),
    "absolute deviations": Wrong(absolute_deviation, "mean absolute deviation"),
    "len(x) for D": Wrong(over_len, "sum divided by len(x)"),
    "len(x) for D in the variance": Wrong(variance_over_len, "sum divided by len(x)"),
    "axis 2": Wrong(lambda x: (x.mean(2, keepdims=True), x.var(2, keepdims=True)), None),
    "axes -2 and -1": Wrong(
        lambda x: (x.mean((-2, -1), keepdims=True), x.var((-2, -1), keepdims=True)),
        "statistics over two axes",
    ),
    "axes 1 and 2": Wrong(
        lambda x: (x.mean((1, 2), keepdims=True), x.var((1, 2), keepdims=True)), "statistics over two axes"
    ),
    "three sizes": Wrong(three_sizes, None),
    "axes added in front": Wrong(axes_added_in_front, None),
    "nested loops": Wrong(nested_loops, None),
    "copied along the features": Wrong(copies, "statistics copied along the features"),
    "always float32": Wrong(in_dtype(np.float32), None),
    "always float16": Wrong(in_dtype(np.float16), None),
    "masked arrays": Wrong(lambda x: tuple(map(np.ma.masked_array, right(x))), None),
    "tensors": Wrong(lambda x: tuple(map(torch.from_numpy, right(x))), None),
    "changes x": Wrong(in_place, None),
    "rounds": Wrong(rounded, None),
    "the mean alone": Wrong(lambda x: x.mean(-1, keepdims=True), None),
    "one array of both": Wrong(lambda x: np.concatenate(right(x), axis=-1), None),
    "raises on a single token": Wrong(lambda x: right(x) if x.shape[1] else None, None),
}
