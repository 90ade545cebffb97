"""Tests that answer `block.is_identity_with_zeroed_branches`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def louder(block, x):
    return np.allclose(block(3 * x), 3 * x)


def tokens_of_its_own(block, x):
    tokens = np.random.default_rng(7).normal(2.0, 5.0, x.shape)
    return bool(np.abs(block(tokens) - tokens).max() < 1e-5)


def asserts(block, x):
    for factor in (0.1, 1.0, 10.0):
        given = factor * x
        np.testing.assert_allclose(block(given), given, rtol=1e-6, atol=1e-6)


def entry_by_entry(block, x):
    given = x * 2.0 + 1.0
    got = block(given)
    return all(abs(got[where] - given[where]) < 1e-5 for where in np.ndindex(given.shape))


def relative_length(block, x):
    given = 100.0 * x
    return np.linalg.norm(block(given) - given) < 1e-6 * np.linalg.norm(given)


def one_sequence(block, x):
    given = np.cumsum(x[0], axis=0) * 2.0
    return np.all(np.isclose(block(given), given))


class IsIdentity:
    def __call__(self, block, x):
        return louder(block, x)


RIGHT: dict[str, Answer] = {
    "louder": louder,
    "tokens of its own": tokens_of_its_own,
    "asserts": asserts,
    "entry by entry": entry_by_entry,
    "relative length": relative_length,
    "one sequence": one_sequence,
    "an object with __call__": IsIdentity(),
    "a lambda": lambda block, x: not np.any(np.abs(block(x * 5) / 5 - x) > 1e-6),
}


def first_position(block, x):
    return np.allclose(block(3 * x)[:, 0], 3 * x[:, 0])


def means(block, x):
    return abs(float(np.mean(block(3 * x) - 3 * x))) < 1e-6


WRONG = {
    "turned over": Wrong(lambda block, x: not louder(block, x), "turned over"),
    "x as given": Wrong(lambda block, x: bool(np.allclose(block(x), x)), "x as it was given"),
    "bits": Wrong(lambda block, x: np.array_equal(block(3 * x), 3 * x), "bits compared"),
    "bits of x": Wrong(lambda block, x: bool((block(x) == x).all()), "bits compared"),
    "shape": Wrong(lambda block, x: block(x).shape == x.shape, "shapes compared"),
    "first position": Wrong(first_position, "first position alone"),
    "loose": Wrong(lambda block, x: np.allclose(block(3 * x), 3 * x, atol=0.02), "loose tolerance"),
    "means": Wrong(means, "means compared"),
    "loose, asserted": Wrong(
        lambda block, x: np.testing.assert_allclose(block(4 * x), 4 * x, atol=0.05), "loose tolerance"
    ),
    "an array": Wrong(lambda block, x: np.isclose(block(3 * x), 3 * x), None),
    "raises": Wrong(lambda block, x: block.stages(x), None),
}

TRIVIAL: dict[str, Answer] = {
    "accepts all": lambda block, x: True,
    "rejects all": lambda block, x: False,
    "returns None": lambda block, x: None,
    "asserts nothing": lambda block, x: np.testing.assert_array_equal(x, x),
    "finite": lambda block, x: bool(np.isfinite(block(x)).all()),
    "its own x": lambda block, x: np.allclose(x, x),
}
