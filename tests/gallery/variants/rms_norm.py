"""Answers to `variants.rms_norm`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def textbook(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)


def other_names(tokens, gain, epsilon=1e-5):
    return tokens * (np.mean(tokens * tokens, -1)[..., None] + epsilon) ** -0.5 * gain


def einsum(x, gamma, eps=1e-5):
    size = np.sqrt(np.einsum("...d,...d->...", x, x) / x.shape[-1] + eps)
    return np.einsum("...d,...,d->...d", x, 1 / size, gamma)


def by_length(x, gamma, eps=1e-5):
    D = x.shape[-1]
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return D**0.5 * x / np.sqrt(length**2 + D * eps) * gamma


def loops(x, gamma, eps=1e-5):
    y, number = np.empty_like(x), x.dtype.type
    for where in np.ndindex(x.shape[:-1]):
        total = number(0)
        for feature in x[where]:
            total += feature * feature
        y[where] = x[where] / np.sqrt(total / number(x.shape[-1]) + number(eps)) * gamma
    return y


def wider_inside(x, gamma, eps=1e-5):
    wide = x.astype(np.float64)
    return (wide / np.sqrt(np.square(wide).mean(-1, keepdims=True) + eps) * gamma).astype(x.dtype)


def flat(x, gamma, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    return (rows / np.sqrt(np.mean(rows**2, axis=1, keepdims=True) + eps) * gamma).reshape(x.shape)


class RMSNorm:
    def __call__(self, x, gamma, eps=1e-5):
        return textbook(x, gamma, eps)


RIGHT: dict[str, Answer] = {
    "textbook": textbook,
    "other names": other_names,
    "einsum": einsum,
    "by length": by_length,
    "loops": loops,
    "wider inside": wider_inside,
    "flat": flat,
    "a lambda": lambda x, gamma, eps=1e-5: x / np.sqrt(np.square(x).mean(-1)[..., None] + eps) * gamma,
    "an object with __call__": RMSNorm(),
}


def squares(x, axis=-1):
    return (x * x).mean(axis=axis, keepdims=True)


def centered(x):
    return x - x.mean(-1, keepdims=True)


def sequence_axes(x):
    return (-2, -1) if x.ndim > 1 else -1


def no_return(x, gamma, eps=1e-5):
    textbook(x, gamma, eps)


def in_place(x, gamma, eps=1e-5):
    x /= np.sqrt(squares(x) + eps)
    return x * gamma


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "layer norm": Wrong(
        lambda x, gamma, eps=1e-5: gamma * centered(x) / np.sqrt(squares(centered(x)) + eps), "layer norm"
    ),
    "spread": Wrong(
        lambda x, gamma, eps=1e-5: gamma * x / np.sqrt(np.var(x, -1)[..., None] + eps),
        "spread in place of the size",
    ),
    "centered": Wrong(
        lambda x, gamma, eps=1e-5: gamma * centered(x) / np.sqrt(squares(x) + eps),
        "mean taken away, size left",
    ),
    "length": Wrong(
        lambda x, gamma, eps=1e-5: gamma * x / np.sqrt((x * x).sum(-1)[..., None] + eps),
        "sum of the squares",
    ),
    "no root": Wrong(
        lambda x, gamma, eps=1e-5: gamma * x / (squares(x) + eps), "mean square without its root"
    ),
    "absolute": Wrong(
        lambda x, gamma, eps=1e-5: gamma * x / (np.abs(x).mean(-1, keepdims=True) + eps),
        "mean of the absolute values",
    ),
    "a sequence": Wrong(
        lambda x, gamma, eps=1e-5: gamma * x / np.sqrt(squares(x, sequence_axes(x)) + eps),
        "one size for a sequence",
    ),
    "everything": Wrong(
        lambda x, gamma, eps=1e-5: gamma * x / np.sqrt(np.mean(x * x) + eps), "one size for all tokens"
    ),
    "tokens": Wrong(
        lambda x, gamma, eps=1e-5: gamma * x / np.sqrt(squares(x, -2 if x.ndim > 1 else 0) + eps),
        "size over the tokens",
    ),
    "outside": Wrong(
        lambda x, gamma, eps=1e-5: gamma * x / (np.sqrt(squares(x)) + eps), "eps outside the root"
    ),
    "no eps": Wrong(lambda x, gamma, eps=1e-5: gamma * x / np.sqrt(squares(x)), "eps left out"),
    "its own eps": Wrong(lambda x, gamma, eps=1e-5: textbook(x, gamma, 1e-5), "eps fixed"),
    "no gamma": Wrong(lambda x, gamma, eps=1e-5: textbook(x, np.ones_like(gamma), eps), "gamma left out"),
    "gain from zero": Wrong(lambda x, gamma, eps=1e-5: textbook(x, 1 + gamma, eps), "one added to gamma"),
    "layer norm of batches alone": Wrong(
        lambda x, gamma, eps=1e-5: gamma * (x - x.mean(2)[:, :, None]) / np.sqrt(x.var(2)[:, :, None] + eps),
        "layer norm",
    ),
    "twice": Wrong(lambda x, gamma, eps=1e-5: textbook(textbook(x, gamma, eps), gamma, eps), None),
    "always float64": Wrong(lambda x, gamma, eps=1e-5: textbook(x.astype(float), gamma, eps), None),
    "changes x": Wrong(in_place, None),
    "axis 1": Wrong(
        lambda x, gamma, eps=1e-5: gamma * x / np.sqrt(squares(x, 1) + eps), "size over the tokens"
    ),
    "batches alone": Wrong(
        lambda x, gamma, eps=1e-5: gamma * x / np.sqrt((x**2).mean(2, keepdims=True) + eps), None
    ),
}

TRIVIAL: dict[str, Answer] = {
    "x": lambda x, gamma, eps=1e-5: x,
    "zeros": lambda x, gamma, eps=1e-5: np.zeros_like(x),
    "ones": lambda x, gamma, eps=1e-5: np.ones_like(x),
    "gamma": lambda x, gamma, eps=1e-5: np.broadcast_to(gamma, x.shape),
    "noise": lambda x, gamma, eps=1e-5: np.random.default_rng(0).normal(size=x.shape).astype(x.dtype),
}
