"""Answers to `feed_forward.forward`."""

import math

import numpy as np

from tests.gallery.answers import Answer, Wrong


def two_lines(x, w1, b1, w2, b2):
    inner = np.maximum(x @ w1.T + b1, 0)
    return inner @ w2.T + b2


def einsum(x, w1, b1, w2, b2):
    inner = np.einsum("...d,fd->...f", x, w1) + b1
    return np.einsum("...f,df->...d", np.where(inner > 0, inner, 0), w2) + b2


def neuron_by_neuron(x, w1, b1, w2, b2):
    y = np.zeros_like(x) + b2
    for key, bias, value in zip(w1, b1, w2.T, strict=True):
        fires = (x * key).sum(-1, keepdims=True) + bias
        y = y + fires.clip(0) * value
    return y


def loops(x, w1, b1, w2, b2):
    y = np.empty_like(x)
    for where in np.ndindex(x.shape[:-1]):
        inner = [
            max(x.dtype.type(0), sum((a * b for a, b in zip(x[where], row, strict=True)), bias))
            for row, bias in zip(w1, b1, strict=True)
        ]
        for d, (row, bias) in enumerate(zip(w2, b2, strict=True)):
            y[where][d] = sum((a * b for a, b in zip(inner, row, strict=True)), bias)
    return y


def by_columns(x, w1, b1, w2, b2):
    columns = x.reshape(-1, x.shape[-1]).T
    inner = w1 @ columns + b1[:, None]
    inner *= inner > 0
    return (w2 @ inner + b2[:, None]).T.reshape(x.shape)


def wider(x, w1, b1, w2, b2):
    return two_lines(*(each.astype(np.float64) for each in (x, w1, b1, w2, b2))).astype(x.dtype)


def half_of_the_sum(x, w1, b1, w2, b2):
    u = np.matmul(x, np.transpose(w1)) + b1
    return np.dot((u + np.abs(u)) / 2, w2.T) + b2


class FeedForward:
    def __call__(self, tokens, up, up_bias, down, down_bias):
        return two_lines(tokens, up, up_bias, down, down_bias)


RIGHT: dict[str, Answer] = {
    "two lines": two_lines,
    "einsum": einsum,
    "neuron by neuron": neuron_by_neuron,
    "loops": loops,
    "by columns": by_columns,
    "float64 inside": wider,
    "half of u + |u|": half_of_the_sum,
    "an object with __call__": FeedForward(),
    "a lambda": lambda x, a, b, c, d: (x @ a.T + b).clip(min=0) @ c.T + d,
}


def no_return(x, w1, b1, w2, b2):
    two_lines(x, w1, b1, w2, b2)


def gelu(u):
    return u * (1 + np.vectorize(math.erf)(u / 2**0.5)) / 2


def in_place(x, w1, b1, w2, b2):
    y = two_lines(x, w1, b1, w2, b2)
    b2 += 1
    return y


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "no bend": Wrong(lambda x, a, b, c, d: (x @ a.T + b) @ c.T + d, "no bend between the two matrices"),
    "bend last": Wrong(
        lambda x, a, b, c, d: np.maximum((x @ a.T + b) @ c.T + d, 0), "bend after the second matrix"
    ),
    "bent twice": Wrong(
        lambda x, a, b, c, d: np.maximum(two_lines(x, a, b, c, d), 0), "a second bend at the end"
    ),
    "GELU": Wrong(lambda x, a, b, c, d: gelu(x @ a.T + b).astype(x.dtype) @ c.T + d, "GELU for ReLU"),
    "absolute": Wrong(lambda x, a, b, c, d: np.abs(x @ a.T + b) @ c.T + d, "absolute value for ReLU"),
    "no biases": Wrong(lambda x, a, b, c, d: np.maximum(x @ a.T, 0) @ c.T, "both biases left out"),
    "no b1": Wrong(lambda x, a, b, c, d: np.maximum(x @ a.T, 0) @ c.T + d, "first bias left out"),
    "no b2": Wrong(lambda x, a, b, c, d: np.maximum(x @ a.T + b, 0) @ c.T, "second bias left out"),
    "b1 late": Wrong(
        lambda x, a, b, c, d: (np.maximum(x @ a.T, 0) + b) @ c.T + d, "first bias after the bend"
    ),
    "no transpose": Wrong(lambda x, a, b, c, d: np.maximum(x @ a + b, 0) @ c + d, "matrices not transposed"),
    "minimum": Wrong(lambda x, a, b, c, d: np.minimum(x @ a.T + b, 0) @ c.T + d, None),
    "with a residual": Wrong(lambda x, a, b, c, d: x + two_lines(x, a, b, c, d), None),
    "always float64": Wrong(lambda x, a, b, c, d: two_lines(x.astype(float), a, b, c, d), None),
    "changes b2": Wrong(in_place, None),
    "three axes alone": Wrong(
        lambda x, a, b, c, d: (
            np.einsum("btf,df->btd", np.maximum(np.einsum("btd,fd->btf", x, a) + b, 0), c) + d
        ),
        None,
    ),
    "the inner features": Wrong(lambda x, a, b, c, d: np.maximum(x @ a.T + b, 0), None),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda x, w1, b1, w2, b2: x,
    "zeros": lambda x, w1, b1, w2, b2: np.zeros_like(x),
    "the bias": lambda x, w1, b1, w2, b2: np.zeros_like(x) + b2,
    "positive x": lambda x, w1, b1, w2, b2: np.maximum(x, 0),
    "noise": lambda x, w1, b1, w2, b2: np.random.default_rng(0).normal(size=x.shape).astype(x.dtype),
}
