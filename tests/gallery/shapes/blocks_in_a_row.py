"""Answers to `shapes.blocks_in_a_row`."""

import itertools
import math

from tests.gallery.answers import Answer, Wrong

NAMES = ("stream", "orders", "takes", "appended")


def by_formula(B, T, D, L):
    return {
        "stream": (B, T, D),
        "orders": math.factorial(L),
        "takes": {"longer", "one token", "more items"},
        "appended": D * 2 ** (2 * L),
    }


def by_loops(B, T, D, L):
    width, orders = D, 1
    for block in range(1, L + 1):
        orders *= block
        for _ in ("attention", "feed_forward"):
            width += width
    return {"stream": [B, T, D], "orders": orders, "takes": _fitting(B, T, D), "appended": width}


def _fitting(B, T, D):
    offered = {
        "longer": (B, 2 * T, D),
        "wider": (B, T, 2 * D),
        "more items": (2 * B, T, D),
        "turned": (B, D, T),
        "one token": (B, 1, D),
        "narrow": (B, T, 1),
    }
    return [name for name, shape in offered.items() if shape[-1] == D]


def by_counting(B, T, D, L):
    few = min(L, 5)  # of more there are too many to list
    orders = len(list(itertools.permutations(range(few))))
    return by_formula(B, T, D, L) | {"orders": orders * math.prod(range(few + 1, L + 1))}


def in_floats(B, T, D, L):
    return by_formula(B, T, D, L) | {"appended": D * 4.0**L, "orders": math.gamma(L + 1)}


def in_a_tuple(B, T, D, L):
    return by_formula(B, T, D, L) | {"takes": ("one token", "longer", "more items")}


class Predict:
    def __call__(self, *sizes):
        return by_loops(*sizes)


RIGHT: dict[str, Answer] = {
    "by formula": by_formula,
    "by loops": by_loops,
    "by counting": by_counting,
    "in floats": in_floats,
    "in a tuple": in_a_tuple,
    "an object with __call__": Predict(),
    "a lambda": lambda B, T, D, L: by_formula(B, T, D, L) | {"appended": D << 2 * L},
}


def but(**entries):
    return lambda B, T, D, L: by_formula(B, T, D, L) | {k: made(B, T, D, L) for k, made in entries.items()}


def taking(*names):
    return but(takes=lambda B, T, D, L: set(names))


FITTING = ("longer", "one token", "more items")


def no_return(B, T, D, L):
    by_formula(B, T, D, L)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "2^L": Wrong(but(appended=lambda B, T, D, L: D * 2**L), "a doubling for each block"),
    "steps": Wrong(but(appended=lambda B, T, D, L: D + 2 * L * D), "width grows by steps"),
    "times 4L": Wrong(but(appended=lambda B, T, D, L: 4 * L * D), "one doubling in all"),
    "T is fixed": Wrong(taking("more items"), "length is fixed"),
    "no longer": Wrong(taking("more items", "one token"), "length is fixed"),
    "wider too": Wrong(taking(*FITTING, "wider"), "any width"),
    "narrow too": Wrong(taking(*FITTING, "narrow"), "a width of 1 is stretched"),
    "turned too": Wrong(taking(*FITTING, "turned"), "axes may be exchanged"),
    "one order": Wrong(but(orders=lambda B, T, D, L: 1), "one order"),
    "L squared": Wrong(but(orders=lambda B, T, D, L: L * L), "pairs in place of orders"),
    "4D": Wrong(but(stream=lambda B, T, D, L: (B, T, 4 * D)), "stream as wide as what is inside"),
    "all": Wrong(taking(*FITTING, "wider", "narrow", "turned"), None),
    "as it was": Wrong(but(appended=lambda B, T, D, L: D), None),
    "a row of lists": Wrong(lambda B, T, D, L: [(B, T, D), 1], None),
}

TRIVIAL: dict[str, Answer] = {
    "the given": lambda B, T, D, L: dict.fromkeys(NAMES, (B, T, D)),
    "zeros": lambda B, T, D, L: dict.fromkeys(NAMES, 0),
    "that of the chapter": lambda B, T, D, L: by_formula(2, 4, 6, 12) | {"takes": "x"},
    "an empty dict": lambda B, T, D, L: {},
    "words": lambda B, T, D, L: {key: {"longer", "wider"} for key in NAMES},
}
