"""Answers to `shapes.branches`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong

NAMES = ("attention", "inner", "feed_forward", "up", "down", "y")


def by_rule(B, T, D, F):
    stream = (B, T, D)
    return {
        "attention": stream,
        "inner": (B, T, F),
        "feed_forward": stream,
        "up": (F, D),
        "down": (D, F),
        "y": stream,
    }


def by_running(B, T, D, F):
    x, up, down = (np.broadcast_to(0.0, shape) for shape in ((B, 1, D), (1, D), (D, 1)))
    inner = (*(x @ up.T).shape[:1], T, F)
    y = (x @ up.T @ down.T).shape
    update = (y[0], T, y[2])
    shapes = (update, inner, update, (F, D), (D, F), update)
    return dict(zip(NAMES, shapes, strict=True))


def in_lists(B, T, D, F):
    return {name: list(shape) for name, shape in by_rule(B, T, D, F).items()}


def as_arrays(B, T, D, F):
    return {name: np.array(shape) for name, shape in by_rule(B, T, D, F).items()}


def with_more(B, T, D, F):
    return {"x": (B, T, D), **by_rule(B, T, D, F)}


class Branches:
    def __call__(self, *sizes):
        return by_rule(*sizes)


RIGHT: dict[str, Answer] = {
    "by the rule": by_rule,
    "by running": by_running,
    "in lists": in_lists,
    "as arrays": as_arrays,
    "with an entry more": with_more,
    "an object with __call__": Branches(),
    "a lambda": lambda B, T, D, F: dict(by_rule(B, T, D, F)),
}


def but(**entries):
    return lambda B, T, D, F: by_rule(B, T, D, F) | {k: made(B, T, D, F) for k, made in entries.items()}


def flat(B, T, D, F):
    return by_rule(B, T, D, F) | {
        "attention": (B * T, D),
        "inner": (B * T, F),
        "feed_forward": (B * T, D),
        "y": (B * T, D),
    }


def custom(B, T, D, F):
    return by_rule(B, T, D, 4 * D)


def no_return(B, T, D, F):
    by_rule(B, T, D, F)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "no widening": Wrong(but(inner=lambda B, T, D, F: (B, T, D)), "no widening"),
    "update F wide": Wrong(but(feed_forward=lambda B, T, D, F: (B, T, F)), "never brought back"),
    "all F wide": Wrong(
        but(feed_forward=lambda B, T, D, F: (B, T, F), y=lambda B, T, D, F: (B, T, F)), "never brought back"
    ),
    "one appended": Wrong(but(y=lambda B, T, D, F: (B, T, D + D)), "appended"),
    "two appended": Wrong(but(y=lambda B, T, D, F: (B, T, D + D + D)), "appended"),
    "(in, out)": Wrong(
        but(up=lambda B, T, D, F: (D, F), down=lambda B, T, D, F: (F, D)), "matrices (in, out)"
    ),
    "flat": Wrong(flat, "batch and positions in one axis"),
    "4 D": Wrong(custom, "four times D whatever F is"),
    "the table": Wrong(but(attention=lambda B, T, D, F: (B, T, T)), "attention hands on its table"),
    "positions first": Wrong(but(y=lambda B, T, D, F: (T, B, D)), None),
    "an entry missing": Wrong(lambda B, T, D, F: {"inner": (B, T, F)}, None),
    "in words": Wrong(but(inner=lambda B, T, D, F: f"({B}, {T}, {F})"), None),
    "a tuple of six": Wrong(lambda *sizes: tuple(by_rule(*sizes).values())[:2], None),
}

TRIVIAL: dict[str, Answer] = {
    "the shape of x everywhere": lambda B, T, D, F: dict.fromkeys(NAMES, (B, T, D)),
    "the lesson's sizes": lambda B, T, D, F: by_rule(8, 64, 512, 2048),
    "zeros": lambda B, T, D, F: dict.fromkeys(NAMES, 0),
    "an empty dict": lambda B, T, D, F: {},
    "an array": lambda B, T, D, F: np.zeros((2, 3)),
}
