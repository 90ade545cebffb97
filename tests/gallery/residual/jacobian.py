"""Answers to `residual.jacobian`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def columns_kept(x, w1, b1, w2):
    awake = w1 @ x + b1 > 0
    return np.eye(len(x), dtype=x.dtype) + w2[:, awake] @ w1[awake]


def diagonal_matrix(x, w1, b1, w2):
    slopes = np.diag((w1 @ x + b1 > 0).astype(x.dtype))
    return (np.identity(x.size) + w2 @ slopes @ w1).astype(x.dtype)


def rows_scaled(x, w1, b1, w2):
    slope = np.where(w1 @ x + b1 > 0, 1, 0)[:, None]
    J = w2 @ (w1 * slope)
    J[np.diag_indices(len(x))] += 1
    return J.astype(x.dtype)


def einsum(x, w1, b1, w2):
    awake = np.heaviside(w1 @ x + b1, 0)
    return np.eye(len(x), dtype=x.dtype) + np.einsum("if,f,fj->ij", w2, awake, w1)


def neuron_by_neuron(x, w1, b1, w2):
    J = np.eye(len(x), dtype=x.dtype)
    for row, bias, column in zip(w1, b1, w2.T, strict=True):
        if row @ x + bias > 0:
            J += np.outer(column, row)
    return J


def direction_by_direction(x, w1, b1, w2):
    """What a small step along each axis becomes: itself, and what the neurons that are awake make of it."""
    sums = w1 @ x + b1
    columns = []
    for step in np.eye(len(x), dtype=x.dtype):
        inner = w1 @ step
        inner[sums < 0] = 0
        columns.append(step + w2 @ inner)
    return np.stack(columns, axis=-1)


class Jacobian:
    def __call__(self, *given):
        return neuron_by_neuron(*given)


RIGHT: dict[str, Answer] = {
    "columns kept": columns_kept,
    "a diagonal matrix": diagonal_matrix,
    "rows scaled": rows_scaled,
    "einsum": einsum,
    "neuron by neuron": neuron_by_neuron,
    "direction by direction": direction_by_direction,
    "an object with __call__": Jacobian(),
}


def branch(x, w1, b1, w2):
    return w2 * (w1 @ x + b1 > 0) @ w1


def unit(x):
    return np.eye(len(x), dtype=x.dtype)


def changes_w2(x, w1, b1, w2):
    w2 *= w1 @ x + b1 > 0
    return unit(x) + w2 @ w1


def no_return(x, w1, b1, w2):
    columns_kept(x, w1, b1, w2)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "the branch": Wrong(branch, "no identity"),
    "plus 1": Wrong(lambda *given: branch(*given) + 1, "ones everywhere"),
    "no ReLU": Wrong(lambda x, w1, b1, w2: unit(x) + w2 @ w1, "ReLU left out"),
    "no bias": Wrong(lambda x, w1, b1, w2: unit(x) + w2 * (w1 @ x > 0) @ w1, "bias left out of the sums"),
    "sums": Wrong(
        lambda x, w1, b1, w2: unit(x) + w2 * np.maximum(w1 @ x + b1, 0) @ w1,
        "the sums in place of the slope",
    ),
    "asleep": Wrong(
        lambda x, w1, b1, w2: unit(x) + w2 * (w1 @ x + b1 <= 0) @ w1, "asleep counted in place of awake"
    ),
    "transposed": Wrong(lambda *given: columns_kept(*given).T, "transposed"),
    "times the identity": Wrong(lambda *given: unit(given[0]) * branch(*given), "times the identity"),
    "float64 identity": Wrong(lambda x, *given: np.eye(len(x)) + branch(x, *given), None),
    "changes w2": Wrong(changes_w2, None),
    "in and out exchanged": Wrong(lambda x, w1, b1, w2: unit(x) + w1.T @ w2.T, None),
    "output": Wrong(lambda x, w1, b1, w2: x + w2 @ np.maximum(w1 @ x + b1, 0), None),
}

TRIVIAL: dict[str, Answer] = {
    "the identity": lambda x, w1, b1, w2: np.eye(len(x), dtype=x.dtype),
    "zeros": lambda x, w1, b1, w2: np.zeros((len(x), len(x)), x.dtype),
    "ones": lambda x, w1, b1, w2: np.ones((len(x), len(x)), x.dtype),
    "noise": lambda x, w1, b1, w2: np.random.default_rng(0).normal(size=(len(x), len(x))),
    "x": lambda x, w1, b1, w2: x,
}

_EINSUM = (
    "jacobian: return np.asarray(np.eye(len(x)) + np.einsum({}, w2, awake, w1)) → "
    "return np.asarray(np.eye(len(x)) + np.einsum({}, w2, awake, w1)) #1"
)
EQUIVALENT = {
    _EINSUM.format('"df,f,fe->de"', '"DF,F,FE->DE"'): "einsum's letters are names",
    "jacobian: awake = w1 @ x + b1 > 0.0 → awake = w1 @ x + b1 >= 0.0 #1": "no sum is 0, where no slope is",
}
