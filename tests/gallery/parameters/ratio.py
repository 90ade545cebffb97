"""Answers to `parameters.ratio`."""

from fractions import Fraction

import numpy as np

from tests.gallery.answers import Answer, Wrong

NAMES = ("attention", "feed_forward", "ratio")


def of(attention, feed_forward):
    return {"attention": attention, "feed_forward": feed_forward, "ratio": feed_forward / attention}


def by_rule(D, H, G, F, matrices):
    return of(2 * D**2 + 2 * D * G * D // H, matrices * D * F)


def by_shapes(D, H, G, F, matrices):
    K = D // H
    shapes = [(H * K, D), (G * K, D), (G * K, D), (D, H * K)]
    return of(sum(rows * columns for rows, columns in shapes), sum(D * F for _ in range(matrices)))


def by_the_chapter(D, H, G, F, matrices):
    found = Fraction(matrices * F * H, 2 * D * (H + G))
    return by_rule(D, H, G, F, matrices) | {"ratio": float(found)}


class Ratio:
    def __call__(self, *sizes):
        return by_shapes(*sizes)


RIGHT: dict[str, Answer] = {
    "by the rule": by_rule,
    "by shapes": by_shapes,
    "by the chapter's equation": by_the_chapter,
    "NumPy numbers": lambda *s: {name: np.float64(n) for name, n in by_rule(*s).items()},
    "with an entry more": lambda *s: {"K": s[0] // s[1], **by_rule(*s)},
    "an object with __call__": Ratio(),
}


def no_return(D, H, G, F, matrices):
    by_rule(D, H, G, F, matrices)


def with_keys(make):
    """The table of another attention, made from D and the width of all heads of keys."""
    return lambda D, H, G, F, matrices: of(make(D, D // H * G), matrices * D * F)


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "all keys": Wrong(with_keys(lambda D, W: (2 * D) ** 2), "keys and values as wide as queries"),
    "output shrinks": Wrong(with_keys(lambda D, W: D * (D + 3 * W)), "the output shrinks too"),
    "all shrink": Wrong(with_keys(lambda D, W: 4 * D * W), "all projections shrink"),
    "one for both": Wrong(with_keys(lambda D, W: D * (2 * D + W)), "one matrix for keys and values"),
    "no gate": Wrong(lambda D, H, G, F, matrices: by_rule(D, H, G, F, 2), "the gate left out"),
    "always two": Wrong(lambda *s: by_rule(*s) | {"ratio": 2.0}, "two to one"),
    "upside down": Wrong(
        lambda *s: by_rule(*s) | {"ratio": by_rule(*s)["attention"] / by_rule(*s)["feed_forward"]},
        "attention over feed-forward",
    ),
    "no output": Wrong(with_keys(lambda D, W: D * (D + 2 * W)), "the output left out"),
    "two decimals": Wrong(
        lambda *s: by_rule(*s) | {"ratio": round(by_rule(*s)["ratio"], 2)}, "ratio rounded"
    ),
    "whole numbers": Wrong(
        lambda *s: by_rule(*s) | {"ratio": by_rule(*s)["feed_forward"] // by_rule(*s)["attention"]},
        "ratio rounded",
    ),
    "an entry missing": Wrong(lambda *s: {"ratio": by_rule(*s)["ratio"]}, None),
    "in words": Wrong(lambda *s: by_rule(*s) | {"ratio": "4.20 : 1"}, None),
}

TRIVIAL: dict[str, Answer] = {
    "ones": lambda *s: dict.fromkeys(NAMES, 1),
    "the sizes": lambda D, H, G, F, matrices: {"attention": D * D, "feed_forward": F, "ratio": F / D},
    "of GPT-2": lambda *s: by_rule(768, 12, 12, 3072, 2),
    "an empty dict": lambda *s: {},
    "a number": lambda *s: 2.0,
}

EQUIVALENT = {
    "ratio: attention = 2 * D * D + 2 * D * G * (D // H) → attention = 2 * D * D + 2 * D * G * (D / H) #1": (
        "H divides D"
    ),
}
