"""Answers to `parameters.reconcile`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong

NAMES = ("in_blocks", "one_block", "feed_forward", "F")


def of(in_blocks, D, L, attention=4, gains=2, matrices=3):
    block = in_blocks // L
    part = block - attention * D * D - gains * D
    return {"in_blocks": in_blocks, "one_block": block, "feed_forward": part, "F": part // (matrices * D)}


def by_rule(total, V, D, L):
    return of(total - 2 * V * D - D, D, L)


def by_dividing(total, V, D, L):
    in_blocks = total - (V + V + 1) * D
    part = in_blocks / L - D * (4 * D + 2)
    return {"in_blocks": in_blocks, "one_block": in_blocks / L, "feed_forward": part, "F": part / D / 3}


def by_search(total, V, D, L):
    table = by_rule(total, V, D, L)
    low, high = 1, table["one_block"]
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if 3 * middle * D >= table["feed_forward"] else (middle + 1, high)
    return table | {"F": low}


class Reconcile:
    def __call__(self, *sizes):
        return by_rule(*sizes)


RIGHT: dict[str, Answer] = {
    "by the rule": by_rule,
    "by dividing": by_dividing,
    "by search": by_search,
    "NumPy integers": lambda *s: {name: np.int64(n) for name, n in by_rule(*s).items()},
    "with an entry more": lambda *s: {"tables": 2, **by_rule(*s)},
    "an object with __call__": Reconcile(),
}


def no_return(total, V, D, L):
    by_rule(total, V, D, L)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "one table": Wrong(lambda total, V, D, L: of(total - (V + 1) * D, D, L), "one table"),
    "no table": Wrong(lambda total, V, D, L: of(total - D, D, L), "no table"),
    "norm left in": Wrong(lambda total, V, D, L: of(total - 2 * V * D, D, L), "the final norm left in"),
    "a shift": Wrong(lambda total, V, D, L: of(total - 2 * (V + 1) * D, D, L), "a final norm with a shift"),
    "two matrices": Wrong(lambda total, V, D, L: of(total - 2 * V * D - D, D, L, matrices=2), "two matrices"),
    "three projections": Wrong(
        lambda total, V, D, L: of(total - 2 * V * D - D, D, L, attention=3), "three projections of attention"
    ),
    "attention left in": Wrong(
        lambda total, V, D, L: of(total - 2 * V * D - D, D, L, attention=0), "attention left in"
    ),
    "gains left in": Wrong(
        lambda total, V, D, L: (
            of(total - 2 * V * D - D, D, L, gains=0) | {"F": by_dividing(total, V, D, L)["F"] + 2 / 3}
        ),
        "the gains left in",
    ),
    "gains left in, whole": Wrong(
        lambda total, V, D, L: of(total - 2 * V * D - D, D, L, gains=0), "the gains left in"
    ),
    "no norm at the end, divided": Wrong(
        lambda total, V, D, L: {
            "in_blocks": total - 2 * V * D,
            "one_block": (total - 2 * V * D) / L,
            "feed_forward": (total - 2 * V * D) / L - 4 * D * D - 2 * D,
            "F": ((total - 2 * V * D) / L - 4 * D * D - 2 * D) / (3 * D),
        },
        "the final norm left in",
    ),
    "all blocks": Wrong(lambda total, V, D, L: of(total - 2 * V * D - D, D, 1), "all blocks for one"),
    "four times D": Wrong(lambda total, V, D, L: by_rule(total, V, D, L) | {"F": 4 * D}, None),
    "an entry missing": Wrong(lambda *s: {"F": by_rule(*s)["F"]}, None),
    "in words": Wrong(lambda *s: by_rule(*s) | {"F": "11,008"}, None),
}

TRIVIAL: dict[str, Answer] = {
    "ones": lambda *s: dict.fromkeys(NAMES, 1),
    "the total": lambda total, V, D, L: {"in_blocks": total, "one_block": total // L, "F": 4 * D},
    "of Llama 7B": lambda *s: by_rule(6_738_415_616, 32_000, 4096, 32) | {"one_block": 0, "in_blocks": 0},
    "an empty dict": lambda *s: {},
    "a number": lambda *s: 11_008,
}

EQUIVALENT = {
    "reconcile: one_block = in_blocks // L → one_block = in_blocks / L #1": "L divides what is in L blocks",
    'reconcile: "F": feed_forward // (3 * D), → "F": feed_forward / (3 * D), #1': (
        "3 D divides what the feed-forward part holds"
    ),
}
