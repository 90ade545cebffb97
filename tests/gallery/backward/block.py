"""Answers to `backward.block`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong
from transformer_block.in_numpy.layer_norm import layer_norm, layer_norm_backward


def by_parts(dy, x, w1, w2):
    n = layer_norm(x)
    u = n @ w1.T
    du = (dy @ w2) * (u > 0)
    dw1 = du.reshape(-1, len(w1)).T @ n.reshape(-1, n.shape[-1])
    dw2 = dy.reshape(-1, len(w2)).T @ np.maximum(u, 0).reshape(-1, len(w1))
    return dy + layer_norm_backward(du @ w1, x)[0], dw1, dw2


def norm_back(dn, x):
    centered = x - x.mean(axis=-1, keepdims=True)
    scale = np.sqrt(np.mean(centered**2, axis=-1, keepdims=True) + 1e-5)
    n = centered / scale
    return (dn - dn.mean(-1, keepdims=True) - n * (dn * n).mean(-1, keepdims=True)) / scale, n, scale


def by_hand(dy, x, w1, w2):
    _, n, _ = norm_back(x, x)
    u = np.einsum("...d,fd->...f", n, w1)
    du = np.where(u > 0, np.einsum("...d,df->...f", dy, w2), x.dtype.type(0))
    dx, _, _ = norm_back(np.einsum("...f,fd->...d", du, w1), x)
    return dx + dy, tables(du, n), tables(dy, np.clip(u, 0, None))


def tables(gradient, read):
    axes = list(range(read.ndim - 1))
    return np.tensordot(gradient, read, (axes, axes))


def token_by_token(dy, x, w1, w2):
    dx, dw1, dw2 = np.empty_like(x), np.zeros_like(w1), np.zeros_like(w2)
    for place in np.ndindex(x.shape[:-1]):
        n = layer_norm(x[place])
        u = w1 @ n
        du = (w2.T @ dy[place]) * np.sign(np.maximum(u, 0))
        dx[place] = dy[place] + layer_norm_backward(w1.T @ du, x[place])[0]
        dw1 += np.outer(du, n)
        dw2 += np.outer(dy[place], np.maximum(u, 0))
    return dx, dw1, dw2


def opened_matrices(dy, x, w1, w2):
    n = layer_norm(x)
    inner = np.maximum(n @ w1.T, 0)
    du = np.where(inner > 0, dy @ w2, 0 * inner)
    axes = tuple(range(x.ndim - 1))
    dw1 = (du[..., None] * n[..., None, :]).sum(axes)
    dw2 = (dy[..., None] * inner[..., None, :]).sum(axes)
    return layer_norm_backward(du @ w1, x)[0] + dy, dw1, dw2


def wider(dy, x, w1, w2):
    wide = (each.astype(np.float64) for each in (dy, x, w1, w2))
    return tuple(each.astype(x.dtype) for each in by_hand(*wide))


class Backward:
    def __call__(self, dy, x, w1, w2):
        return by_parts(dy, x, w1, w2)


RIGHT: dict[str, Answer] = {
    "by parts": by_parts,
    "by hand": by_hand,
    "token by token": token_by_token,
    "tables summed": opened_matrices,
    "float64 inside": wider,
    "an object with __call__": Backward(),
    "a lambda": lambda dy, x, w1, w2: by_parts(dy, x, w1, w2),
}


def walk(skip=1, norm=None, gate=None, read=None, early=False):
    def answer(dy, x, w1, w2):
        n = layer_norm(x)
        u = n @ w1.T
        dr = dy @ w2
        du = gate(u, dr) if gate else dr * (u > 0)
        dn = du @ w1 + dy * early
        back = norm(dn, x) if norm else layer_norm_backward(dn, x)[0]
        dw1, dw2 = tables(du, read(x) if read else n), tables(dy, np.maximum(u, 0))
        return back + dy * (0 if early else skip), dw1, dw2

    return answer


def no_return(dy, x, w1, w2):
    by_parts(dy, x, w1, w2)


def changes_dy(dy, x, w1, w2):
    dx, dw1, dw2 = by_parts(dy, x, w1, w2)
    dy[...] = dx
    return dy, dw1, dw2


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "no skip": Wrong(walk(skip=0), "skip forgotten"),
    "skip through the norm": Wrong(walk(early=True), "branch twice, skip not at all"),
    "no norm": Wrong(walk(norm=lambda dn, x: dn), "norm passed over"),
    "a division": Wrong(walk(norm=lambda dn, x: dn / norm_back(x, x)[2]), "norm as a division by the spread"),
    "no door": Wrong(walk(gate=lambda u, dr: dr), "ReLU passed over"),
    "the value": Wrong(walk(gate=lambda u, dr: dr * np.maximum(u, 0)), "the value in place of the slope"),
    "the wrong door": Wrong(walk(gate=lambda u, dr: np.maximum(dr, 0)), "ReLU of the gradient"),
    "the door of dr": Wrong(walk(gate=lambda u, dr: dr * (dr > 0)), "ReLU of the gradient"),
    "x for n": Wrong(walk(read=lambda x: x), "w1 read x, not the norm"),
    "skip twice": Wrong(walk(skip=2), None),
    "the mean forgotten": Wrong(
        walk(norm=lambda dn, x: norm_back(dn, x)[0] + dn.mean(-1, keepdims=True)), None
    ),
    "changes dy": Wrong(changes_dy, None),
    "always float64": Wrong(lambda *given: tuple(each.astype(float) for each in by_parts(*given)), None),
    "transposed": Wrong(lambda *given: (by_parts(*given)[0], *(m.T for m in by_parts(*given)[1:])), None),
}

TRIVIAL: dict[str, Answer] = {
    "the skip alone": lambda dy, x, w1, w2: (dy, 0 * w1, 0 * w2),
    "the inputs": lambda dy, x, w1, w2: (x, w1, w2),
    "zeros": lambda dy, x, w1, w2: (0 * x, 0 * w1, 0 * w2),
    "noise": lambda dy, x, w1, w2: tuple(
        np.random.default_rng(0).normal(size=each.shape).astype(x.dtype) for each in (x, w1, w2)
    ),
    "dy alone": lambda dy, x, w1, w2: dy,
}

_NEVER_0 = "no inner feature of a case is 0"
EQUIVALENT = {
    "reference: du = np.where(u > 0.0, dy @ w2, 0.0) → du = np.where(u >= 0.0, dy @ w2, 0.0) #1": _NEVER_0,
    "reference: return dx, _summed(du, n), _summed(dy, np.where(u > 0.0, u, 0.0)) → "
    "return dx, _summed(du, n), _summed(dy, np.where(u >= 0.0, u, 0.0)) #1": _NEVER_0,
}
