"""Answers to `masks.is_causal`: tests, of which good ones tell causal blocks from others."""

import numpy as np

from tests.gallery.answers import Answer
from tests.gallery.masks.weak_is_causal import WRONG

__all__ = ["RIGHT", "TRIVIAL", "WRONG"]


def each_position(block, x):
    y = block(x)
    for t in range(1, x.shape[1]):
        changed = x.copy()
        changed[:, t] = np.random.default_rng(t).normal(size=changed[:, t].shape)
        if not np.array_equal(block(changed)[:, :t], y[:, :t]):
            return False
    return True


def asserts(block, x):
    rng = np.random.default_rng(3)
    for t in range(x.shape[1]):
        changed = x.copy()
        changed[:, t] += rng.normal(size=x.shape[-1])
        np.testing.assert_allclose(block(changed)[:, :t], block(x)[:, :t], atol=1e-6)


def all_later_ones(block, x):
    """Everything from a position on is replaced at once."""
    y, noise = block(x), np.random.randn(*x.shape).astype(x.dtype)
    cuts = [np.concatenate([x[:, :t], noise[:, t:]], axis=1) for t in range(1, x.shape[1])]
    return all(np.allclose(block(cut)[:, :t], y[:, :t]) for t, cut in enumerate(cuts, start=1))


def prefixes(block, x):
    y = block(x)
    return all(np.allclose(block(x[:, :t]), y[:, :t], atol=1e-6) for t in range(1, x.shape[1]))


def by_gradients(block, x):
    for t in range(x.shape[1] - 1):
        dy = np.zeros_like(x)
        dy[:, t] = np.random.default_rng(t).normal(size=dy[:, t].shape)
        if np.abs(block.gradients(x, dy)[:, t + 1 :]).max() > 1e-9:
            return False
    return True


def item_by_item(block, x):
    y = block(x)
    for b in range(x.shape[0]):
        for t in range(1, x.shape[1]):
            changed = x.copy()
            changed[b, t] = -changed[b, t] + np.arange(x.shape[2])
            if (block(changed)[b, :t] != y[b, :t]).any():
                return np.bool_(False)
    return np.bool_(True)


def one_feature(block, x):
    for t in range(1, x.shape[1]):
        changed = x.copy()
        changed[:, t, 0] += 2.5
        if np.abs(block(changed) - block(x))[:, :t].max() > 1e-6:
            return 0
    return 1


class Leaks:
    def __init__(self, tolerance=1e-7):
        self.tolerance = tolerance

    def __call__(self, block, x):
        y = block(x)
        moved = [np.abs(self.changed(block, x, t) - y)[:, :t].max() for t in range(1, x.shape[1])]
        return max(moved) <= self.tolerance

    def changed(self, block, x, t):
        other = x.copy()
        other[:, t] = np.random.default_rng(7).permutation(other[:, t].ravel()).reshape(other[:, t].shape)
        return block(other)


RIGHT: dict[str, Answer] = {
    "each position in turn": each_position,
    "asserts": asserts,
    "all later ones at once": all_later_ones,
    "prefixes": prefixes,
    "by gradients": by_gradients,
    "item by item": item_by_item,
    "one feature": one_feature,
    "an object with a method": Leaks(),
}

TRIVIAL: dict[str, Answer] = {
    "accepts": lambda block, x: True,
    "rejects": lambda block, x: False,
    "has the shape": lambda block, x: block(x).shape == x.shape,
    "is finite": lambda block, x: bool(np.isfinite(block(x)).all()),
    "answers twice alike": lambda block, x: bool((block(x) == block(x)).all()),
    "a coin": lambda block, x: bool(np.random.default_rng(0).random() < 0.5),
    "an array": lambda block, x: np.ones(3, bool),
}
