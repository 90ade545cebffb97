"""`parameters.ratio`: when two to one stops holding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.following import follows
from block_course.checks.tables import Made, changed
from block_course.exercise import Case, Exercise, Hints

NAMES = ("attention", "feed_forward", "ratio")
Number = int | float


def ratio(D: int, H: int, G: int, F: int, matrices: int) -> dict[str, Number]:
    """Two matrices D wide and two as wide as G heads; two or three of F by D; one over the other."""
    attention = 2 * D * D + 2 * D * G * (D // H)
    feed_forward = matrices * D * F
    return {"attention": attention, "feed_forward": feed_forward, "ratio": feed_forward / attention}


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """GPT-2 small, two Llamas, and a plain and a gated block with shared keys that nobody has used."""
    known = [(768, 12, 12, 3072, 2), (4096, 32, 32, 11_008, 3), (4096, 32, 8, 14_336, 3)]
    for matrices in (2, 3):
        G, share, K = (int(each) for each in (rng.integers(2, 5), rng.integers(2, 4), rng.integers(5, 9)))
        known.append((G * share * K, G * share, G, int(rng.integers(200, 400)), matrices))
    return [
        Case(
            name=f"block {number}: D = {D:,}, H = {H}, G = {G}, F = {F:,}, {matrices} matrices",
            arguments={"D": D, "H": H, "G": G, "F": F, "matrices": matrices},
        )
        for number, (D, H, G, F, matrices) in enumerate(known, start=1)
    ]


_wrong = partial(changed, reference=ratio, returns=NAMES)


def _with_attention(attention: int, feed_forward: int) -> Number:
    return feed_forward / attention


def _rounded(digits: int) -> Made:
    return lambda s: round(float(ratio(s.D, s.H, s.G, s.F, s.matrices)["ratio"]), digits)


def _whole(s: SimpleNamespace) -> int:
    return int(ratio(s.D, s.H, s.G, s.F, s.matrices)["ratio"])


MISCONCEPTIONS = (
    _wrong(
        "keys and values as wide as queries",
        sentence="Your attention has {mine} weights, as if each of the {H} heads had keys and values of "
        "its own. There are G = {G} such heads.",
        attention=lambda s: 4 * s.D * s.D,
        ratio=lambda s: _with_attention(4 * s.D * s.D, s.matrices * s.D * s.F),
    ),
    _wrong(
        "the output shrinks too",
        sentence="Your attention has {mine} weights: all but the queries are as narrow as G = {G} heads. "
        "The output reads what all {H} heads have gathered, and is D × D.",
        attention=lambda s: s.D * s.D + 3 * s.D * s.G * (s.D // s.H),
        ratio=lambda s: _with_attention(s.D * s.D + 3 * s.D * s.G * (s.D // s.H), s.matrices * s.D * s.F),
    ),
    _wrong(
        "all projections shrink",
        sentence="Your attention has {mine} weights: all four projections are as narrow as G = {G} heads. "
        "The queries have all {H} heads, and the output reads them.",
        attention=lambda s: 4 * s.D * s.G * (s.D // s.H),
        ratio=lambda s: _with_attention(4 * s.D * s.G * (s.D // s.H), s.matrices * s.D * s.F),
    ),
    _wrong(
        "one matrix for keys and values",
        sentence="Your attention has {mine} weights. Keys and values have a matrix each, of G = {G} heads.",
        attention=lambda s: 2 * s.D * s.D + s.D * s.G * (s.D // s.H),
        ratio=lambda s: _with_attention(2 * s.D * s.D + s.D * s.G * (s.D // s.H), s.matrices * s.D * s.F),
    ),
    _wrong(
        "the output left out",
        sentence="Your attention has {mine} weights, those of queries, keys and values. What the heads have "
        "gathered goes through a fourth matrix, D × D.",
        attention=lambda s: s.D * s.D + 2 * s.D * s.G * (s.D // s.H),
        ratio=lambda s: _with_attention(s.D * s.D + 2 * s.D * s.G * (s.D // s.H), s.matrices * s.D * s.F),
    ),
    *(
        _wrong(
            "ratio rounded",
            sentence="Your ratio is {mine}, cut to so many decimals. Return the quotient as it comes.",
            ratio=rounded,
        )
        for rounded in (*(_rounded(digits) for digits in range(5)), _whole)
    ),
    _wrong(
        "the gate left out",
        sentence="Your feed-forward part has {mine} weights, those of two matrices. This one has {matrices}.",
        feed_forward=lambda s: 2 * s.D * s.F,
        ratio=lambda s: 2 * s.D * s.F / ratio(s.D, s.H, s.G, s.F, 2)["attention"],
    ),
    _wrong(
        "two to one",
        sentence="Your ratio is {mine}. That is the rule for F = 4D, two matrices and as many heads of "
        "keys as of queries; here H = {H}, G = {G}, F = {F} and there are {matrices} matrices.",
        ratio=lambda s: 2.0,
    ),
    _wrong(
        "attention over feed-forward",
        sentence="Your ratio is {mine}: attention over feed-forward. Asked is how many feed-forward "
        "weights there are for each one of attention.",
        ratio=lambda s: 1 / float(ratio(s.D, s.H, s.G, s.F, s.matrices)["ratio"]),
    ),
)

_ATTENTION_HINTS: Hints = (
    "Which of the four projections make keys and values, and for how many heads?",
    "A head is D/H features wide. Queries and output are D × D; keys and values are G · D/H by D.",
    "2·D·D + 2·D·G·(D // H).",
)
_RATIO_HINTS: Hints = (
    "Which of the two stands above the line?",
    "The feed-forward weights, divided by those of attention.",
    "Divide with `/` and don't round, so that the ratio keeps its decimals.",
)

EXERCISE = Exercise(
    id="parameters.ratio",
    answer="ratio",
    title="When two to one stops holding",
    level="core",
    minutes=8,
    framework="numpy",
    withheld=("transformer_block",),
    reference=ratio,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("attention", "the weights of attention", 1.25, of=("attention",), hints=_ATTENTION_HINTS),
        entries("feed_forward", "those of the feed-forward part", 0.75, of=("feed_forward",)),
        follows(
            "ratio",
            "their ratio, made from your weights",
            1.0,
            entry="ratio",
            of=("attention", "feed_forward"),
            rule=lambda s, own: own.feed_forward / own.attention,
            requires=("feed_forward",),
            hints=_RATIO_HINTS,
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Draw the matrices to scale, as the chapter does for Llama 3.",
        "Shared heads make two of attention's four matrices flat; a gate is a third matrix of F × D.",
        "Attention has 2·D·D + 2·D·G·(D // H), the feed-forward part matrices·D·F.",
    ),
)
