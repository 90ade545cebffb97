"""The right tables of 01_shapes, each whole in one function."""

from __future__ import annotations

import math


def branches(B: int, T: int, D: int, F: int) -> dict[str, tuple[int, ...]]:
    """Updates as wide as the stream, inner features F wide, and the two matrices (out, in)."""
    return {
        "attention": (B, T, D),
        "inner": (B, T, F),
        "feed_forward": (B, T, D),
        "up": (F, D),
        "down": (D, F),
        "y": (B, T, D),
    }


def trace(B: int, T: int, D: int, H: int, F: int) -> dict[str, tuple[int, ...]]:
    """The stream's shape at all six stages; heads of width D/H; one table for each head; F inside."""
    K = D // H
    stages = ("norm_1", "attention", "add_1", "norm_2", "feed_forward", "add_2")
    return {
        **dict.fromkeys(stages, (B, T, D)),
        "queries": (B, H, T, K),
        "weights": (B, H, T, T),
        "heads": (B, H, T, K),
        "inner": (B, T, F),
    }


def wires(placement: str, source: str) -> dict[str, set[str]]:
    """Arrows into each box; those of the second add come from behind the first half."""
    if placement == "pre":
        return {
            "norm_1": {source},
            "attention": {"norm_1"},
            "add_1": {source, "attention"},
            "norm_2": {"add_1"},
            "feed_forward": {"norm_2"},
            "add_2": {"add_1", "feed_forward"},
        }
    return {
        "attention": {source},
        "add_1": {source, "attention"},
        "norm_1": {"add_1"},
        "feed_forward": {"norm_1"},
        "add_2": {"norm_1", "feed_forward"},
        "norm_2": {"add_2"},
    }


def row(B: int, T: int, D: int, L: int) -> dict[str, object]:
    """The shape that came; every order; any B and T; a doubling at each of 2L branches."""
    return {
        "stream": (B, T, D),
        "orders": math.factorial(L),
        "takes": {"longer", "more items", "one token"},
        "appended": D * 4**L,
    }
