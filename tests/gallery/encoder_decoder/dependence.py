"""Answers to `encoder_decoder.dependence`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong


def by_shapes(real, T):
    S = len(real)
    return real | np.eye(S, dtype=bool), np.tri(T, dtype=bool), np.broadcast_to(real, (T, S)).copy()


def by_products(real, T):
    one = np.eye(len(real), dtype=bool) | np.tile(real, (len(real), 1))
    encoder = one @ one @ one
    block = np.arange(T)[:, None] >= np.arange(T)
    reads = np.tile(real, (T, 1))
    return encoder, block @ block, block @ (reads @ encoder)


def loops(real, T):
    S = len(real)
    encoder, source = np.zeros((S, S), bool), np.zeros((T, S), bool)
    target = np.zeros((T, T), bool)
    for t in range(S):
        for s in range(S):
            encoder[t, s] = bool(real[s]) or t == s
    for t in range(T):
        target[t, : t + 1] = True
        source[t] = real
    return encoder, target, source


def in_numbers(real, T):
    return tuple(each.astype(int) for each in by_shapes(real, T))


def from_lists(real, T):
    rows = [[bool(r) or i == j for j, r in enumerate(real)] for i in range(len(real))]
    return np.array(rows), np.tril(np.ones((T, T))) > 0, np.array([list(real)] * T)


class Tables:
    def __call__(self, real, T):
        return by_products(real, T)


RIGHT: dict[str, Answer] = {
    "by their shapes": by_shapes,
    "by products": by_products,
    "loops": loops,
    "ones and zeros": in_numbers,
    "from lists": from_lists,
    "an object with __call__": Tables(),
    "a lambda": lambda real, T: by_shapes(real, T),
}


def changed(**tables):
    def answer(real, T):
        right = dict(zip(("encoder", "target", "source"), by_shapes(real, T), strict=True))
        return tuple((right | {name: made(real, T) for name, made in tables.items()}).values())

    return answer


def no_return(real, T):
    by_shapes(real, T)


def in_place(real, T):
    tables = by_shapes(real.copy(), T)
    real[:] = True
    return tables


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "no diagonal": Wrong(
        changed(encoder=lambda r, T: np.array([r] * len(r))), "padded tokens that lose themselves"
    ),
    "padding heard": Wrong(
        changed(
            encoder=lambda r, T: np.ones((len(r), len(r)), bool),
            source=lambda r, T: np.ones((T, len(r)), bool),
        ),
        "padding heard",
    ),
    "decoder hears padding": Wrong(
        changed(source=lambda r, T: np.ones((T, len(r)), bool)), "padding heard by the decoder"
    ),
    "causal encoder": Wrong(
        changed(encoder=lambda r, T: np.tril(r | np.eye(len(r), dtype=bool))),
        "an encoder that can't look ahead",
    ),
    "full target": Wrong(changed(target=lambda r, T: np.ones((T, T), bool)), "a decoder that looks ahead"),
    "strictly lower": Wrong(
        changed(target=lambda r, T: np.arange(T)[:, None] > np.arange(T)), "a target that doesn't hear itself"
    ),
    "causal source": Wrong(
        changed(source=lambda r, T: r & (np.arange(len(r)) <= np.arange(T)[:, None])),
        "a causal mask on the source",
    ),
    "turned": Wrong(
        changed(
            target=lambda r, T: np.triu(np.ones((T, T), bool)), source=lambda r, T: np.tile(r[:, None], T)
        ),
        "tables turned",
    ),
    "two tables": Wrong(lambda r, T: by_shapes(r, T)[:2], None),
    "source turned": Wrong(changed(source=lambda r, T: by_shapes(r, T)[2].T), None),
    "padding lost": Wrong(changed(encoder=lambda r, T: r[:, None] & r), None),
    "changes real": Wrong(in_place, None),
}

TRIVIAL: dict[str, Answer] = {
    "all": lambda r, T: (np.ones((len(r), len(r)), bool), np.ones((T, T), bool), np.ones((T, len(r)), bool)),
    "none": lambda r, T: (
        np.zeros((len(r), len(r)), bool),
        np.zeros((T, T), bool),
        np.zeros((T, len(r)), bool),
    ),
    "the diagonals": lambda r, T: (np.eye(len(r)), np.eye(T), np.eye(T, len(r))),
    "real": lambda r, T: r,
    "lower triangles": lambda r, T: (np.tri(len(r)), np.tri(T), np.tri(T, len(r))),
}
