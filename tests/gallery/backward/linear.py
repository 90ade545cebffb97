"""Answers to `backward.linear`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def by_rows(dy, x, weight):
    rows, tokens = dy.reshape(-1, dy.shape[-1]), x.reshape(-1, x.shape[-1])
    return dy @ weight, rows.T @ tokens, rows.sum(axis=0)


def einsum(dy, x, weight):
    dx = np.einsum("...o,oi->...i", dy, weight)
    rows, tokens = dy.reshape(-1, dy.shape[-1]), x.reshape(-1, x.shape[-1])
    return dx, np.einsum("no,ni->oi", rows, tokens), np.einsum("no->o", rows)


def token_by_token(dy, x, weight):
    dx, dweight = np.zeros_like(x), np.zeros_like(weight)
    dbias = np.zeros_like(weight[:, 0])
    for place in np.ndindex(x.shape[:-1]):
        dx[place] = weight.T @ dy[place]
        dweight += np.outer(dy[place], x[place])
        dbias += dy[place]
    return dx, dweight, dbias


def summed_after(dy, x, weight):
    tables = dy[..., :, None] * x[..., None, :]
    axes = tuple(range(dy.ndim - 1))
    return dy.dot(weight), tables.sum(axis=axes), dy.sum(axis=axes)


def tensordot(dy, x, weight):
    axes = list(range(dy.ndim - 1))
    return np.tensordot(dy, weight, 1), np.tensordot(dy, x, (axes, axes)), np.add.reduce(dy, tuple(axes))


def wider(dy, x, weight):
    return tuple(each.astype(x.dtype) for each in by_rows(*(v.astype(np.float64) for v in (dy, x, weight))))


class Backward:
    def __call__(self, dy, x, weight):
        return list(by_rows(dy, x, weight))


RIGHT: dict[str, Answer] = {
    "by rows": by_rows,
    "einsum": einsum,
    "token by token": token_by_token,
    "products summed": summed_after,
    "tensordot": tensordot,
    "float64 inside": wider,
    "an object that returns a list": Backward(),
    "a lambda": lambda dy, x, weight: einsum(dy, x, weight),
}


def changed(**parts):
    def answer(dy, x, weight):
        right = dict(zip(("dx", "dweight", "dbias"), by_rows(dy, x, weight), strict=True))
        return tuple((right | {name: made(dy, x, weight) for name, made in parts.items()}).values())

    return answer


def tokens(x):
    return x.size // x.shape[-1]


def no_return(dy, x, weight):
    by_rows(dy, x, weight)


def in_place(dy, x, weight):
    given = dy.copy()
    dy *= 0
    return by_rows(given, x, weight)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "Wᵀ": Wrong(changed(dx=lambda dy, x, w: dy @ w.T), "Wᵀ in place of W"),
    "Wᵀ by einsum": Wrong(changed(dx=lambda dy, x, w: np.einsum("...o,io->...i", dy, w)), "Wᵀ in place of W"),
    "(in, out)": Wrong(
        changed(dweight=lambda dy, x, w: by_rows(dy, x, w)[1].T), "gradient of the weight (in, out)"
    ),
    "means": Wrong(
        changed(
            dweight=lambda dy, x, w: by_rows(dy, x, w)[1] / tokens(x),
            dbias=lambda dy, x, w: by_rows(dy, x, w)[2] / tokens(x),
        ),
        "averaged over the tokens",
    ),
    "mean for the bias": Wrong(
        changed(dbias=lambda dy, x, w: dy.reshape(-1, dy.shape[-1]).mean(0)), "averaged over the tokens"
    ),
    "items apart": Wrong(
        changed(dweight=lambda dy, x, w: np.einsum("...to,...ti->...oi", dy, x)), "one gradient for each item"
    ),
    "items apart, bias too": Wrong(
        changed(dweight=lambda dy, x, w: dy.swapaxes(-1, -2) @ x, dbias=lambda dy, x, w: dy.sum(-2)),
        "one gradient for each item",
    ),
    "bias over axis 0": Wrong(
        changed(dbias=lambda dy, x, w: dy.sum(axis=0)), "bias summed over the first axis alone"
    ),
    "bias for each token": Wrong(changed(dbias=lambda dy, x, w: dy), "bias not summed"),
    "turned round": Wrong(
        lambda dy, x, w: (dy @ w, dy.T @ x, dy.sum(tuple(range(dy.ndim - 1)))), "batch turned round"
    ),
    "turned round, bias over axis 0": Wrong(
        lambda dy, x, w: (dy @ w, dy.T @ x, dy.sum(0)), "batch turned round"
    ),
    "bias forgotten": Wrong(lambda dy, x, w: by_rows(dy, x, w)[:2], None),
    "another order": Wrong(lambda dy, x, w: by_rows(dy, x, w)[::-1], None),
    "changes dy": Wrong(in_place, None),
    "always float64": Wrong(
        lambda dy, x, w: tuple(each.astype(np.float64) for each in by_rows(dy, x, w)), None
    ),
    "the first item": Wrong(
        lambda dy, x, w: by_rows(dy, x, w) if x.ndim < 3 else (dy @ w, *by_rows(dy[0], x[0], w)[1:]), None
    ),
}

TRIVIAL: dict[str, Answer] = {
    "the inputs": lambda dy, x, w: (x, w, w[:, 0]),
    "zeros": lambda dy, x, w: (np.zeros_like(x), np.zeros_like(w), np.zeros_like(w[:, 0])),
    "ones": lambda dy, x, w: (np.ones_like(x), np.ones_like(w), np.ones_like(w[:, 0])),
    "noise": lambda dy, x, w: tuple(
        np.random.default_rng(0).normal(size=each.shape).astype(x.dtype) for each in (x, w, w[:, 0])
    ),
    "dy alone": lambda dy, x, w: dy,
}

_ANY = "NumPy takes any negative side as the one to work out"
EQUIVALENT = {
    "reference: rows, tokens = dy.reshape(-1, dy.shape[-1]), x.reshape(-1, x.shape[-1]) → "
    "rows, tokens = dy.reshape(-2, dy.shape[-1]), x.reshape(-1, x.shape[-1]) #1": _ANY,
    "reference: rows, tokens = dy.reshape(-1, dy.shape[-1]), x.reshape(-1, x.shape[-1]) → "
    "rows, tokens = dy.reshape(-1, dy.shape[-1]), x.reshape(-2, x.shape[-1]) #1": _ANY,
}
