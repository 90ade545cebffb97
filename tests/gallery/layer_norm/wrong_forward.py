"""Wrong answers to `layer_norm.forward`."""

import functools

import numpy as np
import torch

from tests.gallery.answers import Wrong


def right(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta


def sample_variance(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).sum(-1, keepdims=True) / (x.shape[-1] - 1)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


def with_std(x, gamma, beta, eps=1e-5, ddof=0):
    return gamma * (x - x.mean(-1, keepdims=True)) / (x.std(-1, ddof=ddof, keepdims=True) + eps) + beta


def fixed_eps(x, gamma, beta, eps=1e-5, *, fixed):
    return right(x, gamma, beta, fixed)


def over(axis):
    def answer(x, gamma, beta, eps=1e-5):
        mean, variance = np.mean(x, axis=axis, keepdims=True), np.var(x, axis=axis, keepdims=True)
        return gamma * ((x - mean) / np.sqrt(variance + eps)) + beta

    return answer


def batch_norm(x, gamma, beta, eps=1e-5):
    flat = x.reshape(-1, x.shape[-1])
    if x.ndim == 1:
        return np.zeros_like(x) * gamma + beta
    return ((flat - flat.mean(0)) / np.sqrt(flat.var(0) + eps) * gamma + beta).reshape(x.shape)


def plain(x, eps):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


def rms_norm(x, gamma, beta, eps=1e-5):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * gamma + beta


def one_pass(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    variance = (x**2).mean(-1, keepdims=True) - mean**2
    return (x - mean) / np.sqrt(variance + eps) * gamma + beta


def changes_x(x, gamma, beta, eps=1e-5):
    x -= x.mean(-1, keepdims=True)
    return gamma * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) + beta


def absolute_deviation(x, gamma, beta, eps=1e-5):
    deviation = x - x.mean(-1, keepdims=True)
    return gamma * deviation / (np.abs(deviation).mean(-1, keepdims=True) + eps) + beta


def no_return(x, gamma, beta, eps=1e-5):
    y = right(x, gamma, beta, eps)  # noqa: F841


def no_keepdims(x, gamma, beta, eps=1e-5):
    mean, variance = x.mean(-1), x.var(-1)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


def keepdims_in_the_mean(x, gamma, beta, eps=1e-5):
    deviation = x - x.mean(-1, keepdims=True)
    return gamma * deviation / np.sqrt((deviation**2).mean(-1) + eps) + beta


def over_len(x, gamma, beta, eps=1e-5):
    deviation = x - x.sum(-1, keepdims=True) / len(x)
    return gamma * deviation / np.sqrt((deviation**2).sum(-1, keepdims=True) / len(x) + eps) + beta


def variance_over_len(x, gamma, beta, eps=1e-5):
    deviation = x - x.mean(-1, keepdims=True)
    return gamma * deviation / np.sqrt((deviation**2).sum(-1, keepdims=True) / len(x) + eps) + beta


def sum_of_squares(x, gamma, beta, eps=1e-5):
    deviation = x - x.mean(-1, keepdims=True)
    return gamma * deviation / np.sqrt((deviation**2).sum(-1, keepdims=True) + eps) + beta


def root_of_absolute_deviation(x, gamma, beta, eps=1e-5):
    deviation = x - x.mean(-1, keepdims=True)
    return gamma * deviation / np.sqrt(np.abs(deviation).mean(-1, keepdims=True) + eps) + beta


def eps_twice(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / (np.sqrt(x.var(-1, keepdims=True) + eps) + eps) + beta


def root_of_std_plus_eps(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.std(-1, keepdims=True) + eps) + beta


def gamma_on_x(x, gamma, beta, eps=1e-5):
    return (gamma * x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta


def no_brackets(x, gamma, beta, eps=1e-5):
    return gamma * x - x.mean(-1, keepdims=True) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta


def three_sizes(x, gamma, beta, eps=1e-5):
    B, T, D = x.shape
    deviation = x - x.sum(-1).reshape(B, T, 1) / D
    return gamma * deviation / np.sqrt((deviation**2).sum(-1).reshape(B, T, 1) / D + eps) + beta


def axes_added_in_front(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1)[:, :, None]) / np.sqrt(x.var(-1)[:, :, None] + eps) + beta


def nested_loops(x, gamma, beta, eps=1e-5):
    y = np.zeros_like(x)
    for b in range(len(x)):
        for t in range(len(x[b])):
            y[b, t] = right(x[b, t], gamma, beta, eps)
    return y


WRONG = {
    "divides by D - 1": Wrong(sample_variance, "sample variance"),
    "std plus eps": Wrong(with_std, "eps outside the root"),
    "std(ddof=1) plus eps": Wrong(
        functools.partial(with_std, ddof=1), "sample variance, and eps outside the root"
    ),
    "no eps": Wrong(functools.partial(fixed_eps, fixed=0.0), "eps left out"),
    "eps fixed": Wrong(functools.partial(fixed_eps, fixed=1e-5), "eps fixed at 1e-5"),
    "eps 0.01": Wrong(functools.partial(fixed_eps, fixed=1e-2), "eps fixed at 1e-2"),
    "axis -2": Wrong(over(-2), "statistics over the tokens"),
    "axis 1": Wrong(over(1), "statistics over axis 1"),
    "axis 0": Wrong(over(0), "statistics over the first axis"),
    "no axis": Wrong(over(None), "statistics over the whole array"),
    "batch norm": Wrong(batch_norm, "batch statistics"),
    "gamma forgotten": Wrong(lambda x, gamma, beta, eps=1e-5: plain(x, eps) + beta, "gamma never applied"),
    "beta forgotten": Wrong(lambda x, gamma, beta, eps=1e-5: gamma * plain(x, eps), "beta never applied"),
    "both forgotten": Wrong(lambda x, gamma, beta, eps=1e-5: plain(x, eps), "gamma and beta never applied"),
    "gamma on beta too": Wrong(
        lambda x, gamma, beta, eps=1e-5: gamma * (plain(x, eps) + beta), "beta before gamma"
    ),
    "no root": Wrong(
        lambda x, gamma, beta, eps=1e-5: (
            gamma * (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + eps) + beta
        ),
        "divided by the variance",
    ),
    "centered only": Wrong(
        lambda x, gamma, beta, eps=1e-5: gamma * (x - x.mean(-1, keepdims=True)) + beta,
        "not divided by the spread",
    ),
    "RMSNorm": Wrong(rms_norm, "root mean square instead of the spread"),
    "mean left in": Wrong(
        lambda x, gamma, beta, eps=1e-5: gamma * x / np.sqrt(x.var(-1, keepdims=True) + eps) + beta,
        "mean not subtracted",
    ),
    "one pass": Wrong(one_pass, "one-pass variance"),
    "changes x": Wrong(changes_x, None),
    "float64 for float32": Wrong(lambda *given: right(*given).astype(np.float64), None),
    "no return": Wrong(no_return, "no return"),
    "no keepdims": Wrong(no_keepdims, "mean or variance without its last axis"),
    "keepdims in the mean alone": Wrong(keepdims_in_the_mean, "mean or variance without its last axis"),
    "len(x) for D": Wrong(over_len, "sum divided by len(x)"),
    "len(x) for D in the variance": Wrong(variance_over_len, "sum divided by len(x)"),
    "sum of the squares": Wrong(sum_of_squares, "sum of the squares"),
    "absolute deviations": Wrong(absolute_deviation, "mean absolute deviation"),
    "root of the absolute deviation": Wrong(root_of_absolute_deviation, "mean absolute deviation"),
    "eps twice": Wrong(eps_twice, "eps twice"),
    "std + eps under the root": Wrong(root_of_std_plus_eps, "root of std + eps"),
    "gamma on x": Wrong(gamma_on_x, "brackets around x − mean left out"),
    "no brackets": Wrong(no_brackets, "brackets around x − mean left out"),
    "axis 2": Wrong(over(2), None),
    "axes -2 and -1": Wrong(over((-2, -1)), "statistics over two axes"),
    "axes 1 and 2": Wrong(over((1, 2)), "statistics over two axes"),
    "three sizes": Wrong(three_sizes, None),
    "axes added in front": Wrong(axes_added_in_front, None),
    "nested loops": Wrong(nested_loops, None),
    "always float32": Wrong(lambda *given: right(*given).astype(np.float32), None),
    "float32 from the start": Wrong(lambda x, *rest: right(x.astype(np.float32), *rest), None),
    "always float16": Wrong(lambda *given: right(*given).astype(np.float16), None),
    "a masked array": Wrong(lambda *given: np.ma.masked_array(right(*given)), None),
    "a tensor": Wrong(lambda *given: torch.from_numpy(right(*given)), None),
    "gamma plus one": Wrong(lambda x, gamma, beta, eps=1e-5: right(x, 1 + gamma, beta, eps), None),
    "features reversed": Wrong(lambda *given: right(*given)[..., ::-1], None),
    "flat": Wrong(lambda *given: right(*given).ravel(), None),
    "a list of rows": Wrong(lambda *given: right(*given).tolist(), None),
    "a tuple of one too many": Wrong(lambda *given: (right(*given), 1.0), None),
    "a dict": Wrong(lambda *given: {"y": right(*given)}, None),
    "no eps parameter": Wrong(lambda x, gamma, beta: right(x, gamma, beta), None),
}
