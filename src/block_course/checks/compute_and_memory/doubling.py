"""`compute_and_memory.doubling`: predict what twice the width or twice the length does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.selection import on
from block_course.checks.tables import changed
from block_course.exercise import Case, Exercise, Hints, Misconception

NAMES = ("weights", "inner", "scores", "operations", "cache")
Number = int | float


def doubling(letter: str, D: int, T: int, heads: str) -> dict[str, Number]:
    """What belongs to each token doubles with T; the two kinds of products square in one letter each."""
    before = 24 * T * D**2 + 4 * T**2 * D
    if letter == "T":
        after = 48 * T * D**2 + 16 * T**2 * D
        return {"weights": 1, "inner": 2, "scores": 4, "operations": after / before, "cache": 2}
    after = 96 * T * D**2 + 8 * T**2 * D
    scores = 2 if heads == "more" else 1
    return {"weights": 4, "inner": 2, "scores": scores, "operations": after / before, "cache": 2}


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """GPT-2 small at its length, GPT-3, then a narrow block with a long text and a wide one with a short."""
    narrow = int(rng.integers(20, 60)), int(rng.integers(900, 2000))
    wide = int(rng.integers(900, 2000)), int(rng.integers(20, 60))
    known = [
        ("D", 768, 1024, "more"),
        ("T", 768, 1024, "more"),
        ("D", 768, 1024, "wider"),
        ("T", 12_288, 2048, "more"),
        ("D", *narrow, "wider"),
        ("T", *narrow, "wider"),
        ("D", *wide, "more"),
    ]
    return [
        Case(
            name=f"doubling {number}: 2 {letter} at D = {D:,}, T = {T:,}, {heads} heads",
            arguments={"letter": letter, "D": D, "T": T, "heads": heads},
        )
        for number, (letter, D, T, heads) in enumerate(known, start=1)
    ]


def _wider(case: Case) -> bool:
    return case.arguments["letter"] == "D"


def _longer(case: Case) -> bool:
    return not _wider(case)


def _wrong(
    name: str,
    sentence: str,
    *,
    when: Callable[[Case], bool] = lambda case: True,
    shown: str | None = None,
    **entries: Callable[[SimpleNamespace], Number],
) -> Misconception:
    """A table with entries exchanged in the cases that `when` keeps, of which one is shown."""

    def made(entry: str, s: SimpleNamespace) -> Number:
        kept = when(Case(name="", arguments=vars(s)))
        return entries[entry](s) if kept else doubling(**vars(s))[entry]

    changes = {entry: partial(made, entry) for entry in entries}
    return changed(name, doubling, NAMES, sentence, shown=shown, tells=when, **changes)


def _operations(matrices: int, pairs: int) -> Callable[[SimpleNamespace], Number]:
    """The factor if the matrices take so many T D² and the pairs so many T² D afterwards."""
    return lambda s: float((matrices * s.D + pairs * s.T) / (24 * s.D + 4 * s.T))


MISCONCEPTIONS = (
    _wrong(
        "everything doubles",
        "You double everything: your weights grow {mine}-fold when {letter} doubles. Write each "
        "quantity as a product of letters, and see how often {letter} stands in it.",
        weights=lambda s: 2,
        inner=lambda s: 2,
        scores=lambda s: 2,
        operations=lambda s: 2,
        cache=lambda s: 2,
    ),
    _wrong(
        "weights grow with the text",
        "Your weights grow {mine}-fold when T doubles. A block has the same weights for a text of "
        "any length.",
        when=_longer,
        weights=lambda s: 2,
    ),
    _wrong(
        "weights double with the width",
        "Your weights grow {mine}-fold when D doubles. A matrix has rows and columns, and both double.",
        when=_wider,
        weights=lambda s: 2,
    ),
    _wrong(
        "the inner width stays",
        "Your inner features grow {mine}-fold when D doubles, as if F stayed. Here F = 4D.",
        shown="inner",
        when=_wider,
        weights=lambda s: 8 / 3,
        inner=lambda s: 1,
        operations=_operations(64, 8),
    ),
    _wrong(
        "scores double with the text",
        "Your scores grow {mine}-fold when T doubles. A head's table has a row and a column for each token.",
        when=_longer,
        scores=lambda s: 2,
    ),
    _wrong(
        "scores quadruple with the width",
        "Your scores grow {mine}-fold when D doubles. A table of scores has T × T numbers, however "
        "many features made them, and there is one for each head.",
        when=_wider,
        scores=lambda s: 4,
    ),
    _wrong(
        "more heads forgotten",
        "Your scores grow {mine}-fold when D doubles and the heads keep their width. Then there are "
        "twice as many heads, each with a table.",
        when=lambda case: _wider(case) and case.arguments["heads"] == "more",
        scores=lambda s: 1,
    ),
    _wrong(
        "heads always more",
        "Your scores grow {mine}-fold when D doubles and the heads grow wider. There are as many "
        "heads as before, each with its T × T table.",
        when=lambda case: _wider(case) and case.arguments["heads"] == "wider",
        scores=lambda s: 2,
    ),
    _wrong(
        "quadratic in the text",
        "Your operations grow {mine}-fold when T = {T} doubles. Of the two kinds of products only "
        "that of pairs squares T; the matrices meet each token once.",
        when=_longer,
        operations=lambda s: 4,
    ),
    _wrong(
        "quadratic in the width",
        "Your operations grow {mine}-fold when D = {D} doubles. That is right for the matrices; "
        "pairs of tokens compare D features, and double.",
        when=_wider,
        operations=lambda s: 4,
    ),
    _wrong(
        "quadratic in both letters",
        "Your operations grow {mine}-fold. A block makes 24 T D² operations in matrices and 4 T² D "
        "in pairs: neither letter squares in both.",
        operations=lambda s: 4,
    ),
    _wrong(
        "linear in the text",
        "Your operations grow {mine}-fold when T = {T} doubles. Each token then meets twice as many "
        "keys, too.",
        when=_longer,
        operations=lambda s: 2,
    ),
    _wrong(
        "each kind squared in the other letter",
        "Your operations grow {mine}-fold when {letter} doubles: the two kinds are exchanged. The "
        "matrices square D, the pairs square T.",
        operations=lambda s: _operations(*((48, 16) if s.letter == "D" else (96, 8)))(s),
    ),
    _wrong(
        "cache squared in the width",
        "Your cache grows {mine}-fold when D doubles. It holds two vectors of D numbers for each "
        "token; no matrix.",
        when=_wider,
        cache=lambda s: 4,
    ),
    _wrong(
        "cache squared in the text",
        "Your cache grows {mine}-fold when T doubles. It holds keys and values, a row for each "
        "token; the scores are not kept.",
        when=_longer,
        cache=lambda s: 4,
    ),
)

_SCORE_HINTS: Hints = (
    "How many tables of scores are there, and how large is each?",
    "H tables of T × T numbers. Doubling D doubles H if the heads keep their width, and leaves it if they "
    "grow wider.",
    "4 for T; for D it is 2 with more heads and 1 with wider ones.",
)
_OPERATION_HINTS: Hints = (
    "Which two kinds of products does the chapter's rule add up?",
    "24·T·D² for the matrices and 4·T²·D for the pairs: put 2D for D or 2T for T, and divide by what it was.",
    "(96·T·D² + 8·T²·D) / (24·T·D² + 4·T²·D) for D; (48·T·D² + 16·T²·D) over the same for T.",
)

EXERCISE = Exercise(
    id="compute_and_memory.doubling",
    answer="doubling",
    title="Twice as wide, twice as long",
    level="core",
    minutes=8,
    framework="numpy",
    withheld=("transformer_block",),
    reference=doubling,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("weights", "the weights", 0.5, of=("weights",)),
        entries("inner", "the inner features", 0.25, of=("inner",)),
        entries("scores", "the scores", 1.0, of=("scores",), hints=_SCORE_HINTS),
        on(
            _wider,
            entries("wider", "operations, twice as wide", 1.0, of=("operations",), hints=_OPERATION_HINTS),
        ),
        on(
            _longer,
            entries("longer", "operations, twice as long", 1.0, of=("operations",), hints=_OPERATION_HINTS),
        ),
        entries("cache", "the cache", 0.25, of=("cache",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Write each of the five as a product of T, D and the number of heads.",
        "The weights are 12·D², the inner features T·4D, the scores H·T², the cache 2·T·D.",
        "A letter that stands once in the product doubles it, one that stands squared makes it fourfold, one "
        "that is absent leaves it.",
    ),
)
