"""`feed_forward.counts`: how many numbers a feed-forward part holds, beside attention and with a gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.entries import entries
from block_course.exercise import Case, Exercise, Hints, Misconception, Outputs

NAMES = ("plain", "attention", "gated_width", "gated")
Table = dict[str, int]


def reference(D: int, F: int) -> Table:
    """Two matrices and two biases; four and four; two thirds of the width, rounded down; three matrices."""
    width = 2 * F // 3
    return {
        "plain": 2 * D * F + F + D,
        "attention": 4 * D * D + 4 * D,
        "gated_width": width,
        "gated": 3 * D * width,
    }


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """The first transformer, GPT-2 small, Llama 7B, and widths that nobody has used."""
    drawn = [(int(D), int(F)) for D, F in zip(rng.integers(5, 90, 3), rng.integers(100, 400, 3), strict=True)]
    sizes = [(512, 2048), (768, 3072), (4096, 16_384), *drawn]
    return [
        Case(name=f"sizes {number}: D = {D:,}, F = {F:,}", arguments={"D": D, "F": F})
        for number, (D, F) in enumerate(sizes, start=1)
    ]


def _wrong(
    name: str, message: str, output: int = 0, **changed: Callable[[int, int, Table], int]
) -> Misconception:
    """The right table with some entries changed; {mine}, {right}, {D} and {F} may stand in the message."""

    def answer(D: int, F: int) -> Table:
        table = reference(D, F)
        return table | {entry: made(D, F, table) for entry, made in changed.items()}

    def said(case: Case, outputs: Outputs) -> str:
        D, F = (int(case.arguments[size]) for size in ("D", "F"))  # type: ignore[arg-type]
        mine = f"{int(outputs[output]):,}"
        return message.format(mine=mine, D=f"{D:,}", F=f"{F:,}", without=f"{2 * D * F:,}")

    return Misconception(name=name, answer=answer, message=said)  # type: ignore[arg-type]


MISCONCEPTIONS = (
    _wrong(
        "biases of the plain part left out",
        "Your plain part for D = {D} and F = {F} has {mine} numbers, those of the two matrices. Each matrix "
        "has a bias, with one entry for each feature that comes out: F and D.",
        plain=lambda D, F, right: 2 * D * F,
    ),
    _wrong(
        "two biases of one size",
        "Your plain part for D = {D} and F = {F} has {mine} numbers. The two biases differ in size: the "
        "first has an entry for each inner feature, F, the second one for each outer feature, D.",
        plain=lambda D, F, right: 2 * D * F + 2 * F,
    ),
    _wrong(
        "two biases of one size",
        "Your plain part for D = {D} and F = {F} has {mine} numbers. The two biases differ in size: the "
        "first has an entry for each inner feature, F, the second one for each outer feature, D.",
        plain=lambda D, F, right: 2 * D * F + 2 * D,
    ),
    _wrong(
        "one matrix",
        "Your plain part for D = {D} and F = {F} has {mine} numbers: a single matrix. There are two, in and "
        "out again, which makes {without} weights.",
        plain=lambda D, F, right: D * F + F + D,
    ),
    _wrong(
        "three projections of attention",
        "Your attention for D = {D} has {mine} numbers: queries, keys and values. The projection that mixes "
        "the heads at the end is the fourth.",
        output=1,
        attention=lambda D, F, right: 3 * D * D + 3 * D,
    ),
    _wrong(
        "biases of attention left out",
        "Your attention for D = {D} has {mine} numbers, those of the matrices. Each of the four projections "
        "has a bias with D entries.",
        output=1,
        attention=lambda D, F, right: 4 * D * D,
    ),
    _wrong(
        "a gate at the same width",
        "Your gated part is {mine} wide, as the plain one. Three matrices of that width hold half as many "
        "weights again; at equal weights it is narrower.",
        output=2,
        gated_width=lambda D, F, right: F,
        gated=lambda D, F, right: 3 * D * F,
    ),
    _wrong(
        "8/3 of the inner width",
        "Your gated width for F = {F} is {mine}. 8/3 is its share of D where F = 4D; its share of F is 2/3.",
        output=2,
        gated_width=lambda D, F, right: 8 * F // 3,
        gated=lambda D, F, right: 3 * D * (8 * F // 3),
    ),
    _wrong(
        "8/3 of D whatever F is",
        "Your gated width for D = {D} and F = {F} is {mine}, 8/3 of D. That holds where F = 4D. Three "
        "matrices of width w hold 3Dw weights, and two of width F hold 2DF.",
        output=2,
        gated_width=lambda D, F, right: 8 * D // 3,
        gated=lambda D, F, right: 3 * D * (8 * D // 3),
    ),
    _wrong(
        "two matrices in the gated part",
        "Your gated part holds {mine} weights: two matrices. It has three, one of them for the gate.",
        output=3,
        gated=lambda D, F, right: 2 * D * right["gated_width"],
    ),
)

_PLAIN_HINTS: Hints = (
    "Which shapes have w1, b1, w2 and b2? Count each.",
    "w1 is (F, D) and w2 is (D, F); b1 has F entries and b2 has D.",
    "Add 2·D·F for the matrices, F and D for the biases.",
)
_ATTENTION_HINTS: Hints = (
    "Which projections has attention, before the heads and after them?",
    "Queries, keys, values and the output: each is D × D and has a bias of D entries, whatever the number of "
    "heads.",
    "Take four times D·D and four times D.",
)
_GATED_HINTS: Hints = (
    "How many weights have three matrices of width w, and how many have two of width F?",
    "3·D·w is to be at most 2·D·F, so that w is two thirds of F, rounded down.",
    "The width is `2 * F // 3`; the weights are three times D times that width.",
)

EXERCISE = Exercise(
    id="feed_forward.counts",
    answer="counts",
    title="Counting",
    level="warm-up",
    minutes=8,
    framework="numpy",
    reference=reference,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("plain", "the numbers of the plain part", 1.0, of=("plain",), hints=_PLAIN_HINTS),
        entries("attention", "those of attention", 0.75, of=("attention",), hints=_ATTENTION_HINTS),
        entries("width", "the width of the gated part", 0.75, of=("gated_width",), hints=_GATED_HINTS),
        entries("gated", "the weights of the gated part", 0.5, of=("gated",), hints=_GATED_HINTS),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "For each matrix: how many features go in, and how many come out? Their product is its count.",
        "A plain part has two matrices and two biases; attention has four of each; a gated part has three "
        "matrices, and here no biases.",
        "Write each entry as a product of D and F, and add what the biases have.",
    ),
)
