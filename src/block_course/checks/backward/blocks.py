"""Small blocks with a backward of their own, in which one step of the walk back can be a wrong one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from block_course.exercise import Array, Subject
from transformer_block.in_numpy.activations import gelu_backward, gelu_tanh_backward

Back = Callable[[Array], Array]
Weights = Mapping[str, Array]


def _mean(x: Array) -> Array:
    """Over the features of each token: a test asks thousands of times, and this is quicker than np.mean."""
    return np.asarray(np.add.reduce(x, axis=-1, keepdims=True) / x.shape[-1])


def _norm_back(dy: Array, n: Array, scale: Array) -> Array:
    return np.asarray((dy - _mean(dy) - n * _mean(dy * n)) / scale)


def norm_without_mean(dy: Array, n: Array, scale: Array) -> Array:
    """A layer norm's backward that forgets that the mean was subtracted."""
    return np.asarray((dy - n * _mean(dy * n)) / scale)


def _softmax_back(dw: Array, w: Array) -> Array:
    return np.asarray(w * (dw - (w * dw).sum(axis=-1, keepdims=True)))


def softmax_entry_by_entry(dw: Array, w: Array) -> Array:
    """A softmax's backward that takes the diagonal alone."""
    return np.asarray(dw * w * (1.0 - w))


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The steps of a walk back, by default the right ones."""

    skip: float = 1.0
    norm: Callable[[Array, Array, Array], Array] = _norm_back
    softmax: Callable[[Array, Array], Array] = _softmax_back
    bend: Callable[[Array, Array], Array] = gelu_tanh_backward
    with_root: bool = True


RIGHT = Steps()
EXACT_BEND = Steps(bend=gelu_backward)
"""The slope of the exact GELU; the block has GPT-2's, with a tanh."""


def drawn(rng: np.random.Generator, D: int, F: int) -> Weights:
    """Matrices under which scores differ and every part matters."""
    sides = {"q": (D, D), "k": (D, D), "v": (D, D), "up": (F, D), "down": (D, F)}
    return {name: np.asarray(rng.normal(size=side) * 1.2 / np.sqrt(side[1])) for name, side in sides.items()}


def layer_norm(x: Array, steps: Steps) -> tuple[Array, Back]:
    """Without gain and bias, so that a norm's output sums to 0."""
    centered = x - _mean(x)
    scale = np.sqrt(_mean(centered * centered) + 1e-5)
    n = centered / scale
    return np.asarray(n), lambda dy: steps.norm(dy, n, scale)


def attention(x: Array, p: Weights, steps: Steps) -> tuple[Array, Back]:
    """One head, no mask."""
    root = np.sqrt(x.shape[-1])
    q, k, v = (x @ p[name].T for name in "qkv")
    shares = np.exp(q @ k.swapaxes(-1, -2) / root)
    w = shares / shares.sum(axis=-1, keepdims=True)

    def back(dy: Array) -> Array:
        ds = steps.softmax(dy @ v.swapaxes(-1, -2), w) / (root if steps.with_root else 1.0)
        dv = w.swapaxes(-1, -2) @ dy
        return np.asarray(ds @ k @ p["q"] + ds.swapaxes(-1, -2) @ q @ p["k"] + dv @ p["v"])

    return np.asarray(w @ v), back


def _gelu(u: Array) -> Array:
    return np.asarray(0.5 * u * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (u + 0.044715 * u * u * u))))


def feed_forward(x: Array, p: Weights, steps: Steps) -> tuple[Array, Back]:
    """GELU in the middle, which has a slope everywhere."""
    u = x @ p["up"].T
    return _gelu(u) @ p["down"].T, lambda dy: np.asarray(steps.bend(dy @ p["down"], u) @ p["up"])


def pre_norm(x: Array, p: Weights, steps: Steps = RIGHT) -> tuple[Array, Back]:
    """Compute h = x + attention(LN(x)), y = h + FFN(LN(h)), and what walks back."""
    n_1, back_1 = layer_norm(x, steps)
    a, back_a = attention(n_1, p, steps)
    h = x + a
    n_2, back_2 = layer_norm(h, steps)
    f, back_f = feed_forward(n_2, p, steps)

    def back(dy: Array) -> Array:
        dh = steps.skip * dy + back_2(back_f(dy))
        return np.asarray(steps.skip * dh + back_1(back_a(dh)))

    return h + f, back


def post_norm(x: Array, p: Weights, steps: Steps = RIGHT) -> tuple[Array, Back]:
    """Compute h = LN(x + attention(x)), y = LN(h + FFN(h)), and what walks back."""
    a, back_a = attention(x, p, steps)
    h, back_1 = layer_norm(x + a, steps)
    f, back_f = feed_forward(h, p, steps)
    y, back_2 = layer_norm(h + f, steps)

    def back(dy: Array) -> Array:
        ds = back_2(dy)
        dh = back_1(ds + back_f(ds))
        return np.asarray(dh + back_a(dh))

    return y, back


Walk = Callable[[Array], tuple[Array, Back]]
Spoiled = Callable[[Back, Array], Array]


def subject(walk: Walk, *, right: bool, gradients: Spoiled = lambda back, dy: back(dy)) -> Subject:
    """A block that answers with its output and with what `gradients` makes of the walk back."""

    def asked(x: Array, dy: Array) -> Array:
        if dy.shape != x.shape:
            raise ValueError(f"dy must have the shape of x, {x.shape}; got {dy.shape}")
        return gradients(walk(x.astype(np.float64))[1], dy.astype(np.float64))

    return Subject(
        right=right, answers={"forward": lambda x: walk(x.astype(np.float64))[0], "gradients": asked}
    )
