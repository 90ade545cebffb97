"""Answers to `layer_norm.backward`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def mean(values):
    return values.mean(axis=-1, keepdims=True)


def parts(x, eps):
    centered = x - mean(x)
    s = np.sqrt(mean(centered**2) + eps)
    return centered / s, s


def summed(values):
    return values.reshape(-1, values.shape[-1]).sum(axis=0)


def by_formula(dy, x, gamma, eps=1e-5):
    n, s = parts(x, eps)
    g = gamma * dy
    return (g - mean(g) - n * mean(g * n)) / s, summed(dy * n), summed(dy)


def step_by_step(dy, x, gamma, eps=1e-5):
    """Backward through x − mean, the variance, the root and the quotient, one at a time."""
    D = x.shape[-1]
    centered = x - mean(x)
    variance = mean(centered**2)
    inverse = 1 / np.sqrt(variance + eps)
    dn = dy * gamma
    dvariance = (dn * centered).sum(axis=-1, keepdims=True) * -0.5 * inverse**3
    dcentered = dn * inverse + dvariance * 2 * centered / D
    dx = dcentered - mean(dcentered)
    axes = tuple(range(x.ndim - 1))
    return dx, (dy * centered * inverse).sum(axis=axes), dy.sum(axis=axes)


def matrices(dy, x, gamma, eps=1e-5):
    """A matrix (D, D) for each token."""
    n, s = parts(x, eps)
    D = x.shape[-1]
    hole = np.ones((D, D), x.dtype) / D + n[..., :, None] * n[..., None, :] / D
    matrix = (np.eye(D, dtype=x.dtype) - hole) / s[..., None]
    dx = np.einsum("...ij,...j->...i", matrix, gamma * dy)
    return dx, np.einsum("td,td->d", dy.reshape(-1, D), n.reshape(-1, D)), summed(dy)


def token_by_token(dy, x, gamma, eps=1e-5):
    dx, dgamma, dbeta = np.empty_like(x), np.zeros_like(gamma), np.zeros_like(gamma)
    for where in np.ndindex(x.shape[:-1]):
        n, s = parts(x[where], eps)
        g = gamma * dy[where]
        dx[where] = (g - g.mean() - n * (g @ n) / len(n)) / s
        dgamma += dy[where] * n
        dbeta += dy[where]
    return dx, dgamma, dbeta


def in_double(dy, x, gamma, eps=1e-5):
    wide = by_formula(*(each.astype(np.float64) for each in (dy, x, gamma)), eps)
    return [each.astype(x.dtype) for each in wide]


def two_projections(dy, x, gamma, eps=1e-5):
    n, s = parts(x, eps)
    g = gamma * dy
    g = g - mean(g)
    return (g - n * mean(g * n)) / s, summed(dy * n), summed(dy)


class Backward:
    def __call__(self, dy, x, gamma, *, eps=1e-5):
        return by_formula(dy, x, gamma, eps)


RIGHT: dict[str, Answer] = {
    "by formula": by_formula,
    "step by step": step_by_step,
    "matrices": matrices,
    "token by token": token_by_token,
    "in float64 and back": in_double,
    "two projections": two_projections,
    "an object with __call__": Backward(),
}


def dx_by(rule):
    """Another dx, by a rule of g, n, s, gamma and dy."""

    def answer(dy, x, gamma, eps=1e-5):
        n, s = parts(x, eps)
        return rule(gamma * dy, n, s, gamma, dy), *by_formula(dy, x, gamma, eps)[1:]

    return answer


def gamma_outside(g, n, s, gamma, dy):
    return gamma * (dy - mean(dy) - n * mean(dy * n)) / s


def sums(g, n, s, gamma, dy):
    total = g.sum(-1, keepdims=True) + n * (g * n).sum(-1, keepdims=True)
    return (g - total) / s


def of_deviations(g, n, s, gamma, dy):
    centered = n * s
    return (g - mean(g) - centered * mean(g * centered)) / s


def dgamma_by(rule):
    def answer(dy, x, gamma, eps=1e-5):
        dx, _, dbeta = by_formula(dy, x, gamma, eps)
        return dx, rule(dy, x, parts(x, eps)[0]), dbeta

    return answer


def unsummed(dy, x, gamma, eps=1e-5):
    return by_formula(dy, x, gamma, eps)[0], dy * parts(x, eps)[0], dy


def batches_alone(dy, x, gamma, eps=1e-5):
    dx = by_formula(dy, x, gamma, eps)[0]
    return dx, (dy * parts(x, eps)[0]).sum(axis=(0, 1)), dy.sum(axis=(0, 1))


def eps_ignored(dy, x, gamma, eps=1e-5):
    return by_formula(dy, x, gamma)


def in_place(dy, x, gamma, eps=1e-5):
    found = by_formula(dy, x, gamma, eps)
    dy *= gamma
    return found


def no_return(dy, x, gamma, eps=1e-5):
    by_formula(dy, x, gamma, eps)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "constants": Wrong(dx_by(lambda g, n, s, gamma, dy: g / s), "mean and spread held fixed"),
    "mean alone": Wrong(dx_by(lambda g, n, s, gamma, dy: (g - mean(g)) / s), "spread held fixed"),
    "spread alone": Wrong(dx_by(lambda g, n, s, gamma, dy: (g - n * mean(g * n)) / s), "mean held fixed"),
    "no gamma": Wrong(
        dx_by(lambda g, n, s, gamma, dy: (dy - mean(dy) - n * mean(dy * n)) / s), "gamma left out"
    ),
    "gamma outside": Wrong(dx_by(gamma_outside), "gamma at the end"),
    "no spread": Wrong(
        dx_by(lambda g, n, s, gamma, dy: g - mean(g) - n * mean(g * n)), "not divided by the spread"
    ),
    "variance": Wrong(
        dx_by(lambda g, n, s, gamma, dy: (g - mean(g) - n * mean(g * n)) / s / s), "divided by the variance"
    ),
    "sums": Wrong(dx_by(sums), "sums in place of means"),
    "deviations": Wrong(dx_by(of_deviations), "deviations in place of n"),
    "x in dgamma": Wrong(dgamma_by(lambda dy, x, n: summed(dy * x)), "x in place of n in dgamma"),
    "mean over tokens": Wrong(
        dgamma_by(lambda dy, x, n: (dy * n).reshape(-1, n.shape[-1]).mean(0)), "mean over tokens"
    ),
    "not summed": Wrong(unsummed, "not summed over tokens"),
    "batches alone": Wrong(batches_alone, None),
    "eps ignored": Wrong(eps_ignored, None),
    "in place": Wrong(in_place, None),
    "always float64": Wrong(
        lambda dy, x, gamma, eps=1e-5: by_formula(dy.astype(float), x.astype(float), gamma, eps), None
    ),
    "dx alone": Wrong(lambda dy, x, gamma, eps=1e-5: by_formula(dy, x, gamma, eps)[0], None),
}

TRIVIAL: dict[str, Answer] = {
    "the given": lambda dy, x, gamma, eps=1e-5: (dy, gamma, gamma),
    "zeros": lambda dy, x, gamma, eps=1e-5: (0 * x, 0 * gamma, 0 * gamma),
    "sums of dy": lambda dy, x, gamma, eps=1e-5: (dy, summed(dy), summed(dy)),
    "ones": lambda dy, x, gamma, eps=1e-5: (np.ones_like(x), np.ones_like(gamma), np.ones_like(gamma)),
    "noise": lambda dy, x, gamma, eps=1e-5: (np.random.default_rng(0).normal(size=x.shape), gamma, gamma),
}
