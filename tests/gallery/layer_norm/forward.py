"""Answers to `layer_norm.forward`."""

import functools
import logging
import os
import sys
import warnings

import numpy as np

from tests.gallery.answers import Answer
from tests.gallery.layer_norm.wrong_forward import WRONG
from transformer_block.in_numpy.layer_norm import layer_norm as from_the_package


def textbook(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


def other_names(tokens, scale, shift, epsilon=1e-5):
    return (tokens - np.mean(tokens, -1)[..., None]) / np.sqrt(
        np.var(tokens, -1)[..., None] + epsilon
    ) * scale + shift


def einsum(x, gamma, beta, eps=1e-5):
    width = x.shape[-1]
    deviation = x - np.einsum("...d->...", x)[..., None] / width
    root = np.sqrt(np.einsum("...d,...d->...", deviation, deviation)[..., None] / width + eps)
    return np.einsum("...d,d->...d", deviation / root, gamma) + beta


def loops_in_the_dtype_of_x(x, gamma, beta, eps=1e-5):
    y = np.empty_like(x)
    number = x.dtype.type
    for where in np.ndindex(x.shape[:-1]):
        total, squares = number(0), number(0)
        for feature in x[where]:
            total += feature
        mean = total / number(x.shape[-1])
        for feature in x[where]:
            squares += (feature - mean) * (feature - mean)
        root = np.sqrt(squares / number(x.shape[-1]) + number(eps))
        for d, feature in enumerate(x[where]):
            y[where][d] = (feature - mean) / root * gamma[d] + beta[d]
    return y


def wider_inside(x, gamma, beta, eps=1e-5):
    wide = x.astype(np.float64)
    wide = (wide - wide.mean(-1, keepdims=True)) / (wide.var(-1, keepdims=True) + eps) ** 0.5
    return (wide * gamma + beta).astype(x.dtype)


def on_its_own_copy(x, gamma, beta, eps=1e-5):
    y = x.copy()
    y -= y.mean(-1, keepdims=True)
    y /= np.sqrt((y * y).mean(-1, keepdims=True) + eps)
    y *= gamma
    y += beta
    return y


def each_row_apart(x, gamma, beta, eps=1e-5):
    def one(row):
        row = row - row.mean()
        return row / np.sqrt(row @ row / len(row) + eps) * gamma + beta

    return np.apply_along_axis(one, -1, x).astype(x.dtype)


def by_the_norm(x, gamma, beta, eps=1e-5):
    width = x.shape[-1]
    centered = x - x.sum(-1, keepdims=True) / width
    length = np.linalg.norm(centered, axis=-1, keepdims=True)
    return (gamma * centered * width**0.5 / np.sqrt(length**2 + width * eps) + beta).astype(x.dtype)


def centering_matrix(x, gamma, beta, eps=1e-5):
    width = x.shape[-1]
    center = np.eye(width, dtype=x.dtype) - np.full((width, width), 1 / width, x.dtype)
    deviation = x @ center
    return (deviation * gamma) * (1 / np.sqrt(np.mean(deviation**2, -1, keepdims=True) + eps)) + beta


def keyword_only_eps(x, gamma, beta, *, eps=1e-5):
    return textbook(x, gamma, beta, eps)


def noisy(x, gamma, beta, eps=1e-5):
    sys.stdout.write(f"{x}\n")
    sys.stderr.write("careful\n")
    os.write(2, b"past sys.stderr\n")
    logging.getLogger("mine").error("logged")
    warnings.warn("a warning of my own", stacklevel=1)
    np.seterr(all="raise")
    np.random.seed(3)
    return textbook(x, gamma, beta, eps)


class LayerNorm:
    def __init__(self, power=0.5):
        self.power = power

    def __call__(self, x, gamma, beta, eps=1e-5):
        return gamma * (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + eps) ** self.power + beta


__all__ = ["RIGHT", "TRIVIAL", "WRONG"]

RIGHT: dict[str, Answer] = {
    "textbook": textbook,
    "other names, None for the axis": other_names,
    "einsum": einsum,
    "Python loops in the dtype of x": loops_in_the_dtype_of_x,
    "float64 inside": wider_inside,
    "in place on its own copy": on_its_own_copy,
    "each row apart": each_row_apart,
    "by the norm of the deviations": by_the_norm,
    "a matrix that centers": centering_matrix,
    "keyword-only eps": keyword_only_eps,
    "prints, logs, warns, seeds": noisy,
    "an object with __call__": LayerNorm(),
    "a partial": functools.partial(textbook),
    "a lambda": lambda x, g, b, e=1e-5: (
        (x - x.mean(-1)[..., None]) / np.sqrt(x.var(-1)[..., None] + e) * g + b
    ),
    "the package's function": from_the_package,
}


def fixed_noise(x, gamma, beta, eps=1e-5):
    return np.random.default_rng(0).standard_normal(x.shape).astype(x.dtype) * gamma + beta


TRIVIAL: dict[str, Answer] = {
    "x": lambda x, gamma, beta, eps=1e-5: x,
    "zeros": lambda x, gamma, beta, eps=1e-5: np.zeros_like(x),
    "ones": lambda x, gamma, beta, eps=1e-5: np.ones_like(x),
    "beta": lambda x, gamma, beta, eps=1e-5: np.broadcast_to(beta, x.shape),
    "not a number": lambda x, gamma, beta, eps=1e-5: np.full_like(x, np.nan),
    "the example": lambda x, gamma, beta, eps=1e-5: np.array([-1.177, -0.392, 0.0, 1.569]),
    "noise of mean 0 and variance 1": fixed_noise,
    "gamma and beta on x itself": lambda x, gamma, beta, eps=1e-5: gamma * x + beta,
}
