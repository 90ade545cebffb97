"""`compute_and_memory.activations`: the bytes that a feed-forward part keeps for its backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.following import follows
from block_course.checks.selection import on
from block_course.checks.tables import changed
from block_course.exercise import Case, Exercise, Hints, Misconception

NAMES = ("inner", "read", "kept", "megabytes")
BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
TENSORS = {"gelu": 2, "swiglu": 4}
Number = int | float


def kept(B: int, T: int, D: int, F: int, dtype: str, activation: str) -> dict[str, Number]:
    """One inner tensor; the input; the input with two inner tensors, or four behind a gate."""
    inner = B * T * F * BYTES[dtype]
    read = B * T * D * BYTES[dtype]
    whole = read + TENSORS[activation] * inner
    return {"inner": inner, "read": read, "kept": whole, "megabytes": whole / 1e6}


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """GPT-2 small twice, GPT-3, a gated part of Llama's size, and three that nobody has trained."""
    known = [
        (1, 1024, 768, 3072, "float32", "gelu"),
        (8, 1024, 768, 3072, "bfloat16", "gelu"),
        (4, 2048, 12_288, 49_152, "bfloat16", "gelu"),
        (2, 2048, 4096, 11_008, "bfloat16", "swiglu"),
    ]
    for dtype, activation in (("float64", "gelu"), ("float32", "swiglu"), ("float16", "swiglu")):
        B, T, D, F = (int(rng.integers(*ends)) for ends in ((2, 7), (20, 60), (70, 90), (150, 300)))
        known.append((B, T, D, F, dtype, activation))
    return [
        Case(
            name=f"part {number}: B = {B}, T = {T:,}, D = {D:,}, F = {F:,}, {dtype}, {activation}",
            arguments={"B": B, "T": T, "D": D, "F": F, "dtype": dtype, "activation": activation},
        )
        for number, (B, T, D, F, dtype, activation) in enumerate(known, start=1)
    ]


def _gated(case: Case) -> bool:
    return case.arguments["activation"] == "swiglu"


def _plain(case: Case) -> bool:
    return not _gated(case)


Sizes = Callable[[SimpleNamespace], Number]


def _wrong(
    name: str,
    sentence: str,
    *,
    inner: Sizes = lambda s: s.B * s.T * s.F * BYTES[s.dtype],
    read: Sizes = lambda s: s.B * s.T * s.D * BYTES[s.dtype],
    tensors: Callable[[str], int] = lambda activation: TENSORS[activation],
    inputs: Callable[[str], int] = lambda activation: 1,
    shown: str = "kept",
    tells: Callable[[Case], bool] | None = None,
) -> Misconception:
    """A table in which one size, or the number of tensors, is another, and what follows from it too."""

    def whole(s: SimpleNamespace) -> Number:
        return inputs(s.activation) * read(s) + tensors(s.activation) * inner(s)

    return changed(
        name,
        kept,
        NAMES,
        sentence,
        shown=shown,
        tells=tells,
        inner=inner,
        read=read,
        kept=whole,
        megabytes=lambda s: whole(s) / 1e6,
    )


