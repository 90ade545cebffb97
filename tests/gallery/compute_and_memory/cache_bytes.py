"""Answers to `compute_and_memory.cache_bytes`."""

import numpy as np

from tests.gallery.answers import Answer, Wrong

NAMES = ("token", "cache", "fit")


def width(dtype):
    return {"float64": 8, "float32": 4}.get(dtype, 2)


def of(token, B, T, memory):
    return {"token": token, "cache": token * T * B, "fit": int(memory // (token * T))}


def by_rule(D, H, G, L, B, T, dtype, memory):
    return of(2 * L * D * G // H * width(dtype), B, T, memory)


def block_by_block(D, H, G, L, B, T, dtype, memory):
    token = 0
    for _ in range(L):
        for _ in ("keys", "values"):
            token += G * (D // H) * width(dtype)
    return of(token, B, T, memory)


def by_arrays(D, H, G, L, B, T, dtype, memory):
    held = np.broadcast_to(np.zeros((), np.uint8), (L, 2, B, G, T, D // H, width(dtype)))
    return of(held.size // (B * T), B, T, memory) | {"cache": held.size}


def one_after_another(D, H, G, L, B, T, dtype, memory):
    table = by_rule(D, H, G, L, B, T, dtype, memory)
    one, fit = table["token"] * T, 0
    while (fit + 1) * one <= memory:
        fit += 1
    return table | {"fit": fit}


class Cache:
    def __call__(self, *sizes):
        return block_by_block(*sizes)


RIGHT: dict[str, Answer] = {
    "by the rule": by_rule,
    "block by block": block_by_block,
    "by arrays": by_arrays,
    "one after another": one_after_another,
    "in floats": lambda *s: {name: float(n) for name, n in by_rule(*s).items()},
    "NumPy numbers": lambda *s: {name: np.int64(n) for name, n in by_rule(*s).items()},
    "an object with __call__": Cache(),
}


def no_return(D, H, G, L, B, T, dtype, memory):
    by_rule(D, H, G, L, B, T, dtype, memory)


def with_token(make):
    """Other bytes for a token; what follows from them is right."""

    def answer(D, H, G, L, B, T, dtype, memory):
        return of(make(D, H, G, L, width(dtype)), B, T, memory)

    return answer


def with_fit(make):
    """Another number that fits, from the bytes of one sequence, B and the memory."""

    def answer(D, H, G, L, B, T, dtype, memory):
        table = by_rule(D, H, G, L, B, T, dtype, memory)
        return table | {"fit": make(table["token"] * T, B, memory)}

    return answer


WRONG = {
    "no return": Wrong(no_return, "no return"),
    "all heads": Wrong(
        with_token(lambda D, H, G, L, w: 2 * L * D * w), "a head of keys for each head of queries"
    ),
    "D wide": Wrong(
        with_token(lambda D, H, G, L, w: 2 * L * D * G * w), "each shared head as wide as the token"
    ),
    "one head": Wrong(with_token(lambda D, H, G, L, w: 2 * L * (D // H) * w), "one shared head"),
    "keys alone": Wrong(with_token(lambda D, H, G, L, w: L * G * (D // H) * w), "keys without values"),
    "queries too": Wrong(
        with_token(lambda D, H, G, L, w: L * (H + 2 * G) * (D // H) * w), "queries held too"
    ),
    "one block": Wrong(with_token(lambda D, H, G, L, w: 2 * G * (D // H) * w), "one block"),
    "half precision": Wrong(
        with_token(lambda D, H, G, L, w: 4 * L * G * (D // H)), "two bytes whatever the dtype"
    ),
    "one sequence": Wrong(lambda *s: by_rule(*s) | {"cache": by_rule(*s)["token"] * s[5]}, "batch left out"),
    "batches": Wrong(with_fit(lambda one, B, memory: memory // (B * one)), "batches that fit"),
    "up": Wrong(with_fit(lambda one, B, memory: int(np.ceil(memory / one))), "rounded up"),
    "nearest": Wrong(with_fit(lambda one, B, memory: round(memory / one)), "rounded to the nearest"),
    "a fraction": Wrong(with_fit(lambda one, B, memory: memory / one), None),
    "numbers": Wrong(with_token(lambda D, H, G, L, w: 2 * L * G * (D // H)), None),
    "an entry missing": Wrong(lambda *s: {"token": by_rule(*s)["token"]}, None),
}

TRIVIAL: dict[str, Answer] = {
    "zeros": lambda *s: dict.fromkeys(NAMES, 0),
    "the sizes": lambda D, H, G, L, B, T, dtype, memory: {"token": D, "cache": T * D, "fit": B},
    "of GPT-2": lambda *s: by_rule(768, 12, 12, 12, 1, 1024, "bfloat16", 2_000_000_000),
    "an empty dict": lambda *s: {},
    "a number": lambda *s: 36_864,
}

_TOKEN = "token = 2 * L * G * (D"
EQUIVALENT = {
    f"cache_bytes: {_TOKEN} // H) * BYTES[dtype] → {_TOKEN} / H) * BYTES[dtype] #1": "H divides D",
}
