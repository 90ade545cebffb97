"""`parameters.model`: what stands around the blocks, tied or not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.following import follows
from block_course.checks.selection import on
from block_course.checks.tables import Made, changed
from block_course.exercise import Case, Exercise, Hints

NAMES = ("embeddings", "output", "model", "percent")
Number = int | float


def model(V: int, P: int, D: int, L: int, block: int, tied: bool) -> dict[str, Number]:
    """A vector for each token and position; a matrix unless it is shared; L blocks and a norm between."""
    embeddings = V * D + P * D
    output = 0 if tied else V * D
    whole = embeddings + L * block + 2 * D + output
    return {
        "embeddings": embeddings,
        "output": output,
        "model": whole,
        "percent": 100 * L * block / whole,
    }


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """GPT-2 small as it is and untied, GPT-3, and two models that nobody has trained."""
    known = [
        (50_257, 1024, 768, 12, 7_087_872, True),
        (50_257, 1024, 768, 12, 7_087_872, False),
        (50_257, 2048, 12_288, 96, 1_812_099_072, True),
    ]
    for tied in (True, False):
        V, P, D, L = (int(rng.integers(low, high)) for low, high in ((500, 900), (30, 60), (5, 20), (3, 7)))
        known.append((V, P, D, L, 12 * D * D + 13 * D, tied))
    return [
        Case(
            name=f"model {number}: V = {V:,}, D = {D:,}, {'tied' if tied else 'untied'}",
            arguments={"V": V, "P": P, "D": D, "L": L, "block": block, "tied": tied},
        )
        for number, (V, P, D, L, block, tied) in enumerate(known, start=1)
    ]


_wrong = partial(changed, reference=model, returns=NAMES)


def _tied(case: Case) -> bool:
    return bool(case.arguments["tied"])


def _percent(s: Any, whole: int) -> float:
    return float(100 * s.L * s.block / whole)


def _whole(s: Any, more: int) -> int:
    return int(model(s.V, s.P, s.D, s.L, s.block, s.tied)["model"]) + more


def _rounded(digits: int) -> Made:
    return lambda s: round(_percent(s, _whole(s, 0)), digits)


MISCONCEPTIONS = (
    _wrong(
        "positions left out",
        sentence="Your embeddings have {mine} numbers, a vector for each of {V} tokens. These models learn a "
        "vector for each of {P} positions as well.",
        embeddings=lambda s: s.V * s.D,
        model=lambda s: _whole(s, -s.P * s.D),
        percent=lambda s: _percent(s, _whole(s, -s.P * s.D)),
    ),
    _wrong(
        "a tied output counted",
        sentence="Your output has {mine} numbers. Tied, it is the table of tokens once more, and adds none.",
        tells=_tied,
        output=lambda s: s.V * s.D,
        model=lambda s: _whole(s, s.V * s.D * s.tied),
        percent=lambda s: _percent(s, _whole(s, s.V * s.D * s.tied)),
    ),
    _wrong(
        "an untied output left out",
        sentence="Your output has {mine} numbers. Untied, it is a matrix of its own, with a row for each "
        "token.",
        tells=lambda case: not _tied(case),
        output=lambda s: 0,
        model=lambda s: _whole(s, -s.V * s.D * (not s.tied)),
        percent=lambda s: _percent(s, _whole(s, -s.V * s.D * (not s.tied))),
    ),
    _wrong(
        "no final norm",
        sentence="Your model has {mine} numbers. The norm behind the last block, with gain and shift, is "
        "missing.",
        model=lambda s: _whole(s, -2 * s.D),
        percent=lambda s: _percent(s, _whole(s, -2 * s.D)),
    ),
    _wrong(
        "one block",
        sentence="Your model has {mine} numbers, with one block in it. There are {L}, each with its own.",
        model=lambda s: _whole(s, (1 - s.L) * s.block),
    ),
    _wrong(
        "the share of the rest",
        sentence="Your percentage is {mine}: what stands outside the blocks. Asked is what stands inside.",
        percent=lambda s: 100 - _percent(s, _whole(s, 0)),
    ),
    _wrong(
        "a share, not percent",
        sentence="Your percentage is {mine}: a share of 1. Percent are of 100.",
        percent=lambda s: _percent(s, _whole(s, 0)) / 100,
    ),
    *(
        _wrong(
            "percentage rounded",
            sentence="Your percentage is {mine}, cut to so many decimals. Return the quotient as it comes.",
            percent=_rounded(digits),
        )
        for digits in (0, 1, 2, 3)
    ),
)

_TIED_HINTS: Hints = (
    "How many numbers does a tied output add to what is stored?",
    "A tied output is the table of tokens used a second time. An untied one has a row of D for each of V "
    "tokens.",
    "`0 if tied else V * D`.",
)
_MODEL_HINTS: Hints = (
    "What stands between the embeddings and the output?",
    "L blocks of `block` numbers each, and one layer norm of 2·D.",
    "Add embeddings, L·block, 2·D and output.",
)

EXERCISE = Exercise(
    id="parameters.model",
    answer="model",
    title="Around the blocks",
    level="core",
    minutes=8,
    framework="numpy",
    withheld=("transformer_block",),
    reference=model,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("embeddings", "tokens and positions", 0.75, of=("embeddings",)),
        on(_tied, entries("tied", "a tied output", 0.5, of=("output",), hints=_TIED_HINTS)),
        on(
            lambda case: not _tied(case),
            entries("untied", "an untied output", 0.5, of=("output",), hints=_TIED_HINTS),
        ),
        entries("model", "the whole model", 0.75, of=("model",), hints=_MODEL_HINTS),
        follows(
            "percent",
            "the share of the blocks in your model",
            0.5,
            entry="percent",
            of=("model",),
            rule=lambda s, own: 100 * s.L * s.block / own.model,
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Go through the lines of GPT-2 small in the chapter, one by one.",
        "Tokens V·D, positions P·D, blocks L·block, final norm 2·D; the output is V·D, or nothing if it is "
        "tied.",
        "The percentage is 100·L·block over the sum of all lines.",
    ),
)