MISCONCEPTIONS = (
    _wrong(
        "batch left out",
        "Your inner tensor has {mine} bytes, for one sequence. There are B = {B}.",
        inner=lambda s: s.T * s.F * BYTES[s.dtype],
        read=lambda s: s.T * s.D * BYTES[s.dtype],
        shown="inner",
        tells=lambda case: case.arguments["B"] != 1,
    ),
    _wrong(
        "four bytes whatever the dtype",
        "Your inner tensor has {mine} bytes, four for each number. The dtype is {dtype}.",
        inner=lambda s: s.B * s.T * s.F * 4,
        read=lambda s: s.B * s.T * s.D * 4,
        shown="inner",
    ),
    _wrong(
        "bits for bytes",
        "Your inner tensor has {mine} bytes; that is its number of bits. A byte has eight.",
        inner=lambda s: s.B * s.T * s.F * BYTES[s.dtype] * 8,
        read=lambda s: s.B * s.T * s.D * BYTES[s.dtype] * 8,
        shown="inner",
    ),
    _wrong(
        "numbers for bytes",
        "Your inner tensor has {mine} bytes; that is how many numbers it holds. A number in {dtype} "
        "takes several.",
        inner=lambda s: s.B * s.T * s.F,
        read=lambda s: s.B * s.T * s.D,
        shown="inner",
    ),
    _wrong(
        "weights for activations",
        "Your inner tensor has {mine} bytes, those of a matrix F × D. Asked are activations: F numbers for "
        "each of B · T tokens.",
        inner=lambda s: s.D * s.F * BYTES[s.dtype],
        shown="inner",
    ),
    _wrong(
        "input left out",
        "You keep {mine} bytes: the inner tensors. The gradient of the first matrix needs what it has read.",
        inputs=lambda activation: 0,
    ),
    _wrong(
        "input kept twice",
        "You keep {mine} bytes: the input once for each matrix that reads it. Both matrices of a gated part "
        "read the same tensor, and it is kept once.",
        inputs=lambda activation: 2 if activation == "swiglu" else 1,
        tells=_gated,
    ),
    _wrong(
        "what the activation reads left out",
        "You keep {mine} bytes, without what {activation} was given. Its slope at each number depends on "
        "that number.",
        tensors=lambda activation: TENSORS[activation] - 1,
    ),
    _wrong(
        "a gate that keeps no more",
        "You keep {mine} bytes, two inner tensors. Behind a gate there are SiLU's input, both factors of the "
        "product, and the product.",
        tensors=lambda activation: 2,
        tells=_gated,
    ),
    _wrong(
        "three tensors behind a gate",
        "You keep {mine} bytes, three inner tensors behind the gate. There are four: SiLU's input, both "
        "factors of the product, and the product itself, which the last matrix reads.",
        tensors=lambda activation: 3 if activation == "swiglu" else 2,
        tells=_gated,
    ),
    changed(
        "megabytes of 1,048,576",
        kept,
        NAMES,
        "You have {mine} megabytes of 1,048,576 bytes (MiB). Here a megabyte is a million bytes.",
        megabytes=lambda s: kept(**vars(s))["kept"] / 2**20,
    ),
)

_GATE_HINTS: Hints = (
    "Write the gated part as steps with names: a = W₁x, s = SiLU(a), u = W₃x, p = s ⊙ u, y = W₂p. Which of "
    "these does the backward read?",
    "SiLU needs its input a; the gradient by s needs u, and that by u needs s; the gradient of W₂ needs p. "
    "Both W₁ and W₃ need x, which is kept once.",
    "The input, and four tensors of B·T·F numbers.",
)

EXERCISE = Exercise(
    id="compute_and_memory.activations",
    answer="kept_bytes",
    title="What a feed-forward part keeps",
    level="core",
    minutes=10,
    framework="numpy",
    withheld=("transformer_block",),
    reference=kept,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("inner", "one inner tensor", 1.0, of=("inner",)),
        entries("read", "the input", 0.5, of=("read",)),
        on(_plain, entries("plain", "all that a plain part keeps", 1.0, of=("kept",))),
        on(_gated, entries("gated", "all that a gated part keeps", 1.0, of=("kept",), hints=_GATE_HINTS)),
        follows(
            "megabytes",
            "the same in megabytes",
            0.5,
            entry="megabytes",
            of=("kept",),
            rule=lambda s, own: own.kept / 1e6,
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "How many numbers has a tensor of shape (B, T, F), and how many bytes does each take in this dtype?",
        "float64 takes 8 bytes, float32 4, float16 and bfloat16 2. A matrix keeps what it reads, GELU what "
        "it reads: that makes the input and two inner tensors.",
        "inner = B·T·F·bytes and read = B·T·D·bytes; a plain part keeps read + 2·inner; divide by 1e6.",
    ),
)
