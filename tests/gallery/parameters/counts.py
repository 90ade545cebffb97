"""Answers to `parameters.counts`."""

import math

import numpy as np

from tests.gallery.answers import Answer, Wrong

NAMES = ("norms", "attention", "feed_forward", "stack")


def by_rule(D, F, L):
    parts = {"norms": 4 * D, "attention": 4 * D * (D + 1), "feed_forward": 2 * D * F + F + D}
    return parts | {"stack": L * sum(parts.values()) + 2 * D}


def by_shapes(D, F, L):
    shapes = {
        "norms": [(D,)] * 4,
        "attention": [(3 * D, D), (3 * D,), (D, D), (D,)],
        "feed_forward": [(F, D), (F,), (D, F), (D,)],
    }
    table = {part: sum(map(math.prod, each)) for part, each in shapes.items()}
    return table | {"stack": sum(table.values()) * L + D + D}


def in_a_loop(D, F, L):
    table = by_rule(D, F, 1)
    stack = 0
    for _ in range(L):
        stack += table["norms"] + table["attention"] + table["feed_forward"]
    return table | {"stack": stack + 2 * D}


class Counts:
    def __call__(self, D, F, L):
        return by_shapes(D, F, L)


RIGHT: dict[str, Answer] = {
    "by the rule": by_rule,
    "by shapes": by_shapes,
    "in a loop": in_a_loop,
    "NumPy integers": lambda D, F, L: {name: np.int64(n) for name, n in by_rule(D, F, L).items()},
    "whole numbers as floats": lambda D, F, L: {name: float(n) for name, n in by_rule(D, F, L).items()},
    "with an entry more": lambda D, F, L: {"block": 0, **by_rule(D, F, L)},
    "an object with __call__": Counts(),
}


def but(**entries):
    return lambda D, F, L: by_rule(D, F, L) | {name: made(D, F, L) for name, made in entries.items()}


def made_from(**entries):
    def answer(D, F, L):
        table = but(**entries)(D, F, L)
        return table | {"stack": L * (table["norms"] + table["attention"] + table["feed_forward"]) + 2 * D}

    return answer


def block(D, F):
    return by_rule(D, F, 1)["stack"] - 2 * D


def no_return(D, F, L):
    by_rule(D, F, L)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "one norm": Wrong(but(norms=lambda D, F, L: D + D), "one norm in a block"),
    "no shift": Wrong(
        but(norms=lambda D, F, L: 2 * D, stack=lambda D, F, L: L * (block(D, F) - 2 * D) + D),
        "norms without their shift",
    ),
    "two projections": Wrong(but(attention=lambda D, F, L: 2 * D * (D + 1)), "two projections of attention"),
    "three of them": Wrong(but(attention=lambda D, F, L: 3 * D * (D + 1)), "three projections of attention"),
    "no biases there": Wrong(but(attention=lambda D, F, L: (2 * D) ** 2), "biases of attention left out"),
    "nor here": Wrong(
        but(feed_forward=lambda D, F, L: 2 * D * F), "biases of the feed-forward part left out"
    ),
    "four times D": Wrong(but(feed_forward=lambda D, F, L: D * (8 * D + 5)), "four times D whatever F is"),
    "one norm in the stack too": Wrong(made_from(norms=lambda D, F, L: 2 * D), "one norm in a block"),
    "two projections in the stack too": Wrong(
        made_from(attention=lambda D, F, L: 2 * D * (D + 1)), "two projections of attention"
    ),
    "no biases of attention in the stack": Wrong(
        made_from(attention=lambda D, F, L: 4 * D * D), "biases of attention left out"
    ),
    "no biases anywhere": Wrong(
        made_from(attention=lambda D, F, L: 4 * D * D, feed_forward=lambda D, F, L: 2 * D * F),
        "no biases at all",
    ),
    "all blocks": Wrong(
        lambda D, F, L: {name: n if name == "stack" else n * L for name, n in by_rule(D, F, L).items()},
        "parts of all blocks",
    ),
    "no final norm": Wrong(but(stack=lambda D, F, L: L * block(D, F)), "no final norm"),
    "many final norms": Wrong(
        but(stack=lambda D, F, L: L * block(D, F) + 2 * L * D), "a final norm for each block"
    ),
    "one block": Wrong(but(stack=lambda D, F, L: block(D, F) + 2 * D), "one block for the stack"),
    "an entry missing": Wrong(lambda D, F, L: {"norms": 4 * D}, None),
    "in words": Wrong(but(stack=lambda D, F, L: str(by_rule(D, F, L)["stack"])), None),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda D, F, L: dict.fromkeys(NAMES, 0),
    "the sizes": lambda D, F, L: {"norms": D, "attention": D * D, "feed_forward": D * F, "stack": L * D * F},
    "of GPT-2": lambda D, F, L: by_rule(768, 3072, 12),
    "an empty dict": lambda D, F, L: {},
    "a number": lambda D, F, L: 12 * L * D * D,
}
