"""Which tokens hear of a change, norm by norm and mode by mode."""

from __future__ import annotations

import numpy as np

from block_course.exercise import Array


def moved(norm: str, training: bool, B: int, T: int, b: int, t: int) -> Array:
    """Mark the tokens that share a statistic with token t of item b, and that token."""
    hears = np.zeros((B, T), bool)
    hears[b, t] = True
    if norm == "sequence":
        hears[b] = True
    if norm == "batch" and training:
        hears[:] = True
    return hears
