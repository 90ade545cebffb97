"""Answers to `root_mean_square.of_each_token`."""

import numpy as np

from tests.gallery.answers import Wrong


def in_steps(x):
    squares = x * x
    return squares.mean(axis=-1) ** 0.5


def in_loops(x):
    flat = x.reshape(-1, x.shape[-1])
    rows = [np.sqrt(np.mean(row**2)) for row in flat]
    return np.array(rows, dtype=x.dtype).reshape(x.shape[:-1])


RIGHT = {
    "in steps": in_steps,
    "in loops": in_loops,
    "einsum": lambda x: np.sqrt(
        np.einsum("...d,...d->...", x, x) / x.shape[-1]
    ),
    "by its norm": lambda x: np.linalg.norm(x, axis=-1) / x.shape[-1] ** 0.5,
    "from the variance": lambda x: np.sqrt(x.var(-1) + x.mean(-1) ** 2),
}


def no_return(x):
    in_steps(x)


def in_place(x):
    x *= x
    return np.sqrt(x.mean(axis=-1))


WRONG = {
    "the spread": Wrong(lambda x: x.std(axis=-1), "spread around the mean"),
    "centered": Wrong(
        lambda x: in_steps(x - x.mean(axis=-1, keepdims=True)),
        "spread around the mean",
    ),
    "the length": Wrong(
        lambda x: np.linalg.norm(x, axis=-1), "sum in place of mean"
    ),
    "a sum": Wrong(
        lambda x: np.sqrt((x**2).sum(axis=-1)), "sum in place of mean"
    ),
    "no return": Wrong(no_return, "no return"),
    "a wrong axis": Wrong(lambda x: in_steps(x.swapaxes(-1, -2)), None),
    "no root": Wrong(lambda x: (x**2).mean(axis=-1), None),
    "the magnitudes": Wrong(lambda x: np.abs(x).mean(axis=-1), None),
    "in place": Wrong(in_place, None),
    "float64": Wrong(lambda x: in_steps(x.astype(float)), None),
}

TRIVIAL = {
    "the input": lambda x: x,
    "zeros": lambda x: np.zeros(x.shape[:-1]),
    "ones": lambda x: np.ones(x.shape[:-1], x.dtype),
    "the first feature": lambda x: x[..., 0],
}

EQUIVALENT: dict[str, str] = {}
