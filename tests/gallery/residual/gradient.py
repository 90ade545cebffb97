"""Answers to `residual.gradient`."""

from functools import reduce

import numpy as np

from tests.gallery.answers import Answer, Wrong


def from_the_top(dy, jacobians):
    without = with_skips = dy
    for J in jacobians[::-1]:
        without = J.T @ without
        with_skips = with_skips + J.T @ with_skips
    return without, with_skips


def rows(dy, jacobians):
    without, both = dy.copy(), dy.copy()
    for J in reversed(jacobians):
        without, both = without @ J, both + both @ J
    return without, both


def product_of_matrices(dy, jacobians):
    unit = np.eye(len(dy), dtype=dy.dtype)
    plain = reduce(lambda below, J: J @ below, jacobians, unit)
    skips = reduce(lambda below, J: (unit + J) @ below, jacobians, unit)
    return dy @ plain, dy @ skips


def einsum(dy, jacobians):
    without = both = dy
    for index in range(len(jacobians) - 1, -1, -1):
        without = np.einsum("ij,i->j", jacobians[index], without)
        both = both + np.einsum("ij,i->j", jacobians[index], both)
    return [without, both]


def recursive(dy, jacobians):
    if len(jacobians) == 0:
        return dy, dy
    *below, top = jacobians
    without = recursive(dy @ top, below)[0]
    both = recursive(dy + dy @ top, below)[1]
    return without, both


def entry_by_entry(dy, jacobians):
    found = []
    for skip in (0, 1):
        g = dy
        for J in jacobians[::-1]:
            g = np.array(
                [skip * g[j] + sum(J[i, j] * g[i] for i in range(len(g))) for j in range(len(g))],
                dtype=dy.dtype,
            )
        found.append(g)
    return tuple(found)


class Gradient:
    def __call__(self, dy, jacobians):
        return rows(dy, jacobians)


RIGHT: dict[str, Answer] = {
    "from the top": from_the_top,
    "rows": rows,
    "product of matrices": product_of_matrices,
    "einsum": einsum,
    "recursive": recursive,
    "entry by entry": entry_by_entry,
    "an object with __call__": Gradient(),
}


def upward(dy, jacobians):
    return rows(dy, jacobians[::-1])


def changes(dy, jacobians):
    without = both = dy
    for J in jacobians[::-1]:
        without, both = J @ without, both + J @ both
    return without, both


def forward(dy, jacobians):
    without = both = dy
    for J in jacobians:
        without, both = J @ without, both + J @ both
    return without, both


def each_once(dy, jacobians):
    return rows(dy, jacobians)[0], dy + sum((dy @ J for J in jacobians), np.zeros_like(dy))


def dy_at_each(dy, jacobians):
    without = both = dy
    for J in jacobians[::-1]:
        without, both = without @ J, dy + both @ J
    return without, both


def in_place(dy, jacobians):
    without = rows(dy, jacobians)[0]
    for J in jacobians[::-1]:
        dy += dy @ J
    return without, dy


def in_double(dy, jacobians):
    return tuple(each.astype(float) for each in rows(dy, jacobians))


def through_eye(dy, jacobians):
    unit = np.eye(len(dy))
    return rows(dy, jacobians)[0], reduce(lambda g, J: g @ (unit + J), jacobians[::-1], dy)


def no_return(dy, jacobians):
    rows(dy, jacobians)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "upward": Wrong(upward, "from the bottom up"),
    "changes": Wrong(changes, "Jacobian not transposed"),
    "forward": Wrong(forward, "both mistakes at once"),
    "one skip": Wrong(
        lambda dy, jacobians: (rows(dy, jacobians)[0], dy + rows(dy, jacobians)[0]),
        "one skip around all layers",
    ),
    "each once": Wrong(each_once, "each branch once"),
    "dy at each": Wrong(dy_at_each, "skip from the top"),
    "exchanged": Wrong(lambda dy, jacobians: rows(dy, jacobians)[::-1], "exchanged"),
    "layer 0 left out": Wrong(lambda dy, jacobians: rows(dy, jacobians[1:]), "first layer left out"),
    "in place": Wrong(in_place, None),
    "always float64": Wrong(in_double, None),
    "a float64 identity": Wrong(through_eye, None),
    "last layer left out": Wrong(lambda dy, jacobians: rows(dy, jacobians[:-1]), None),
    "lengths": Wrong(lambda dy, jacobians: tuple(map(np.linalg.norm, rows(dy, jacobians))), None),
}

TRIVIAL: dict[str, Answer] = {
    "dy": lambda dy, jacobians: (dy, dy),
    "zeros": lambda dy, jacobians: (np.zeros_like(dy), np.zeros_like(dy)),
    "zeros and dy": lambda dy, jacobians: (0 * dy, dy),
    "noise": lambda dy, jacobians: (np.random.default_rng(0).normal(size=dy.shape), dy * 2),
    "the given": lambda dy, jacobians: (dy, jacobians),
}
