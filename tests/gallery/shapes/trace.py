"""Answers to `shapes.trace`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong

STAGES = ("norm_1", "attention", "add_1", "norm_2", "feed_forward", "add_2")
INSIDE = ("queries", "weights", "heads", "inner")


def by_rule(B, T, D, H, F):
    K = D // H
    table = dict.fromkeys(STAGES, (B, T, D))
    return table | {
        "queries": (B, H, T, K),
        "weights": (B, H, T, T),
        "heads": (B, H, T, K),
        "inner": (B, T, F),
    }


def by_running(B, T, D, H, F):
    """On arrays of one number that stand for larger ones: nothing is allocated."""
    x = np.broadcast_to(0.0, (B, T, D))
    split = x.reshape(B, T, H, D // H).swapaxes(1, 2)
    weights = (*split.shape[:3], T)
    merged = split.swapaxes(1, 2).reshape(B, T, D).shape
    table = dict.fromkeys(STAGES, merged)
    return {"queries": split.shape, "weights": weights, "heads": split.shape, "inner": (B, T, F), **table}


def in_lists(B, T, D, H, F):
    return {name: list(shape) for name, shape in by_rule(B, T, D, H, F).items()}


def true_division(B, T, D, H, F):
    return by_rule(B, T, D, H, F) | {"queries": (B, H, T, D / H), "heads": (B, H, T, D / H)}


def as_arrays(*sizes):
    return {name: np.array(shape, dtype=np.int32) for name, shape in by_rule(*sizes).items()}


class Trace:
    def __call__(self, *sizes):
        return by_rule(*sizes)


RIGHT: dict[str, Answer] = {
    "by the rule": by_rule,
    "by running": by_running,
    "in lists": in_lists,
    "true division": true_division,
    "as arrays": as_arrays,
    "an object with __call__": Trace(),
    "with an entry more": lambda *sizes: by_rule(*sizes) | {"keys": (1, 2)},
}


def but(**entries):
    def answer(B, T, D, H, F):
        made = {name: rule(B, T, D, H, F) for name, rule in entries.items()}
        return by_rule(B, T, D, H, F) | made

    return answer


def both(rule):
    return but(queries=rule, heads=rule)


def appending(B, T, D, H, F):
    wide = (B, T, D + D)
    late = {"add_1": wide, "norm_2": wide, "feed_forward": wide, "add_2": (B, T, 4 * D)}
    return by_rule(B, T, D, H, F) | late


def no_return(*sizes):
    by_rule(*sizes)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "not transposed": Wrong(both(lambda B, T, D, H, F: (B, T, H, D // H)), "heads behind the positions"),
    "all D in each head": Wrong(both(lambda B, T, D, H, F: (B, H, T, D)), "every head as wide as the token"),
    "one table": Wrong(but(weights=lambda B, T, D, H, F: (B, T, T)), "one table for all heads"),
    "T by K": Wrong(but(weights=lambda B, T, D, H, F: (B, H, T, D // H)), "weights as wide as a head"),
    "K by K": Wrong(
        but(weights=lambda B, T, D, H, F: (B, H, D // H, D // H)), "weights of features by features"
    ),
    "inner heads": Wrong(but(inner=lambda B, T, D, H, F: (B, H, T, F // H)), "inner features cut into heads"),
    "not merged": Wrong(but(attention=lambda B, T, D, H, F: (B, H, T, D // H)), "heads not merged"),
    "appending": Wrong(appending, "appended"),
    "adds twice as wide": Wrong(
        but(add_1=lambda B, T, D, H, F: (B, T, 2 * D), add_2=lambda B, T, D, H, F: (B, T, 2 * D)), "appended"
    ),
    "heads before items": Wrong(both(lambda B, T, D, H, F: (H, B, T, D // H)), None),
    "inner as wide as D": Wrong(but(inner=lambda B, T, D, H, F: (B, T, D)), None),
    "stages alone": Wrong(lambda B, T, D, H, F: dict.fromkeys(STAGES, (B, T, D)), None),
}

TRIVIAL: dict[str, Answer] = {
    "the shape of x everywhere": lambda B, T, D, H, F: dict.fromkeys((*STAGES, *INSIDE), (B, T, D)),
    "the sizes everywhere": lambda B, T, D, H, F: dict.fromkeys((*STAGES, *INSIDE), (B, T, D, H, F)),
    "those of the chapter": lambda *sizes: by_rule(2, 4, 6, 3, 24),
    "an empty dict": lambda *sizes: {},
    "zeros": lambda *sizes: dict.fromkeys((*STAGES, *INSIDE), 0),
}

EQUIVALENT = {"trace: K = D // H → K = D / H #1": "a whole number may be given as a float"}
