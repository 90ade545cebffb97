"""`compute_and_memory.cache_bytes`: what a cache of keys and values takes, and how many fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np

from block_course.checks.compute_and_memory.activations import BYTES
from block_course.checks.entries import entries
from block_course.checks.following import follows
from block_course.checks.tables import changed
from block_course.exercise import Case, Exercise, Hints, Misconception

NAMES = ("token", "cache", "fit")


def cache_bytes(D: int, H: int, G: int, L: int, B: int, T: int, dtype: str, memory: int) -> dict[str, int]:
    """Keys and values of G heads in L blocks; for all tokens; how many whole texts fit."""
    token = 2 * L * G * (D // H) * BYTES[dtype]
    return {"token": token, "cache": B * T * token, "fit": memory // (T * token)}


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """GPT-2 small, two Llamas beside their weights, and two models that nobody has run."""
    known = [
        (768, 12, 12, 12, 1, 1024, "bfloat16", 2_000_000_000),
        (4096, 32, 32, 32, 3, 2048, "bfloat16", 13_480_000_000),
        (4096, 32, 8, 32, 2, 8192, "bfloat16", 16_060_000_000),
    ]
    for dtype, quarters in (("float32", 1), ("float64", 3)):
        G, share, K = (int(each) for each in (rng.integers(2, 5), rng.integers(2, 4), rng.integers(5, 9)))
        L, B, T, fit = (int(rng.integers(*ends)) for ends in ((2, 7), (2, 6), (50, 200), (3, 9)))
        one = 2 * L * G * K * BYTES[dtype] * T
        # room is left for a quarter of another one, or for three: rounding up and to the nearest differ
        known.append((G * share * K, G * share, G, L, B, T, dtype, one * fit + quarters * one // 4))
    return [
        Case(
            name=f"model {number}: D = {D:,}, H = {H}, G = {G}, L = {L}, B = {B}, T = {T:,}, {dtype}",
            arguments={"D": D, "H": H, "G": G, "L": L, "B": B, "T": T, "dtype": dtype, "memory": memory},
        )
        for number, (D, H, G, L, B, T, dtype, memory) in enumerate(known, start=1)
    ]


def _wrong(
    name: str,
    sentence: str,
    token: Callable[[SimpleNamespace], int],
    tells: Callable[[Case], bool] | None = None,
) -> Misconception:
    """A table with other bytes for a token, and what follows from them."""
    return changed(
        name,
        cache_bytes,
        NAMES,
        sentence,
        tells=tells,
        token=token,
        cache=lambda s: s.B * s.T * token(s),
        fit=lambda s: s.memory // (s.T * token(s)),
    )


def _right(s: SimpleNamespace) -> int:
    return cache_bytes(**vars(s))["token"]


MISCONCEPTIONS = (
    _wrong(
        "a head of keys for each head of queries",
        "You hold {mine} bytes for a token: keys and values of H = {H} heads. G = {G} heads have keys and "
        "values.",
        lambda s: 2 * s.L * s.D * BYTES[s.dtype],
    ),
    _wrong(
        "each shared head as wide as the token",
        "You hold {mine} bytes for a token: G = {G} heads of D = {D} features. A head is D/H = {D}/{H} wide.",
        lambda s: 2 * s.L * s.G * s.D * BYTES[s.dtype],
    ),
    _wrong(
        "one shared head",
        "You hold {mine} bytes for a token, those of one head of keys and values. There are G = {G}.",
        lambda s: _right(s) // s.G,
    ),
    _wrong(
        "keys without values",
        "You hold {mine} bytes for a token: its keys. Its values are held too.",
        lambda s: _right(s) // 2,
    ),
    _wrong(
        "queries held too",
        "You hold {mine} bytes for a token, its queries among them. A query is used once, when its token is "
        "read.",
        lambda s: s.L * (s.D + 2 * s.G * (s.D // s.H)) * BYTES[s.dtype],
    ),
    _wrong(
        "one block",
        "You hold {mine} bytes for a token, those of one block. Each of the L = {L} blocks makes keys and "
        "values of its own.",
        lambda s: _right(s) // s.L,
    ),
    _wrong(
        "two bytes whatever the dtype",
        "You hold {mine} bytes for a token, two for each number. The dtype is {dtype}.",
        lambda s: _right(s) // BYTES[s.dtype] * 2,
        lambda case: case.arguments["dtype"] != "bfloat16",
    ),
    changed(
        "batch left out",
        cache_bytes,
        NAMES,
        "Your cache has {mine} bytes: one text of {T} tokens. There are B = {B}.",
        tells=lambda case: case.arguments["B"] != 1,
        cache=lambda s: s.T * _right(s),
    ),
    changed(
        "batches that fit",
        cache_bytes,
        NAMES,
        "You say that {mine} fit; that is how often the cache of all B = {B} texts does. Asked are "
        "single texts.",
        tells=lambda case: case.arguments["B"] != 1,
        fit=lambda s: s.memory // (s.B * s.T * _right(s)),
    ),
    changed(
        "rounded up",
        cache_bytes,
        NAMES,
        "You say that {mine} fit. The last of them would not fit whole.",
        fit=lambda s: -(-s.memory // (s.T * _right(s))),
    ),
    changed(
        "rounded to the nearest",
        cache_bytes,
        NAMES,
        "You say that {mine} fit. Of the last one more than half would fit, but not all.",
        fit=lambda s: round(s.memory / (s.T * _right(s))),
    ),
)

_CACHE_HINTS: Hints = (
    "For how many tokens are keys and values held?",
    "For T tokens of each of B texts.",
    "B · T times the bytes of one token.",
)
_FIT_HINTS: Hints = (
    "How many bytes does one text of T tokens take?",
    "T times the bytes of a token. Half a text is of no use.",
    "memory // (T · token).",
)

EXERCISE = Exercise(
    id="compute_and_memory.cache_bytes",
    answer="cache_bytes",
    title="What a cache takes",
    level="core",
    minutes=8,
    framework="numpy",
    withheld=("transformer_block",),
    reference=cache_bytes,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("token", "the bytes of one token", 1.5, of=("token",)),
        follows(
            "cache",
            "those of all texts, by your token",
            0.75,
            entry="cache",
            of=("token",),
            rule=lambda s, own: s.B * s.T * own.token,
            hints=_CACHE_HINTS,
        ),
        follows(
            "fit",
            "how many texts fit, by your token",
            0.75,
            entry="fit",
            of=("token",),
            rule=lambda s, own: s.memory // (s.T * own.token),
            hints=_FIT_HINTS,
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which vectors of a token does a later query need, how long are they, and in how many blocks?",
        "A key and a value of D/H features in each of G heads, in each of L blocks.",
        "2 · L · G · (D // H) times the bytes of a number: 8, 4 or 2.",
    ),
)
