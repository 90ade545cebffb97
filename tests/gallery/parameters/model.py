"""Answers to `parameters.model`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong

NAMES = ("embeddings", "output", "model", "percent")


def of(embeddings, output, whole, blocks):
    return {"embeddings": embeddings, "output": output, "model": whole, "percent": 100 * blocks / whole}


def by_rule(V, P, D, L, block, tied):
    embeddings, output = (V + P) * D, V * D * (not tied)
    return of(embeddings, output, embeddings + output + L * block + 2 * D, L * block)


def by_lines(V, P, D, L, block, tied):
    lines = {"tokens": V * D, "positions": P * D, "blocks": L * block, "norm": D + D}
    if not tied:
        lines["output"] = V * D
    whole = sum(lines.values())
    table = {"model": whole, "percent": lines["blocks"] / whole * 100, "output": lines.get("output", 0)}
    return table | {"embeddings": lines["tokens"] + lines["positions"]}


class Model:
    def __call__(self, *sizes):
        return by_lines(*sizes)


RIGHT: dict[str, Answer] = {
    "by the rule": by_rule,
    "line by line": by_lines,
    "whole numbers as floats": lambda *s: {name: float(n) for name, n in by_rule(*s).items()},
    "NumPy integers": lambda *s: {
        name: n if name == "percent" else np.int64(n) for name, n in by_rule(*s).items()
    },
    "with an entry more": lambda *s: {"blocks": s[3] * s[4], **by_rule(*s)},
    "an object with __call__": Model(),
}


def no_return(V, P, D, L, block, tied):
    by_rule(V, P, D, L, block, tied)


def no_positions(V, P, D, L, block, tied):
    return by_rule(V, 0, D, L, block, tied)


def never_tied(V, P, D, L, block, tied):
    return by_rule(V, P, D, L, block, False)


def always_tied(V, P, D, L, block, tied):
    return by_rule(V, P, D, L, block, True)


def no_norm(V, P, D, L, block, tied):
    right = by_rule(V, P, D, L, block, tied)
    return of(right["embeddings"], right["output"], right["model"] - 2 * D, L * block)


def but(**entries):
    return lambda *s: by_rule(*s) | {name: made(by_rule(*s), *s) for name, made in entries.items()}


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "no positions": Wrong(no_positions, "positions left out"),
    "never tied": Wrong(never_tied, "a tied output counted"),
    "always tied": Wrong(always_tied, "an untied output left out"),
    "no final norm": Wrong(no_norm, "no final norm"),
    "one block": Wrong(
        but(model=lambda right, V, P, D, L, block, tied: right["model"] - (L - 1) * block), "one block"
    ),
    "outside": Wrong(but(percent=lambda right, *s: 100 - right["percent"]), "the share of the rest"),
    "a share": Wrong(but(percent=lambda right, *s: right["percent"] / 100), "a share, not percent"),
    "rounded": Wrong(but(percent=lambda right, *s: round(right["percent"])), "percentage rounded"),
    "to a tenth": Wrong(but(percent=lambda right, *s: round(right["percent"], 1)), "percentage rounded"),
    "an entry missing": Wrong(lambda *s: {"model": by_rule(*s)["model"]}, None),
    "in words": Wrong(but(output=lambda right, *s: "tied"), None),
}

TRIVIAL: dict[str, Answer] = {
    "ones": lambda *s: dict.fromkeys(NAMES, 1),
    "the sizes": lambda V, P, D, L, block, tied: {"embeddings": V, "output": D, "model": block, "percent": 1},
    "of GPT-2": lambda *s: by_rule(50_257, 1024, 768, 12, 7_087_872, True) | {"output": 1},
    "an empty dict": lambda *s: {},
    "a number": lambda *s: 124_439_808,
}
