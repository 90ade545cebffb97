"""Tests that answer `layer_norm.invariances`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def three_promises(norm, x):
    y = norm(x)
    centered = np.allclose(y.mean(axis=-1), 0, atol=1e-4)
    scaled = np.allclose(y.var(axis=-1), 1, atol=1e-3)
    return centered and scaled and np.allclose(norm(x + 5), y, atol=1e-3)


def asserts(norm, x):
    y = norm(x)
    np.testing.assert_allclose(y.mean(-1), 0, atol=1e-5)
    np.testing.assert_allclose(y.std(-1), 1, atol=1e-4)
    np.testing.assert_allclose(norm(x - 2.5), y, atol=1e-4)


def token_by_token(norm, x):
    y, shifted = norm(x), norm(x + 1.0)
    for where in np.ndindex(x.shape[:2]):
        mean = sum(y[where]) / x.shape[2]
        variance = sum((each - mean) ** 2 for each in y[where]) / x.shape[2]
        if abs(mean) > 1e-3 or abs(variance - 1) > 1e-3 or max(abs(shifted[where] - y[where])) > 1e-3:
            return False
    return True


def beside_its_own(norm, x):
    def own(x):
        centered = x - x.mean(-1, keepdims=True)
        return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)

    return all(np.abs(norm(each) - own(each)).max() < 1e-3 for each in (x, x + 1, 2 * x))


def own_tokens(norm, x):
    tokens = np.random.default_rng(3).normal(1.0, 1.5, (3, 4, 16))
    shifts = np.linspace(-2, 2, 12).reshape(3, 4, 1)
    y, shifted = norm(tokens), norm(tokens + shifts)
    means, variances = y.mean(-1), y.var(-1)
    return bool((abs(means) < 1e-3).all() and (abs(variances - 1) < 1e-3).all()) and np.allclose(
        shifted, y, atol=1e-3
    )


def early_return(norm, x):
    y = norm(x)
    if (np.abs(y.sum(axis=-1)) > 1e-3).any():
        return False
    if (np.abs((y**2).mean(axis=-1) - 1) > 1e-3).any():
        return False
    return np.abs(norm(x + 10) - norm(x)).max() < 1e-3


class IsLayerNorm:
    def __call__(self, norm, x):
        return three_promises(norm, x)


RIGHT: dict[str, Answer] = {
    "three promises": three_promises,
    "asserts": asserts,
    "token by token": token_by_token,
    "beside its own": beside_its_own,
    "own tokens": own_tokens,
    "early return": early_return,
    "an object with __call__": IsLayerNorm(),
}


def centered(y):
    return np.allclose(y.mean(-1), 0, atol=1e-3)


def scaled(y, within=1e-3):
    return np.allclose(y.var(-1), 1, rtol=0, atol=within)


def still(norm, x):
    return np.allclose(norm(x + 4), norm(x), atol=1e-3)


def over_all(norm, x):
    y = norm(x)
    return abs(y.mean()) < 1e-3 and abs(y.var() - 1) < 1e-3 and still(norm, x)


def first_token(norm, x):
    y = norm(x)[0, 0]
    moved = norm(x + 4)[0, 0] - y
    return bool(abs(y.mean()) < 1e-3 and abs(y.var() - 1) < 1e-3 and np.abs(moved).max() < 1e-3)


def loose(norm, x):
    return centered(norm(x)) and scaled(norm(x), 0.03) and still(norm, x)


def exact(norm, x):
    return centered(norm(x)) and scaled(norm(x), 1e-10) and still(norm, x)


def along_positions(norm, x):
    return np.allclose(norm(x).mean(axis=1), 0, atol=1e-3)


WRONG = {
    "turned over": Wrong(lambda norm, x: not three_promises(norm, x), "turned over"),
    "means": Wrong(lambda norm, x: centered(norm(x)), "means alone"),
    "variances": Wrong(lambda norm, x: scaled(norm(x)), "variances alone"),
    "shift": Wrong(still, "shift alone"),
    "no shift": Wrong(lambda norm, x: centered(norm(x)) and scaled(norm(x)), "no shift"),
    "over all": Wrong(over_all, "one mean over all"),
    "first token": Wrong(first_token, "first token alone"),
    "loose": Wrong(loose, "loose tolerance"),
    "bits": Wrong(lambda norm, x: bool(np.all(norm(x).mean(axis=-1) == 0)), None),
    "exact": Wrong(exact, "variance of exactly 1"),
    "along positions": Wrong(along_positions, None),
    "an array": Wrong(lambda norm, x: np.isclose(norm(x).mean(-1), 0), None),
    "raises": Wrong(lambda norm, x: norm.weight, None),
}

TRIVIAL: dict[str, Answer] = {
    "accepts all": lambda norm, x: True,
    "rejects all": lambda norm, x: False,
    "returns None": lambda norm, x: None,
    "the shape": lambda norm, x: norm(x).shape == x.shape,
    "finite": lambda norm, x: bool(np.isfinite(norm(x)).all()),
}
