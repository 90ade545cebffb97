"""Norms for a test to judge: layer norm in several ways, and others that are nearly one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from block_course.exercise import Array

Norm = Callable[[Array], Array]

SAMPLE, CENTERED, SCALED = (
    "sample variance",
    "centered and not scaled",
    "scaled and not centered",
)
BATCH, SEQUENCE, LAST, ITEM = (
    "statistics over the batch",
    "statistics over the sequence",
    "the last token left out",
    "all items but the first left out",
)
EPS, BENT = "eps of 0.01", "a bend before the norm"

Axes = int | tuple[int, ...]


def normalized(x: Array, eps: float = 1e-5, *, axes: Axes = -1, ddof: int = 0) -> Array:
    """Shift and scale by the statistics over some axes."""
    deviation = x - x.mean(axis=axes, keepdims=True)
    return np.asarray(deviation / np.sqrt(x.var(axis=axes, keepdims=True, ddof=ddof) + eps))


def right_norms() -> dict[str, Norm]:
    """Layer norm, with eps from 1e-12 to 1e-5, in two precisions, in two passes and in one."""
    return {
        "layer norm": normalized,
        "eps of 1e-12": partial(normalized, eps=1e-12),
        "computed in float32": lambda x: normalized(x.astype(np.float32)).astype(np.float64),
        "mean square less squared mean": _one_pass,
    }


def wrong_norms() -> dict[str, Norm]:
    """One for each fault. They take (B, T, D)."""
    return {
        SAMPLE: partial(normalized, ddof=1),
        CENTERED: lambda x: x - x.mean(axis=-1, keepdims=True),
        SCALED: lambda x: x / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5),
        BATCH: partial(normalized, axes=(0, 1)),
        SEQUENCE: partial(normalized, axes=(1, 2)),
        LAST: lambda x: np.concatenate([normalized(x[:, :-1]), x[:, -1:]], axis=1),
        ITEM: lambda x: np.concatenate([normalized(x[:1]), x[1:]]),
        EPS: partial(normalized, eps=1e-2),
        BENT: lambda x: normalized(np.tanh(x), 1e-9),
    }


def _one_pass(x: Array) -> Array:
    mean = x.mean(axis=-1, keepdims=True)
    variance = np.square(x).mean(axis=-1, keepdims=True) - np.square(mean)
    return np.asarray((x - mean) / np.sqrt(variance + 1e-5))
