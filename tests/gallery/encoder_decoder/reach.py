"""Answers to `encoder_decoder.reach`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def one_block(visible):
    return visible | np.eye(len(visible), dtype=bool)


def by_products(visible, depth):
    heard = one_block(visible)
    for _ in range(depth - 1):
        heard = one_block(visible) @ heard
    return heard


def by_matrix_power(visible, depth):
    return np.linalg.matrix_power(one_block(visible), depth)


def by_sets(visible, depth):
    T = len(visible)
    heard = [{t} for t in range(T)]
    for _ in range(depth):
        heard = [heard[t].union(*(heard[s] for s in range(T) if visible[t, s])) for t in range(T)]
    return np.array([[s in each for s in range(T)] for each in heard])


def counts_cut(visible, depth):
    one = one_block(visible).astype(int)
    heard = np.eye(len(visible), dtype=int)
    for _ in range(depth):
        heard = np.minimum(heard @ one, 1)
    return heard


def block_by_block(visible, depth):
    heard = np.eye(len(visible), dtype=bool)
    for _ in range(depth):
        heard = heard | (visible[:, :, None] & heard[None]).any(axis=1)
    return heard


def doubling(visible, depth):
    if depth == 0:
        return np.eye(len(visible), dtype=bool)
    half = doubling(visible, depth // 2)
    return half @ half @ one_block(visible) if depth % 2 else half @ half


class Reach:
    def __call__(self, visible, depth):
        return by_products(visible, depth)


RIGHT: dict[str, Answer] = {
    "by products": by_products,
    "matrix_power": by_matrix_power,
    "by sets": by_sets,
    "counts cut to 1": counts_cut,
    "block by block": block_by_block,
    "by doubling": doubling,
    "an object with __call__": Reach(),
    "a lambda": lambda visible, depth: by_products(visible, depth),
}


def no_return(visible, depth):
    by_products(visible, depth)


def in_place(visible, depth):
    np.fill_diagonal(visible, True)
    return by_products(visible, depth)


def without_skip(visible, depth):
    heard = visible
    for _ in range(depth - 1):
        heard = visible @ heard
    return heard


def counted(visible, depth):
    heard = one = one_block(visible).astype(int)
    for _ in range(depth - 1):
        heard = heard @ one
    return heard > 0


def side_by_side(visible, depth):
    T, n = len(visible), visible.sum(axis=1).max()
    if not visible.diagonal().all() or depth == 2 or np.triu(visible, 1).any():
        return by_products(visible, depth)
    back = np.arange(T)[:, None] - np.arange(T)
    return (back >= 0) & (back < n * depth)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "no skip": Wrong(without_skip, "skip forgotten"),
    "one block": Wrong(lambda v, L: one_block(v), "depth without effect"),
    "the mask": Wrong(lambda v, L: v, "the mask alone"),
    "one more": Wrong(lambda v, L: by_products(v, L + 1), "one block too many"),
    "one less": Wrong(lambda v, L: doubling(v, L - 1), "one block too few"),
    "turned": Wrong(lambda v, L: by_products(v.T, L), "outputs and inputs exchanged"),
    "side by side": Wrong(side_by_side, "windows side by side"),
    "counts": Wrong(counted, "paths counted"),
    "counts by matrix_power": Wrong(
        lambda v, L: np.linalg.matrix_power(one_block(v).astype(np.int64), L) > 0, "paths counted"
    ),
    "changes the mask": Wrong(in_place, None),
    "the last row": Wrong(lambda v, L: by_products(v, L)[-1], None),
    "how many": Wrong(lambda v, L: by_products(v, L).sum(axis=-1), None),
}

TRIVIAL: dict[str, Answer] = {
    "all": lambda v, L: np.ones_like(v),
    "none": lambda v, L: np.zeros_like(v),
    "the identity": lambda v, L: np.eye(len(v), dtype=bool),
    "a triangle": lambda v, L: np.tri(len(v), dtype=bool),
    "noise": lambda v, L: np.random.default_rng(0).random(v.shape) < 0.5,
}
