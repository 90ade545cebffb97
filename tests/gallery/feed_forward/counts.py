"""Answers to `feed_forward.counts`."""

import math
from fractions import Fraction

import numpy as np

from tests.gallery.answers import Answer, Wrong


def by_formula(D, F):
    width = 2 * F // 3
    return {
        "plain": 2 * D * F + D + F,
        "attention": 4 * D * (D + 1),
        "gated_width": width,
        "gated": 3 * D * width,
    }


def by_shapes(D, F):
    width = math.floor(Fraction(2, 3) * F)

    def count(*shapes):
        return sum(math.prod(shape) for shape in shapes)

    return {
        "plain": count((F, D), (F,), (D, F), (D,)),
        "attention": count((3 * D, D), (3 * D,), (D, D), (D,)),
        "gated_width": width,
        "gated": count((width, D), (width, D), (D, width)),
    }


def by_arrays(D, F):
    table = by_formula(D, F)
    return {name: np.int64(value) for name, value in table.items()}


def in_floats(D, F):
    return {name: float(value) for name, value in by_formula(D, F).items()}


def with_more(D, F):
    return {"ratio": 2.0, **by_formula(D, F)}


class Counts:
    def __call__(self, D, F):
        return by_shapes(D, F)


RIGHT: dict[str, Answer] = {
    "by formula": by_formula,
    "by shapes": by_shapes,
    "NumPy integers": by_arrays,
    "whole numbers as floats": in_floats,
    "with an entry more": with_more,
    "an object with __call__": Counts(),
}


def changed(**entries):
    return lambda D, F: by_formula(D, F) | {name: made(D, F) for name, made in entries.items()}


def no_return(D, F):
    by_formula(D, F)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "no biases": Wrong(changed(plain=lambda D, F: 2 * D * F), "biases of the plain part left out"),
    "F twice": Wrong(changed(plain=lambda D, F: 2 * (D * F + F)), "two biases of one size"),
    "D twice": Wrong(changed(plain=lambda D, F: 2 * D * (F + 1)), "two biases of one size"),
    "one matrix": Wrong(changed(plain=lambda D, F: D * F + D + F), "one matrix"),
    "no output projection": Wrong(
        changed(attention=lambda D, F: 3 * (D * D + D)), "three projections of attention"
    ),
    "attention without biases": Wrong(
        changed(attention=lambda D, F: 4 * D**2), "biases of attention left out"
    ),
    "same width": Wrong(
        changed(gated_width=lambda D, F: F, gated=lambda D, F: 3 * D * F), "a gate at the same width"
    ),
    "8/3 F": Wrong(
        changed(gated_width=lambda D, F: 8 * F // 3, gated=lambda D, F: 3 * D * (8 * F // 3)),
        "8/3 of the inner width",
    ),
    "8/3 D": Wrong(
        changed(gated_width=lambda D, F: 8 * D // 3, gated=lambda D, F: 3 * D * (8 * D // 3)),
        "8/3 of D whatever F is",
    ),
    "two matrices": Wrong(changed(gated=lambda D, F: 2 * D * (2 * F // 3)), "two matrices in the gated part"),
    "not rounded": Wrong(changed(gated_width=lambda D, F: 2 * F / 3), None),
    "rounded up": Wrong(changed(gated_width=lambda D, F: -(-2 * F // 3)), None),
    "a tuple of three": Wrong(lambda D, F: tuple(by_formula(D, F).values())[:3], None),
    "an entry missing": Wrong(lambda D, F: {"plain": 2 * D * F + D + F}, None),
    "in words": Wrong(changed(plain=lambda D, F: f"{2 * D * F + D + F:,}"), None),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda D, F: dict.fromkeys(("plain", "attention", "gated_width", "gated"), 0),
    "the sizes": lambda D, F: {"plain": D * F, "attention": D * D, "gated_width": F, "gated": D * F},
    "of the first transformer": lambda D, F: by_formula(512, 2048),
    "an empty dict": lambda D, F: {},
    "a number": lambda D, F: 2 * D * F,
}
