"""Answers to `encoder_decoder.beyond`."""

from tests.gallery.answers import Answer, Wrong


def by_rules(V, N, D, placement, positions, tied):
    adds, numbers = {"embedding"}, V * D
    if positions == "learned":
        adds.add("positions")
        numbers += N * D
    if placement == "pre":
        adds.add("final norm")
        numbers += 2 * D
    if not tied:
        adds.add("output matrix")
        numbers += V * D
    return {"adds": adds, "numbers": numbers}


def by_table(V, N, D, placement, positions, tied):
    table = [
        ("embedding", True, V * D),
        ("positions", positions == "learned", N * D),
        ("final norm", placement == "pre", D + D),
        ("output matrix", not tied, D * V),
    ]
    return {
        "adds": [name for name, there, _ in table if there],
        "numbers": sum(there * size for _, there, size in table),
    }


def in_floats(*given):
    table = by_rules(*given)
    return {"numbers": float(table["numbers"]), "adds": tuple(sorted(table["adds"]))}


def with_more(*given):
    return by_rules(*given) | {"blocks": 12}


def frozen(*given):
    table = by_rules(*given)
    return {"adds": frozenset(table["adds"]), "numbers": table["numbers"]}


class Beyond:
    def __call__(self, V, N, D, placement, positions, tied):
        return by_table(V, N, D, placement, positions, tied)


RIGHT: dict[str, Answer] = {
    "by rules": by_rules,
    "by a table": by_table,
    "a tuple and a float": in_floats,
    "with an entry more": with_more,
    "a frozen set": frozen,
    "an object with __call__": Beyond(),
}


def no_return(*given):
    by_rules(*given)


def changed(**parts):
    def answer(V, N, D, placement, positions, tied):
        return by_rules(V, N, D, **({"placement": placement, "positions": positions, "tied": tied} | parts))

    return answer


def numbered(count):
    return lambda V, N, D, *how: (
        by_rules(V, N, D, *how) | {"numbers": by_rules(V, N, D, *how)["numbers"] + count(V, N, D, *how)}
    )


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "always a norm": Wrong(changed(placement="pre"), "a final norm behind post-norm blocks"),
    "never a norm": Wrong(changed(placement="post"), "no final norm"),
    "always positions": Wrong(changed(positions="learned"), "positions that need no parameters"),
    "never positions": Wrong(changed(positions="rotary"), "positions never counted"),
    "named twice": Wrong(changed(tied=False), "a matrix that is shared, named twice"),
    "never an output": Wrong(changed(tied=True), "no output matrix"),
    "gain alone": Wrong(
        numbered(lambda V, N, D, placement, *how: -D if placement == "pre" else 0), "a norm without its bias"
    ),
    "output bias": Wrong(numbered(lambda V, N, D, *how: 0 if how[-1] else V), "an output with a bias"),
    "other words": Wrong(lambda *given: by_rules(*given) | {"adds": {"embeddings"}}, None),
    "a norm always counted": Wrong(numbered(lambda V, N, D, *how: 2 * D * (how[0] == "post")), None),
    "no numbers": Wrong(lambda *given: {"adds": by_rules(*given)["adds"]}, None),
    "names alone": Wrong(lambda *given: by_rules(*given)["adds"], None),
}

TRIVIAL: dict[str, Answer] = {
    "an embedding": lambda V, N, D, *how: {"adds": {"embedding"}, "numbers": V * D},
    "everything": lambda V, N, D, *how: {
        "adds": {"embedding", "positions", "final norm", "output matrix"},
        "numbers": 0,
    },
    "nothing": lambda *given: {"adds": set(), "numbers": 0},
    "an empty dict": lambda *given: {},
    "a number": lambda V, N, D, *how: V * D,
}
