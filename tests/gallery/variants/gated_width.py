"""Answers to `variants.gated_width`."""

import math
from fractions import Fraction

import numpy as np

from tests.gallery.answers import Answer, Wrong

NAMES = ("exact", "width", "more")


def of(D, F, exact, width):
    return {"exact": exact, "width": width, "more": D * (3 * width - 2 * F)}


def by_ceil(D, F, multiple):
    return of(D, F, 2 * F / 3, math.ceil(2 * F / (3 * multiple)) * multiple)


def step_by_step(D, F, multiple):
    width = multiple
    while 3 * width < 2 * F:
        width += multiple
    return of(D, F, F / 1.5, width)


def by_remainder(D, F, multiple):
    below, rest = divmod(2 * F, 3 * multiple)
    return of(D, F, 2 / 3 * F, (below + bool(rest)) * multiple)


def by_fractions(D, F, multiple):
    exact = Fraction(2 * F, 3)
    return of(D, F, float(exact), int(np.ceil(exact / multiple)) * multiple)


class Width:
    def __call__(self, width, inner, step):
        return step_by_step(width, inner, step)


RIGHT: dict[str, Answer] = {
    "by ceil": by_ceil,
    "step by step": step_by_step,
    "by remainder": by_remainder,
    "by fractions": by_fractions,
    "NumPy numbers": lambda *s: {name: np.float64(n) for name, n in by_ceil(*s).items()},
    "an object with __call__": Width(),
}


def no_return(D, F, multiple):
    by_ceil(D, F, multiple)


def with_exact(make):
    def answer(D, F, multiple):
        exact = make(D, F)
        return of(D, F, exact, math.ceil(exact / multiple) * multiple)

    return answer


def with_width(make):
    return lambda D, F, multiple: of(D, F, 2 * F / 3, make(2 * F / 3, multiple))


def nearest(exact, multiple):
    return math.floor(exact / multiple + 0.5) * multiple


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "upside down": Wrong(with_exact(lambda D, F: 1.5 * F), "three halves"),
    "half": Wrong(with_exact(lambda D, F: F / 2), "half"),
    "F": Wrong(with_exact(lambda D, F: F), "the same width"),
    "of D": Wrong(with_exact(lambda D, F: 8 * D / 3), "eight thirds of D whatever F is"),
    "down": Wrong(with_width(lambda exact, m: math.floor(exact / m) * m), "rounded down"),
    "nearest": Wrong(with_width(nearest), "rounded to the nearest"),
    "one further": Wrong(with_width(lambda exact, m: (int(exact) // m + 1) * m), "always one further"),
    "whole": Wrong(with_width(lambda exact, m: math.ceil(exact)), "next whole number"),
    "two matrices": Wrong(
        lambda D, F, m: by_ceil(D, F, m) | {"more": 2 * D * (by_ceil(D, F, m)["width"] - F)},
        "two matrices behind a gate",
    ),
    "less": Wrong(lambda *s: by_ceil(*s) | {"more": -by_ceil(*s)["more"]}, "turned over"),
    "not rounded": Wrong(with_width(lambda exact, m: exact), None),
    "whole exact": Wrong(lambda *s: by_ceil(*s) | {"exact": 2 * s[1] // 3}, None),
    "an entry missing": Wrong(lambda *s: {"width": by_ceil(*s)["width"]}, None),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda *s: dict.fromkeys(NAMES, 0),
    "the sizes": lambda D, F, multiple: {"exact": F, "width": D, "more": multiple},
    "of Llama": lambda *s: by_ceil(4096, 16_384, 256),
    "an empty dict": lambda *s: {},
    "a number": lambda *s: 11_008,
}
