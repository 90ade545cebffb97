"""Answers to `compute_and_memory.doubling`."""

from fractions import Fraction

import numpy as np

from tests.gallery.answers import Answer, Wrong

NAMES = ("weights", "inner", "scores", "operations", "cache")


def table(*entries):
    return dict(zip(NAMES, entries, strict=True))


def by_rule(letter, D, T, heads):
    if letter == "T":
        return table(1, 2, 4, (12 * D + 4 * T) / (6 * D + T), 2)
    return table(4, 2, {"more": 2, "wider": 1}[heads], (24 * D + 2 * T) / (6 * D + T), 2)


def amounts(D, T, H):
    """The five amounts for F = 4D."""
    return 12 * D * D, 4 * D * T, H * T * T, 2 * T * 12 * D * D + 4 * T * T * D, 2 * T * D


def by_counting_twice(letter, D, T, heads):
    before = amounts(D, T, 12)
    wide = letter == "D"
    after = amounts(D * (1 + wide), T * (2 - wide), 24 if wide and heads == "more" else 12)
    return table(*(new / old for new, old in zip(after, before, strict=True)))


def by_fractions(letter, D, T, heads):
    share = Fraction(4 * T, 24 * D + 4 * T)
    grows = (4, 2) if letter == "D" else (2, 4)
    operations = (1 - share) * grows[0] + share * grows[1]
    return by_rule(letter, D, T, heads) | {"operations": float(operations)}


def with_arrays(letter, D, T, heads):
    if letter == "D":
        size, kept = np.array([D, 2 * D]), np.array([T, T])
    else:
        size, kept = np.array([D, D]), np.array([T, 2 * T])
    work = 24 * kept * size**2 + 4 * kept**2 * size
    return by_rule(letter, D, T, heads) | {"operations": work[1] / work[0]}


class Doubling:
    def __call__(self, *case):
        return by_counting_twice(*case)


RIGHT: dict[str, Answer] = {
    "by the rule": by_rule,
    "by counting twice": by_counting_twice,
    "by fractions": by_fractions,
    "with arrays": with_arrays,
    "NumPy numbers": lambda *s: {name: np.float64(n) for name, n in by_rule(*s).items()},
    "an object with __call__": Doubling(),
}


def no_return(letter, D, T, heads):
    by_rule(letter, D, T, heads)


def but(letter, **entries):
    """Entries exchanged where that letter doubles; each may depend on D and T."""

    def answer(given, D, T, heads):
        changes = {name: make(D, T) if callable(make) else make for name, make in entries.items()}
        return by_rule(given, D, T, heads) | (changes if given == letter else {})

    return answer


def always_twice_the_tables(letter, D, T, heads):
    return by_rule(letter, D, T, "more")


def never_more_tables(letter, D, T, heads):
    return by_rule(letter, D, T, "wider")


def exchanged(letter, D, T, heads):
    turned = by_rule("T" if letter == "D" else "D", D, T, heads)
    return by_rule(letter, D, T, heads) | {"operations": turned["operations"]}


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "twice": Wrong(lambda *s: dict.fromkeys(NAMES, 2), "everything doubles"),
    "weights for tokens": Wrong(but("T", weights=2), "weights grow with the text"),
    "rows alone": Wrong(but("D", weights=2), "weights double with the width"),
    "F stays": Wrong(
        but("D", weights=8 / 3, inner=1, operations=lambda D, T: (16 * D + 2 * T) / (6 * D + T)),
        "the inner width stays",
    ),
    "rows of scores": Wrong(but("T", scores=2), "scores double with the text"),
    "scores of features": Wrong(but("D", scores=4), "scores quadruple with the width"),
    "no more heads": Wrong(never_more_tables, "more heads forgotten"),
    "always more heads": Wrong(always_twice_the_tables, "heads always more"),
    "T squared": Wrong(but("T", operations=4), "quadratic in the text"),
    "D squared": Wrong(but("D", operations=4), "quadratic in the width"),
    "both squared": Wrong(lambda *s: by_rule(*s) | {"operations": 4}, "quadratic in both letters"),
    "T once": Wrong(but("T", operations=2), "linear in the text"),
    "exchanged": Wrong(exchanged, "each kind squared in the other letter"),
    "wide cache": Wrong(but("D", cache=4), "cache squared in the width"),
    "long cache": Wrong(but("T", cache=4), "cache squared in the text"),
    "two decimals": Wrong(lambda *s: by_rule(*s) | {"operations": round(by_rule(*s)["operations"], 2)}, None),
    "of GPT-2 alone": Wrong(lambda letter, D, T, heads: by_rule(letter, 768, 1024, heads), None),
    "an entry missing": Wrong(lambda *s: {"weights": by_rule(*s)["weights"]}, None),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda *s: dict.fromkeys(NAMES, 0),
    "ones": lambda *s: dict.fromkeys(NAMES, 1),
    "twos": lambda *s: dict.fromkeys(NAMES, 2),
    "fours": lambda *s: dict.fromkeys(NAMES, 4),
    "an empty dict": lambda *s: {},
    "a number": lambda *s: 3.64,
}
