"""Answers to `cache.offset`."""

import itertools

import numpy as np

from block_course.diagnosis import NO_RETURN
from tests.gallery.answers import Answer, Wrong


def plan(chunks):
    ends = np.cumsum(chunks)
    offset = ends - chunks
    return {
        "offset": offset,
        "keys": ends,
        "visible": chunks * offset + chunks * (chunks + 1) // 2,
        "with_cache": int(chunks.sum()),
        "without": int(ends.sum()),
    }


def by_loop(chunks):
    table = {"offset": [], "keys": [], "visible": []}
    start = without = 0
    for length in chunks.tolist():
        table["offset"].append(start)
        table["visible"].append(sum(start + i + 1 for i in range(length)))
        start += length
        table["keys"].append(start)
        without += start
    return {k: np.array(v) for k, v in table.items()} | {"with_cache": start, "without": without}


def by_masks(chunks):
    ends = [*itertools.accumulate(chunks.tolist())]
    masks = [np.tri(n, end, end - n) for n, end in zip(chunks, ends, strict=True)]
    return {
        "offset": np.array([0, *ends[:-1]]),
        "keys": np.array(ends),
        "visible": np.array([int(each.sum()) for each in masks]),
        "with_cache": ends[-1],
        "without": sum(ends),
    }


def in_floats(chunks):
    return {name: np.asarray(value, float) for name, value in plan(chunks).items()}


def by_triangles(chunks):
    ends = np.cumsum(chunks)
    table = plan(chunks)
    before = ends - chunks
    table["visible"] = (ends * (ends + 1) - before * (before + 1)) // 2
    return table


class Plan:
    def __call__(self, lengths):
        return plan(lengths)


RIGHT: dict[str, Answer] = {
    "cumulative sums": plan,
    "a loop": by_loop,
    "counted on masks": by_masks,
    "floats": in_floats,
    "differences of triangles": by_triangles,
    "an object with __call__": Plan(),
    "a lambda": lambda chunks: plan(chunks),
}


def changed(**entries):
    return lambda chunks: plan(chunks) | {name: make(chunks) for name, make in entries.items()}


def before(chunks):
    return np.cumsum(chunks) - chunks


def nothing(chunks):
    plan(chunks)


WRONG: dict[str, Wrong] = {
    "after": Wrong(changed(offset=np.cumsum), "the offset after the chunk"),
    "numbered": Wrong(changed(offset=lambda c: np.arange(len(c))), "chunks counted in place of tokens"),
    "from 1": Wrong(changed(offset=lambda c: before(c) + 1), "positions counted from 1"),
    "always 0": Wrong(changed(offset=lambda c: 0 * c), "each chunk at position 0"),
    "held keys": Wrong(changed(keys=before), "keys of earlier chunks alone"),
    "all pairs": Wrong(changed(visible=lambda c: c * np.cumsum(c)), "every pair visible"),
    "own triangle": Wrong(changed(visible=lambda c: c * (c + 1) // 2), "the triangle of the chunk alone"),
    "strictly earlier": Wrong(
        changed(visible=lambda c: c * before(c) + c * (c - 1) // 2), "own position not visible"
    ),
    "one reading": Wrong(changed(without=lambda c: c.sum()), "the last reading alone"),
    "forgets to return": Wrong(nothing, NO_RETURN),
    "two slips": Wrong(changed(offset=np.cumsum, without=lambda c: len(c)), "the offset after the chunk"),
}


def filled(value):
    def answer(chunks):
        row = np.full_like(chunks, value)
        return {"offset": row, "keys": row, "visible": row, "with_cache": value, "without": value}

    return answer


TRIVIAL: dict[str, Answer] = {
    "zeros": filled(0),
    "ones": filled(1),
    "the input": lambda chunks: dict.fromkeys(("offset", "keys", "visible", "with_cache", "without"), chunks),
    "empty": lambda chunks: {},
}

_HALVED = "visible = chunks * before + chunks * (chunks + 1)"
EQUIVALENT = {
    f"reference: {_HALVED} // 2 → {_HALVED} / 2 #1": "n (n + 1) is even: both divisions give a whole number",
}
