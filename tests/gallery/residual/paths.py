"""Answers to `residual.paths`."""

import math

import numpy as np

from tests.gallery.answers import Answer, Wrong

NAMES = ("paths", "with_k", "through_one", "alive", "no_skips", "no_skips_alive")


def by_formula(L, k, silent):
    return {
        "paths": 2**L,
        "with_k": math.comb(L, k),
        "through_one": 2 ** (L - 1),
        "alive": 2 ** (L - silent),
        "no_skips": 1,
        "no_skips_alive": 0,
    }


def by_factorials(L, k, silent):
    f = math.factorial
    table = by_formula(L, k, silent)
    return table | {"with_k": f(L) // f(k) // f(L - k), "through_one": 2**L // 2}


def by_listing(L, k, silent):
    ways = np.arange(2**L)[:, None] >> np.arange(L) & 1
    return {
        "paths": len(ways),
        "with_k": (ways.sum(axis=1) == k).sum(),
        "through_one": ways[:, 0].sum(),
        "alive": (~ways[:, :silent].any(axis=1)).sum(),
        "no_skips": ways.all(axis=1).sum(),
        "no_skips_alive": 0,
    }


def by_pascal(L, k, silent):
    row = [1]
    for _ in range(L):
        row = [a + b for a, b in zip([0, *row], [*row, 0], strict=True)]
    table = by_formula(L, k, silent)
    return table | {"paths": sum(row), "with_k": row[k], "alive": sum(row) / 2**silent}


def in_floats(L, k, silent):
    return {name: float(value) for name, value in by_formula(L, k, silent).items()}


class Paths:
    def __call__(self, *sizes):
        return by_formula(*sizes)


RIGHT: dict[str, Answer] = {
    "by formula": by_formula,
    "by factorials": by_factorials,
    "by listing": by_listing,
    "by Pascal's triangle": by_pascal,
    "in floats": in_floats,
    "an object with __call__": Paths(),
    "a lambda": lambda L, k, silent: by_formula(L, k, silent) | {"paths": 1 << L},
}


def but(**entries):
    return lambda L, k, silent: by_formula(L, k, silent) | {n: f(L, k, silent) for n, f in entries.items()}


def no_return(L, k, silent):
    by_formula(L, k, silent)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "2L": Wrong(but(paths=lambda L, k, silent: L + L), "choices added up"),
    "all but one": Wrong(but(paths=lambda L, k, silent: 2**L - 1), "path of the skips not counted"),
    "in order": Wrong(but(with_k=lambda L, k, silent: math.perm(L, k)), "order counted"),
    "2^k": Wrong(but(with_k=lambda L, k, silent: 2**k), "k choices of two"),
    "one through one": Wrong(but(through_one=lambda L, k, silent: 1), "through one branch alone"),
    "less the silent": Wrong(
        but(alive=lambda L, k, silent: 2**L - silent), "one path less for each silent branch"
    ),
    "all dead": Wrong(but(alive=lambda L, k, silent: 0), "silence kills everything"),
    "2^silent": Wrong(
        but(alive=lambda L, k, silent: 2**silent), "silent branches counted in place of the others"
    ),
    "L without skips": Wrong(but(no_skips=lambda L, k, silent: L), "paths without skips"),
    "alive without skips": Wrong(but(no_skips_alive=lambda L, k, silent: 1), "no skips, and alive"),
    "half and half": Wrong(but(with_k=lambda L, k, silent: 2**L // 2), None),
    "an entry missing": Wrong(lambda L, k, silent: {"paths": 2**L}, None),
    "a number": Wrong(lambda L, k, silent: 2**L, None),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda L, k, silent: dict.fromkeys(NAMES, 0),
    "ones": lambda L, k, silent: dict.fromkeys(NAMES, 1),
    "L everywhere": lambda L, k, silent: dict.fromkeys(NAMES, L),
    "2^L everywhere": lambda L, k, silent: dict.fromkeys(NAMES, 2**L),
    "those of the chapter": lambda L, k, silent: by_formula(16, 5, 3) | {"no_skips": 16},
}
