"""Answers to `backward.softmax`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def by_formula(dw, w):
    return w * (dw - (w * dw).sum(axis=-1, keepdims=True))


def shared_first(dw, w):
    shared = w * dw
    return shared - w * np.sum(shared, -1)[..., None]


def by_jacobian(dw, w):
    table = w[..., :, None] * (np.eye(w.shape[-1], dtype=w.dtype) - w[..., None, :])
    return np.einsum("...i,...ij->...j", dw, table)


def einsum(dw, w):
    mean = np.einsum("...s,...s->...", w, dw)
    return np.einsum("...s,...s->...s", w, dw - np.expand_dims(mean, -1))


def loops(dw, w):
    ds = np.empty_like(w)
    for place in np.ndindex(w.shape[:-1]):
        for j in range(w.shape[-1]):
            slopes = [w[place][i] * ((i == j) - w[place][j]) for i in range(w.shape[-1])]
            ds[place][j] = sum(a * b for a, b in zip(slopes, dw[place], strict=True))
    return ds


def wider(dw, w):
    return by_formula(dw.astype(np.float64), w.astype(np.float64)).astype(w.dtype)


class Backward:
    def __call__(self, gradient, weights):
        return by_formula(gradient, weights)


RIGHT: dict[str, Answer] = {
    "by the formula": by_formula,
    "products first": shared_first,
    "the whole derivative": by_jacobian,
    "einsum": einsum,
    "loops": loops,
    "float64 inside": wider,
    "an object with __call__": Backward(),
    "a lambda": lambda dw, w: w * dw - w * np.vecdot(w, dw)[..., None],
}


def no_return(dw, w):
    by_formula(dw, w)


def in_place(dw, w):
    dw -= (w * dw).sum(axis=-1, keepdims=True)
    return w * dw


def without_axis_kept(dw, w):
    return w * (dw - (w * dw).sum(axis=-1))


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "the diagonal": Wrong(lambda dw, w: dw * w * (1 - w), "entry by entry"),
    "the diagonal, squares": Wrong(lambda dw, w: dw * (w - w**2), "entry by entry"),
    "the mean": Wrong(lambda dw, w: w * (dw - dw.mean(-1, keepdims=True)), "plain mean taken away"),
    "the sum": Wrong(lambda dw, w: w * (dw - dw.sum(-1, keepdims=True)), "unweighted sum taken away"),
    "w once": Wrong(lambda dw, w: dw - (w * dw).sum(-1, keepdims=True), "not multiplied by the weights"),
    "one w": Wrong(lambda dw, w: w * dw - (w * dw).sum(-1, keepdims=True), "one weight left out"),
    "the product": Wrong(lambda dw, w: w * dw, "nothing taken away"),
    "over the queries": Wrong(
        lambda dw, w: w * (dw - (w * dw).sum(-2, keepdims=True)), "summed over the queries"
    ),
    "over everything": Wrong(lambda dw, w: w * (dw - np.sum(w * dw)), "summed over everything"),
    "log-softmax": Wrong(lambda dw, w: dw - w * dw.sum(-1, keepdims=True), "backward of the logarithm"),
    "changes dw": Wrong(in_place, None),
    "no keepdims": Wrong(without_axis_kept, "axis of the sum lost"),
    "the sign": Wrong(lambda dw, w: -by_formula(dw, w), None),
    "weights from weights": Wrong(
        lambda dw, w: by_formula(dw, np.exp(w) / np.exp(w).sum(-1, keepdims=True)), None
    ),
    "always float64": Wrong(lambda dw, w: by_formula(dw, w).astype(float), None),
}

TRIVIAL: dict[str, Answer] = {
    "dw": lambda dw, w: dw,
    "the weights": lambda dw, w: w,
    "zeros": lambda dw, w: np.zeros_like(w),
    "ones": lambda dw, w: np.ones_like(w),
    "noise": lambda dw, w: np.random.default_rng(0).normal(size=w.shape).astype(w.dtype),
    "centered noise": lambda dw, w: dw - dw.mean(-1, keepdims=True),
}
