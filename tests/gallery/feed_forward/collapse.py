"""Answers to `feed_forward.collapse`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def two_products(w1, b1, w2, b2):
    return w2 @ w1, w2 @ b1 + b2


def einsum(w1, b1, w2, b2):
    return np.einsum("ef,fd->ed", w2, w1), np.einsum("ef,f->e", w2, b1) + b2


def by_probing(w1, b1, w2, b2):
    """The columns of the map are what it makes of the unit vectors, less what it makes of 0."""

    def both(x):
        return w2 @ (w1 @ x + b1) + b2

    unit = np.eye(w1.shape[1], dtype=w1.dtype)
    bias = both(np.zeros_like(unit[0]))
    return np.stack([both(each) - bias for each in unit], axis=1), bias


def augmented(w1, b1, w2, b2):
    """An affine map is a matrix with a column more."""
    first = np.block([[w1, b1[:, None]], [np.zeros((1, w1.shape[1]), w1.dtype), np.ones((1, 1), w1.dtype)]])
    whole = np.hstack([w2, b2[:, None]]) @ first
    return whole[:, :-1], whole[:, -1]


def loops(w1, b1, w2, b2):
    weight, bias = np.zeros((len(w2), w1.shape[1]), w1.dtype), b2.copy()
    for e in range(len(w2)):
        for f in range(len(w1)):
            bias[e] += w2[e, f] * b1[f]
            for d in range(w1.shape[1]):
                weight[e, d] += w2[e, f] * w1[f, d]
    return [weight, bias]


def transposed_twice(w1, b1, w2, b2):
    return (w1.T @ w2.T).T, b1 @ w2.T + b2


class Collapse:
    def __call__(self, *maps):
        return two_products(*maps)


RIGHT: dict[str, Answer] = {
    "two products": two_products,
    "einsum": einsum,
    "by probing": by_probing,
    "augmented matrices": augmented,
    "loops, in a list": loops,
    "transposed twice": transposed_twice,
    "an object with __call__": Collapse(),
    "a lambda": lambda a, b, c, d: (np.dot(c, a), np.dot(c, b) + d),
}


def no_return(w1, b1, w2, b2):
    two_products(w1, b1, w2, b2)


def in_place(w1, b1, w2, b2):
    b2 += w2 @ b1
    return w2 @ w1, b2


def bend_left_in(w1, b1, w2, b2):
    return w2 @ np.maximum(w1, 0), w2 @ np.maximum(b1, 0) + b2


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "transposed": Wrong(lambda a, b, c, d: (a.T @ c.T, c @ b + d), "the product (in, out)"),
    "wrong order": Wrong(lambda a, b, c, d: (a @ c, c @ b + d), "the matrices in the wrong order"),
    "no b1": Wrong(lambda a, b, c, d: (c @ a, d.copy()), "first bias left out"),
    "no b2": Wrong(lambda a, b, c, d: (c @ a, c @ b), "second bias left out"),
    "b1 + b2": Wrong(lambda a, b, c, d: (c @ a, b + d), "first bias carried over by no matrix"),
    "a bend left in": Wrong(bend_left_in, None),
    "always float64": Wrong(lambda a, b, c, d: (c.astype(float) @ a, c.astype(float) @ b + d), None),
    "changes b2": Wrong(in_place, None),
    "the matrix alone": Wrong(lambda a, b, c, d: c @ a, None),
    "bias first": Wrong(lambda a, b, c, d: two_products(a, b, c, d)[::-1], None),
    "bias as a column": Wrong(lambda a, b, c, d: (c @ a, (c @ b + d)[:, None]), None),
}

TRIVIAL: dict[str, Answer] = {
    "the given": lambda a, b, c, d: (a, b),
    "the second map": lambda a, b, c, d: (c, d),
    "zeros": lambda a, b, c, d: (np.zeros((len(c), a.shape[1])), np.zeros(len(c))),
    "nothing learned": lambda a, b, c, d: (np.eye(len(c), a.shape[1]), d * 0),
    "noise": lambda a, b, c, d: (np.random.default_rng(0).normal(size=(len(c), a.shape[1])), d * 2),
}
