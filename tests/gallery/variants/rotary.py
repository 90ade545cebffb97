"""Answers to `variants.rotary`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def angles_of(positions, K, base):
    return np.outer(positions, base ** (-2 * np.arange(K // 2) / K))


def turned(heads, angles):
    cosine, sine = np.cos(angles).astype(heads.dtype), np.sin(angles).astype(heads.dtype)
    a, b = np.split(heads, 2, axis=-1)
    return np.concatenate([a * cosine - b * sine, a * sine + b * cosine], axis=-1)


def by_halves(q, k, positions, base=10000.0):
    angles = angles_of(positions, q.shape[-1], base)
    return turned(q, angles), turned(k, angles)


def by_complex_numbers(q, k, positions, base=10000.0):
    half = q.shape[-1] // 2
    turns = np.exp(1j * angles_of(positions, 2 * half, base))
    both = []
    for heads in (q, k):
        z = (heads[..., :half] + 1j * heads[..., half:]) * turns
        both.append(np.concatenate([z.real, z.imag], axis=-1).astype(heads.dtype))
    return tuple(both)


def by_rotate_half(q, k, positions, base=10000.0):
    angles = np.tile(angles_of(positions, q.shape[-1], base), 2)
    cosine, sine = np.cos(angles), np.sin(angles)
    half = q.shape[-1] // 2

    def turn(heads):
        other = np.concatenate([-heads[..., half:], heads[..., :half]], axis=-1)
        return (heads * cosine + other * sine).astype(heads.dtype)

    return turn(q), turn(k)


def by_matrices(q, k, positions, base=10000.0):
    K = q.shape[-1]
    angles, half = angles_of(positions, K, base), K // 2
    R = np.zeros((len(positions), K, K))
    for i in range(half):
        R[:, i, i] = R[:, half + i, half + i] = np.cos(angles[:, i])
        R[:, i, half + i], R[:, half + i, i] = -np.sin(angles[:, i]), np.sin(angles[:, i])
    return tuple(np.einsum("tij,htj->hti", R, heads).astype(heads.dtype) for heads in (q, k))


def loops(q, k, positions, base=10000.0):
    half = q.shape[-1] // 2
    both = q.copy(), k.copy()
    for heads, out in zip((q, k), both, strict=True):
        for h, t, i in np.ndindex(len(heads), len(positions), half):
            angle = float(positions[t]) / base ** (i / half)
            a, b = heads[h, t, i], heads[h, t, half + i]
            out[h, t, i] = a * np.cos(angle) - b * np.sin(angle)
            out[h, t, half + i] = a * np.sin(angle) + b * np.cos(angle)
    return both


def stacked(q, k, positions, base=10000.0):
    out = turned(np.concatenate([q, k]), angles_of(positions, q.shape[-1], base))
    return out[: len(q)], out[len(q) :]


class Rotary:
    def __call__(self, q, k, positions, base=10000.0):
        return by_halves(q, k, positions, base)


RIGHT: dict[str, Answer] = {
    "by halves": by_halves,
    "by complex numbers": by_complex_numbers,
    "by rotate half": by_rotate_half,
    "by matrices": by_matrices,
    "loops": loops,
    "both at once": stacked,
    "a list": lambda q, k, positions, base=10000.0: list(by_halves(q, k, positions, base)),
    "an object with __call__": Rotary(),
}


def no_return(q, k, positions, base=10000.0):
    by_halves(q, k, positions, base)


def pairs_of_neighbors(q, k, positions, base=10000.0):
    angles = angles_of(positions, q.shape[-1], base)
    both = []
    for heads in (q, k):
        out = np.empty_like(heads)
        out[..., 0::2] = heads[..., 0::2] * np.cos(angles) - heads[..., 1::2] * np.sin(angles)
        out[..., 1::2] = heads[..., 0::2] * np.sin(angles) + heads[..., 1::2] * np.cos(angles)
        both.append(out)
    return tuple(both)


def mixed(q, k, positions, base=10000.0):
    angles = np.repeat(angles_of(positions, q.shape[-1], base), 2, axis=-1)
    half = q.shape[-1] // 2
    return tuple(
        heads * np.cos(angles)
        + np.concatenate([-heads[..., half:], heads[..., :half]], axis=-1) * np.sin(angles)
        for heads in (q, k)
    )


def with_angles(make, of_keys=lambda angles: angles):
    """Other angles, made from positions, K, H and the base; keys may have theirs."""

    def answer(q, k, positions, base=10000.0):
        angles = make(positions, q.shape[-1], len(q), base)
        return turned(q, angles), turned(k, of_keys(angles))

    return answer


def right_angles(positions, K, H, base):
    return angles_of(positions, K, base)


def in_their_dtype(q, k, positions, base=10000.0):
    number, K = q.dtype.type, q.shape[-1]
    exponents = (2 * np.arange(K // 2) / K).astype(q.dtype)
    angles = positions.astype(q.dtype)[:, None] / number(base) ** exponents
    return turned(q, angles), turned(k, angles)


def in_float32(q, k, positions, base=10000.0):
    K = q.shape[-1]
    frequencies = (base ** (-2 * np.arange(K // 2) / K)).astype(np.float32)
    angles = positions.astype(np.float32)[:, None] * frequencies
    return turned(q, angles).astype(q.dtype), turned(k, angles).astype(k.dtype)


def in_place(q, k, positions, base=10000.0):
    q[...], k[...] = by_halves(q, k, positions, base)
    return q, k


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "neighbors": Wrong(pairs_of_neighbors, "neighbors paired"),
    "mixed": Wrong(mixed, "angles laid out for neighbors"),
    "backwards": Wrong(with_angles(lambda p, K, H, base: -angles_of(p, K, base)), "turned backwards"),
    "keys backwards": Wrong(with_angles(right_angles, np.negative), "keys turned backwards"),
    "queries alone": Wrong(
        lambda q, k, positions, base=10000.0: (by_halves(q, k, positions, base)[0], k), "keys not turned"
    ),
    "from 0": Wrong(
        with_angles(lambda p, K, H, base: angles_of(range(len(p)), K, base)), "positions always from 0"
    ),
    "from 1": Wrong(with_angles(lambda p, K, H, base: angles_of(p + 1, K, base)), "positions from 1"),
    "by D": Wrong(
        with_angles(lambda p, K, H, base: np.outer(p, base ** (-2 * np.arange(K // 2) / (K * H)))),
        "angles by D",
    ),
    "i over K": Wrong(
        with_angles(lambda p, K, H, base: np.outer(p, base ** (-np.arange(K // 2) / K))), "exponent i/K"
    ),
    "one angle": Wrong(
        with_angles(lambda p, K, H, base: np.outer(p, np.ones(K // 2))), "one angle for all pairs"
    ),
    "its own base": Wrong(
        lambda q, k, positions, base=10000.0: by_halves(q, k, positions), "base always 10,000"
    ),
    "float32 angles": Wrong(in_their_dtype, "angles in float32"),
    "float32 angles whatever the heads": Wrong(in_float32, "angles in float32"),
    "degrees": Wrong(with_angles(lambda p, K, H, base: np.radians(angles_of(p, K, base))), None),
    "queries only returned": Wrong(lambda *s: by_halves(*s)[0], None),
    "changes q": Wrong(in_place, None),
    "always float64": Wrong(lambda q, k, *s: by_halves(q.astype(np.float64), k.astype(np.float64), *s), None),
}

TRIVIAL: dict[str, Answer] = {
    "q and k": lambda q, k, *s: (q, k),
    "zeros": lambda q, k, *s: (np.zeros_like(q), np.zeros_like(k)),
    "halves exchanged": lambda q, k, *s: tuple(np.roll(x, x.shape[-1] // 2, -1) for x in (q, k)),
    "times the position": lambda q, k, positions, *s: (q * positions[:, None], k * positions[:, None]),
    "noise": lambda q, k, *s: tuple(np.random.default_rng(0).normal(size=x.shape) for x in (q, k)),
}
