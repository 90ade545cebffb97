"""`variants.gated_width`: the inner width of a gated part at nearly equal parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace

import numpy as np

from block_course.checks.entries import entries
from block_course.checks.following import follows
from block_course.checks.tables import changed
from block_course.exercise import Case, Exercise, Hints, Misconception

NAMES = ("exact", "width", "more")
Number = int | float


def gated_width(D: int, F: int, multiple: int) -> dict[str, Number]:
    """Two thirds of F; the next multiple; three matrices of that width against two of F."""
    width = -(-2 * F // (3 * multiple)) * multiple
    return {"exact": 2 * F / 3, "width": width, "more": 3 * D * width - 2 * D * F}


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """GPT-2 small's width, Llama 7B's, and drawn ones: on a multiple, a quarter behind it, three quarters."""
    known = [(768, 3072, 1), (4096, 16_384, 256)]
    for quarters in (0, 1, 3):
        D, steps = int(rng.integers(20, 60)), int(rng.integers(5, 12))
        multiple = 8 * int(rng.integers(2, 7))
        two_thirds = multiple * steps + quarters * multiple // 4
        known.append((D, 3 * two_thirds // 2, multiple))
    return [
        Case(
            name=f"part {number}: D = {D:,}, F = {F:,}, multiples of {multiple}",
            arguments={"D": D, "F": F, "multiple": multiple},
        )
        for number, (D, F, multiple) in enumerate(known, start=1)
    ]


def _up(width: float, multiple: int) -> int:
    return int(-(-width // multiple)) * multiple


def _more(s: SimpleNamespace, width: Number) -> Number:
    return 3 * s.D * width - 2 * s.D * s.F  # type: ignore[no-any-return]


def _rounded(name: str, sentence: str, width: Callable[[SimpleNamespace], Number]) -> Misconception:
    """The exact width as it should be, and another whole one."""
    return changed(
        name,
        gated_width,
        NAMES,
        sentence,
        shown="width",
        tells=lambda case: case.arguments["multiple"] != 1,
        width=width,
        more=lambda s: _more(s, width(s)),
    )


def _other(name: str, sentence: str, exact: Callable[[SimpleNamespace], float]) -> Misconception:
    """Another exact width, rounded as it should be."""
    return changed(
        name,
        gated_width,
        NAMES,
        sentence,
        exact=exact,
        width=lambda s: _up(exact(s), s.multiple),
        more=lambda s: _more(s, _up(exact(s), s.multiple)),
    )


_wrong = partial(changed, reference=gated_width, returns=NAMES)

MISCONCEPTIONS = (
    _other(
        "three halves",
        "Your exact width is {mine} for F = {F}, wider than the plain part's. Three matrices have to share "
        "what two had.",
        lambda s: 3 * s.F / 2,
    ),
    _other(
        "half",
        "Your exact width is {mine}, half of F = {F}: that leaves the gate and the way up together as large "
        "as one matrix was. The way down shrinks too; in all there are three matrices for two.",
        lambda s: s.F / 2,
    ),
    _other(
        "the same width",
        "Your exact width is {mine} = F. With a third matrix that is half as many weights again.",
        lambda s: float(s.F),
    ),
    _other(
        "eight thirds of D whatever F is",
        "Your exact width is {mine}: 8/3 of D = {D}. That is two thirds of F for F = 4D; here F = {F}.",
        lambda s: 8 * s.D / 3,
    ),
    _rounded(
        "rounded down",
        "Your width is {mine}, the multiple of {multiple} below. Asked is the smallest that is not below the "
        "exact width.",
        lambda s: 2 * s.F // 3 // s.multiple * s.multiple,
    ),
    _rounded(
        "rounded to the nearest",
        "Your width is {mine}, the nearest multiple of {multiple}. Asked is the smallest that is not below "
        "the exact width.",
        lambda s: int(2 * s.F / 3 / s.multiple + 0.5) * s.multiple,
    ),
    _rounded(
        "always one further",
        "Your width is {mine}. The exact width was a multiple of {multiple} already, and is kept.",
        lambda s: (2 * s.F // 3 // s.multiple + 1) * s.multiple,
    ),
    _rounded(
        "next whole number",
        "Your width is {mine}, which is no multiple of {multiple}.",
        lambda s: -(-2 * s.F // 3),
    ),
    _wrong(
        "two matrices behind a gate",
        sentence="You count {mine} weights more: two matrices of the new width against two of the old. The "
        "gated part has three.",
        more=lambda s: 2 * s.D * gated_width(s.D, s.F, s.multiple)["width"] - 2 * s.D * s.F,
    ),
    _wrong(
        "turned over",
        sentence="You count {mine} weights more: the plain part's less those of the gated one.",
        more=lambda s: -gated_width(s.D, s.F, s.multiple)["more"],
    ),
)

_WIDTH_HINTS: Hints = (
    "How many steps of `multiple` reach the exact width?",
    "As many as the exact width divided by `multiple`, rounded up; none more if it comes out even.",
    "`math.ceil(2 * F / (3 * multiple)) * multiple`.",
)

EXERCISE = Exercise(
    id="variants.gated_width",
    answer="gated_width",
    title="A width for the gate",
    level="warm-up",
    minutes=6,
    framework="numpy",
    withheld=("transformer_block",),
    reference=gated_width,  # type: ignore[arg-type]
    cases=cases,
    returns=NAMES,
    properties=(
        entries("exact", "the exact width at equal weights", 1.0, of=("exact",)),
        entries("width", "the next multiple", 1.0, of=("width",), hints=_WIDTH_HINTS),
        follows(
            "more",
            "the weights that your width costs",
            1.0,
            entry="more",
            of=("width",),
            rule=lambda s, own: 3 * s.D * own.width - 2 * s.D * s.F,
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "How many weights has the plain part, and how many has a gated one of inner width W?",
        "2·D·F for two matrices, 3·D·W for three. They are equal for W = 2F/3.",
        "exact = 2·F/3; width is the next multiple; more = 3·D·width − 2·D·F.",
    ),
)
