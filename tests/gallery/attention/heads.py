"""Answers to `attention.heads`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def split(x, H):
    return x.reshape(*x.shape[:-1], H, x.shape[-1] // H).swapaxes(-2, -3)


def merge(z):
    *batch, H, T, K = z.shape
    return np.swapaxes(z, -3, -2).reshape(*batch, T, H * K)


def both(x, z, n_heads):
    return split(x, n_heads), merge(z)


def by_slices(x, z, n_heads):
    K = x.shape[-1] // n_heads
    cut = np.stack([x[..., h * K : (h + 1) * K] for h in range(n_heads)], axis=-3)
    return cut, np.concatenate([z[..., h, :, :] for h in range(n_heads)], axis=-1)


def by_numpy(x, z, n_heads):
    cut = np.stack(np.split(x, n_heads, axis=-1), axis=-3)
    return [cut, np.concatenate(np.moveaxis(z, -3, 0), axis=-1)]


def loops(x, z, n_heads):
    cut, merged = np.empty_like(z), np.empty_like(x)
    K = z.shape[-1]
    for d in range(x.shape[-1]):
        cut[..., d // K, :, d % K] = x[..., d]
        merged[..., d] = z[..., d // K, :, d % K]
    return cut, merged


def einsum(x, z, n_heads):
    shaped = x.reshape(*x.shape[:-1], n_heads, -1)
    return np.einsum("...thk->...htk", shaped), np.einsum("...htk->...thk", z).reshape(x.shape)


class Heads:
    def __call__(self, x, z, n_heads):
        return both(x, z, n_heads)


RIGHT: dict[str, Answer] = {
    "two helpers": both,
    "by slices": by_slices,
    "NumPy's split and concatenate": by_numpy,
    "feature by feature": loops,
    "einsum": einsum,
    "an object with __call__": Heads(),
    "a lambda": lambda x, z, H: (split(x, H), merge(z)),
}


def bare_split(x, H):
    return x.reshape(*x.shape[:-2], H, x.shape[-2], -1)


def bare_merge(z):
    return z.reshape(*z.shape[:-3], z.shape[-2], -1)


def dealt(x, H):
    return np.stack([x[..., h::H] for h in range(H)], axis=-3)


def interleaved(z):
    return np.stack(list(np.moveaxis(z, -3, 0)), axis=-1).reshape(*z.shape[:-3], z.shape[-2], -1)


def both_bare_of_three_axes(x, z, n_heads):
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads), z.reshape(B, T, D)


def no_return(x, z, n_heads):
    both(x, z, n_heads)


def in_place(x, z, n_heads):
    cut, merged = both(x.copy(), z.copy(), n_heads)
    x[...] = merged
    return cut, merged


def three_axes(x, z, n_heads):
    B, T, D = x.shape
    return both(x.reshape(B, T, D), z, n_heads)


WRONG = {
    "bare merge": Wrong(lambda x, z, H: (split(x, H), bare_merge(z)), "heads not transposed back"),
    "bare split": Wrong(lambda x, z, H: (bare_split(x, H), merge(z)), "cut by a bare reshape"),
    "both bare": Wrong(lambda x, z, H: (bare_split(x, H), bare_merge(z)), "two bare reshapes"),
    "dealt": Wrong(lambda x, z, H: (dealt(x, H), interleaved(z)), "features dealt in turn"),
    "dealt, merged right": Wrong(lambda x, z, H: (dealt(x, H), merge(z)), "features dealt in turn"),
    "interleaved": Wrong(
        lambda x, z, H: (split(x, H), interleaved(z)), "features of heads mixed in the merge"
    ),
    "behind the tokens": Wrong(
        lambda x, z, H: (x.reshape(*x.shape[:-1], H, -1), merge(z)), "heads behind the tokens"
    ),
    "both bare, three axes": Wrong(both_bare_of_three_axes, "two bare reshapes"),
    "no return": Wrong(no_return, "no return"),
    "in place": Wrong(in_place, None),
    "three axes": Wrong(three_axes, None),
    "the cut alone": Wrong(lambda x, z, H: split(x, H), None),
    "merged first": Wrong(lambda x, z, H: (merge(z), split(x, H)), None),
    "always float64": Wrong(lambda *given: tuple(e.astype(np.float64) for e in both(*given)), None),
}

TRIVIAL: dict[str, Answer] = {
    "as given": lambda x, z, H: (x, z),
    "exchanged": lambda x, z, H: (z, x),
    "zeros": lambda x, z, H: (np.zeros_like(z), np.zeros_like(x)),
    "ones": lambda x, z, H: (np.ones_like(z), np.ones_like(x)),
}
