"""The contract of a cache: reading on from it gives what reading everything gives."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from transformer_block.audit.measures import aside, distance, judged, run
from transformer_block.audit.report import Row
from transformer_block.audit.subject import Subject, T, first, tokens

CHUNKS = {"one by one": (1,) * T, "in chunks": (3, 1, 2, 1), "at once": (T,)}


def cached(subject: Subject) -> Row:
    """Behind a cache, any chunks of a sequence come out as the whole sequence does."""
    name, facts = "cache", subject.facts
    if facts.new_cache is None:
        return aside(
            name, "no cache was said to exist: Facts(new_cache=…, call_cached=…)"
        )
    subject = subject.mode(training=False)
    x = tokens(subject)
    whole = run(subject, x)
    found = {
        way: [distance(part, whole[:, a:b]) for a, b, part in _read(subject, x, chunks)]
        for way, chunks in CHUNKS.items()
    }
    errors = {way: max(steps) for way, steps in found.items()}
    number, rounding = max(errors.values()), subject.rounding(whole)
    worst = max(errors, key=lambda way: errors[way])
    return judged(
        name,
        number,
        rounding,
        good="one by one, in chunks and at once, behind a cache, gave the full pass",
        bad=f"tokens read {worst} behind a cache did not give the full pass",
        **{way.replace(" ", "_"): error for way, error in errors.items()},
        first_right=found["one by one"][0] <= rounding,
        hears_all=number <= rounding or _hears_all(subject, x, rounding),
    )


def _read(
    subject: Subject, x: np.ndarray, chunks: Sequence[int]
) -> list[tuple[int, int, np.ndarray]]:
    """Start, end and output of each chunk, behind one new cache."""
    facts = subject.facts
    assert facts.new_cache is not None
    cache, start, parts = facts.new_cache(), 0, []
    for length in chunks:
        piece = x[:, start : start + length]
        y = subject.array(_step(subject, piece, cache), piece.shape)
        parts.append((start, start + length, y))
        start += length
    return parts


def _step(subject: Subject, piece: np.ndarray, cache: Any) -> Any:
    facts = subject.facts
    assert facts.call_cached is not None
    given = subject.native(piece)
    if subject.framework == "numpy":
        return first(facts.call_cached(subject.block, given, cache))
    import torch

    with torch.no_grad():
        return first(facts.call_cached(subject.block, given, cache))


def _hears_all(subject: Subject, x: np.ndarray, rounding: float) -> bool:
    """Whether the last of tokens read one by one hears each earlier one."""
    ones = CHUNKS["one by one"]
    last = _read(subject, x, ones)[-1][2]
    noise = tokens(subject, 6)
    for position in range(T - 1):
        changed = x.copy()
        changed[:, position] += noise[:, position]
        if distance(_read(subject, changed, ones)[-1][2], last) <= rounding:
            return False
    return True
