"""`compute_and_memory.flops`: the operations of a block's forward, part by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.following import follows
from block_course.checks.selection import on
from block_course.checks.tables import changed
from block_course.exercise import Case, Exercise, Hints, Misconception

NAMES = ("projections", "scores", "feed_forward", "block")


def flops(B: int, T: int, D: int, H: int, G: int, F: int, pairs: str) -> dict[str, int]:
    """Two operations for each weight and token; two for each pair and feature, twice; their sum."""
    compared = T * T if pairs == "all" else sum(range(T + 1))
    projections = 2 * B * T * (2 * D * D + 2 * D * G * (D // H))
    scores = 2 * B * compared * D
    feed_forward = 2 * B * T * (2 * D * F)
    return {
        "projections": projections,
        "scores": scores,
        "feed_forward": feed_forward,
        "block": projections + 2 * scores + feed_forward,
    }


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """GPT-2 small in both counts, a block of Llama 3's kind, and two that nobody has run."""
    known = [
        (1, 1024, 768, 12, 12, 3072, "all"),
        (1, 1024, 768, 12, 12, 3072, "visible"),
        (4, 2048, 4096, 32, 8, 14_336, "all"),
    ]
    for pairs in ("all", "visible"):
        G, share, K = (int(each) for each in (rng.integers(2, 5), rng.integers(2, 4), rng.integers(5, 9)))
        B, T, F = (int(rng.integers(*ends)) for ends in ((2, 6), (30, 90), (100, 300)))
        known.append((B, T, G * share * K, G * share, G, F, pairs))
    return [
        Case(
            name=f"block {number}: B = {B}, T = {T:,}, D = {D:,}, H = {H}, G = {G}, {pairs} pairs",
            arguments={"B": B, "T": T, "D": D, "H": H, "G": G, "F": F, "pairs": pairs},
        )
        for number, (B, T, D, H, G, F, pairs) in enumerate(known, start=1)
    ]


def _visible(case: Case) -> bool:
    return case.arguments["pairs"] == "visible"


def _all(case: Case) -> bool:
    return not _visible(case)


def _wrong(
    name: str,
    sentence: str,
    *,
    tells: Callable[[Case], bool] | None = None,
    **parts: Callable[[SimpleNamespace], int],
) -> Misconception:
    """The right table with some parts exchanged, and the block as their sum."""

    def block(s: SimpleNamespace) -> int:
        table = {**flops(**vars(s)), **{part: made(s) for part, made in parts.items()}}
        return table["projections"] + 2 * table["scores"] + table["feed_forward"]

    return changed(
        name, flops, NAMES, sentence, tells=tells, **{"block": block, **parts}, shown=next(iter(parts))
    )


def _compared(s: SimpleNamespace) -> int:
    return s.T * (s.T + 1) // 2 if s.pairs == "visible" else s.T**2  # type: ignore[no-any-return]


