"""`cache.offset`: where the tokens of each chunk stand, what they see, and what a cache saves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.wording import vector
from block_course.exercise import Array, Case, Exercise, Hints, Misconception, Outputs

NAMES = ("offset", "keys", "visible", "with_cache", "without")
Table = dict[str, Array]


def reference(chunks: Array) -> Table:
    """What was read before, what is held after; visible pairs; tokens run with a cache and without."""
    ends = np.cumsum(chunks)
    before = ends - chunks
    visible = chunks * before + chunks * (chunks + 1) // 2
    return {
        "offset": before,
        "keys": ends,
        "visible": visible,
        "with_cache": chunks.sum(),
        "without": ends.sum(),
    }


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """A prompt and single tokens; chunks of several; one chunk alone."""
    prompt = [int(rng.integers(5, 12)), *[1] * int(rng.integers(3, 6))]
    several = rng.permutation([2, 3, 4, 7]) + rng.integers(0, 3, 4)
    lists = {
        "example": [3, 1, 2],
        "a prompt, then single tokens": prompt,
        "chunks of several": several.tolist(),
        "one chunk": [int(rng.integers(4, 30))],
    }
    return [Case(name=name, arguments={"chunks": np.array(each)}) for name, each in lists.items()]


def _wrong(name: str, entry: str, made: Callable[[Array], Array], sentence: str) -> Misconception:
    """The right table with one entry made otherwise, which the sentence may call {mine}."""
    index = NAMES.index(entry)

    def message(case: Case, outputs: Outputs) -> str:
        read = vector(np.asarray(case.arguments["chunks"]).reshape(-1))
        return f"For chunks {read} your {entry} is {vector(outputs[index].reshape(-1))}. {sentence}"

    return Misconception(
        name=name,
        answer=lambda chunks: reference(chunks) | {entry: made(chunks)},  # type: ignore[arg-type,return-value]
        message=message,
        tells=lambda case: np.asarray(case.arguments["chunks"]).size > 1,
    )


MISCONCEPTIONS = (
    _wrong(
        "the offset after the chunk",
        "offset",
        np.cumsum,
        "That is what has been read when the chunk is done. The first token of a chunk stands behind "
        "what was read before it.",
    ),
    _wrong(
        "chunks counted in place of tokens",
        "offset",
        lambda chunks: np.arange(len(chunks)),
        "You number the chunks. A position counts tokens: add up the lengths of the chunks before.",
    ),
    _wrong(
        "positions counted from 1",
        "offset",
        lambda chunks: np.cumsum(chunks) - chunks + 1,
        "The first token of all stands at position 0.",
    ),
    _wrong(
        "each chunk at position 0",
        "offset",
        lambda chunks: np.zeros_like(chunks),
        "Every chunk would start again at 0, and its tokens would stand on those before them.",
    ),
    _wrong(
        "keys of earlier chunks alone",
        "keys",
        lambda chunks: np.cumsum(chunks) - chunks,
        "The keys of the chunk itself are missing: they are appended before its queries attend.",
    ),
    _wrong(
        "every pair visible",
        "visible",
        lambda chunks: chunks * np.cumsum(chunks),
        "Inside a chunk a query does not see later keys: of n · n pairs there, n (n + 1) / 2 are visible.",
    ),
    _wrong(
        "the triangle of the chunk alone",
        "visible",
        lambda chunks: chunks * (chunks + 1) // 2,
        "The pairs with held keys are missing: each of the n queries sees all of them.",
    ),
    _wrong(
        "own position not visible",
        "visible",
        lambda chunks: chunks * (np.cumsum(chunks) - chunks) + chunks * (chunks - 1) // 2,
        "A query sees its own position: n (n + 1) / 2 pairs inside a chunk of n.",
    ),
    _wrong(
        "the last reading alone",
        "without",
        lambda chunks: chunks.sum(),
        "Without a cache every chunk makes the model read all tokens up to its end again. Add "
        "these readings.",
    ),
)

_OFFSET_HINTS: Hints = (
    "How many tokens were read before each chunk?",
    "`np.cumsum(chunks)` counts the tokens read when each chunk is done.",
    "Take each chunk's own length from the cumulative sum.",
)
_VISIBLE_HINTS: Hints = (
    "Draw the mask of a chunk of 2 behind 4 held keys. How many entries are True?",
    "Each query of the chunk sees all held keys, and in the chunk itself the keys up to its own.",
    "Add length × offset and length × (length + 1) / 2, in whole numbers.",
)

EXERCISE = Exercise(
    id="cache.offset",
    answer="plan",
    title="What stands where",
    level="warm-up",
    minutes=8,
    framework="numpy",
    reference=reference,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries(
            "offset", "the position of each chunk's first token", 1.0, of=("offset",), hints=_OFFSET_HINTS
        ),
        entries("keys", "the keys that stand behind each chunk's mask", 0.5, of=("keys",)),
        entries(
            "visible", "the pairs that each chunk's mask shows", 1.0, of=("visible",), hints=_VISIBLE_HINTS
        ),
        entries("work", "the tokens that are run", 0.5, of=("with_cache", "without")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "For each chunk: how many tokens were read before it, and how many when it is done?",
        "The cumulative sum of the lengths says how many are read when each chunk is done. Without a cache "
        "so many are run for that chunk.",
        "The keys are `np.cumsum(chunks)`, the offsets that less `chunks`; without a cache, the sum of the "
        "keys.",
    ),
)