MISCONCEPTIONS = (
    _wrong(
        "one operation for a multiplication with its addition",
        "Your projections take {mine} operations: one for each weight and token. A product of matrices "
        "multiplies and adds, and both count.",
        projections=lambda s: flops(**vars(s))["projections"] // 2,
        scores=lambda s: flops(**vars(s))["scores"] // 2,
        feed_forward=lambda s: flops(**vars(s))["feed_forward"] // 2,
    ),
    _wrong(
        "batch left out",
        "Your projections take {mine} operations, those of one sequence. There are B = {B}.",
        tells=lambda case: case.arguments["B"] != 1,
        projections=lambda s: flops(**vars(s))["projections"] // s.B,
        scores=lambda s: flops(**vars(s))["scores"] // s.B,
        feed_forward=lambda s: flops(**vars(s))["feed_forward"] // s.B,
    ),
    _wrong(
        "keys and values as wide as queries",
        "Your projections take {mine} operations, as if each of the {H} heads had keys and values of its "
        "own. There are G = {G} such heads.",
        projections=lambda s: 8 * s.B * s.T * s.D**2,
    ),
    _wrong(
        "output projection left out",
        "Your projections take {mine} operations: queries, keys and values. The output is a fourth matrix.",
        projections=lambda s: 2 * s.B * s.T * s.D * (s.D + 2 * s.G * (s.D // s.H)),
    ),
    _wrong(
        "heads counted once more",
        "Your scores take {mine} operations: those of D features for each of H = {H} heads. A head compares "
        "K = D/H features; all heads together compare D.",
        scores=lambda s: 2 * s.B * _compared(s) * s.D * s.H,
    ),
    _wrong(
        "one head's scores",
        "Your scores take {mine} operations, those of one head. There are H = {H}.",
        scores=lambda s: 2 * s.B * _compared(s) * (s.D // s.H),
    ),
    _wrong(
        "shared keys save scores",
        "Your scores take {mine} operations, those of G = {G} heads. Each of the {H} heads of queries is "
        "compared, whoever it shares its keys with.",
        scores=lambda s: 2 * s.B * _compared(s) * s.G * (s.D // s.H),
    ),
    _wrong(
        "pairs across sequences",
        "Your scores take {mine} operations, as if the B = {B} sequences were one of B · T tokens. Tokens "
        "of different sequences don't meet.",
        scores=lambda s: 2 * s.B**2 * _compared(s) * s.D,
    ),
    _wrong(
        "all pairs, whatever is asked",
        "Your scores take {mine} operations for T = {T}: all T² pairs. Asked are the visible ones.",
        tells=_visible,
        scores=lambda s: 2 * s.B * s.T**2 * s.D,
    ),
    _wrong(
        "own position not visible",
        "Your scores take {mine} operations for T = {T}: T (T − 1)/2 pairs. A token also sees itself.",
        tells=_visible,
        scores=lambda s: 2 * s.B * (_compared(s) - s.T * (s.pairs == "visible")) * s.D,
    ),
    _wrong(
        "half of the square",
        "Your scores take {mine} operations for T = {T}: T²/2 pairs. The diagonal is visible whole, so that "
        "T/2 pairs are missing.",
        tells=_visible,
        scores=lambda s: s.B * s.T**2 * s.D * (2 - (s.pairs == "visible")),
    ),
    _wrong(
        "one matrix in the feed-forward part",
        "Your feed-forward part takes {mine} operations, those of one F × D matrix. It has two.",
        feed_forward=lambda s: 2 * s.B * s.T * s.D * s.F,
    ),
    changed(
        "weighted values left out",
        flops,
        NAMES,
        "Your block takes {mine} operations: projections, scores and the feed-forward part. The weighted sum "
        "of the values is missing, a product as large as the scores.",
        block=lambda s: flops(**vars(s))["block"] - flops(**vars(s))["scores"],
    ),
)

_SCORE_HINTS: Hints = (
    "How many numbers has one head's table of scores, and how many features are compared for each?",
    "For each pair a head compares K features, H heads compare H · K = D. Which heads share their keys "
    "doesn't matter.",
    "2 · B · pairs · D; the pairs are T · T.",
)
_VISIBLE_HINTS: Hints = (
    "How many keys does the first query see, how many the second, how many the last?",
    "Query t sees t + 1 keys, counted from 0: itself and all before it.",
    "1 + 2 + … + T is T (T + 1)/2.",
)
_BLOCK_HINTS: Hints = (
    "Which products does attention make once the scores are there?",
    "The weights gather the values: a product of the same three sizes as the scores.",
    "projections + 2 · scores + feed_forward.",
)

EXERCISE = Exercise(
    id="compute_and_memory.flops",
    answer="flops",
    title="Operations by part",
    level="core",
    minutes=10,
    framework="numpy",
    withheld=("transformer_block",),
    reference=flops,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("projections", "the four projections of attention", 1.0, of=("projections",)),
        on(_all, entries("scores", "the scores of all pairs", 1.0, of=("scores",), hints=_SCORE_HINTS)),
        on(
            _visible,
            entries("visible", "the scores of visible pairs", 0.75, of=("scores",), hints=_VISIBLE_HINTS),
        ),
        entries("feed_forward", "the feed-forward part", 0.5, of=("feed_forward",)),
        follows(
            "block",
            "the whole block, by your parts",
            0.75,
            entry="block",
            of=("projections", "scores", "feed_forward"),
            rule=lambda s, own: own.projections + 2 * own.scores + own.feed_forward,
            hints=_BLOCK_HINTS,
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which matrices does a token meet, and how many weights has each?",
        "Two operations for each weight and each token. Queries and output are D × D; keys and values are "
        "G · D/H by D; the feed-forward part has F × D and D × F.",
        "2·B·T times 2·D·D + 2·D·G·(D // H) for the projections, 2·B·T times 2·D·F for the feed-forward "
        "part.",
    ),
)
