"""`audit.post_in_pre`: whose weights these are, when names and shapes can't tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from block_course.checks.audit.placements import block
from block_course.checks.block.parameters import Parameters, at_the_start, parameters, sizes, tokens
from block_course.checks.entries import entries
from block_course.checks.selection import among, on
from block_course.checks.wording import number
from block_course.exercise import Array, Case, Exercise, Hints, Misconception, Outputs
from block_course.plain import words

RETURNS = ("pre", "post", "placement")
POST, PRE, START = "kept by a post-norm block", "kept by a pre-norm block", "kept at the start of training"
POST_32, PRE_32 = "kept in float32, post-norm", "kept in float32, pre-norm"
CAUSAL, EPS = "kept by a causal block", "kept by a block with another eps"
_OTHER_EPS = 0.01
_CONDITION = 400.0
"""A gap is rounded to three decimals: in float32 its last one may turn."""
Table = dict[str, Any]


def reference(x: Array, y: Array, n_heads: int, **p: Array) -> Table:
    """The largest difference from each block's output, to three decimals, and the block without one."""
    gaps: Table = {}
    for placement in ("pre", "post"):
        difference = np.abs(block(x, n_heads, p, placement=placement) - y)
        gaps[placement] = round(float(difference.max()), 3)
    fitting = [placement for placement, gap in gaps.items() if gap == 0.0]
    return gaps | {"placement": fitting[0] if fitting else "neither"}


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Outputs kept by blocks of both placements, early and late, in both dtypes, and by two other blocks."""
    size = sizes(rng)

    def case(name: str, dtype: type = np.float64, start: bool = False, **choices: Any) -> Case:
        drawn: Parameters = parameters(rng, size)
        p = at_the_start(drawn) if start else drawn
        x = tokens(rng, size)
        y: Array = block(x, size.H, p, **choices).astype(dtype)
        return Case(name=name, arguments={"x": x, "y": y, "n_heads": size.H, **p}, condition=_CONDITION)

    return [
        case(POST, placement="post"),
        case(PRE, placement="pre"),
        case(START, start=True, placement="post"),
        case(POST_32, np.float32, placement="post"),
        case(PRE_32, np.float32, placement="pre"),
        case(CAUSAL, placement="pre", causal=True),
        case(EPS, placement="post", eps=_OTHER_EPS),
    ]


def _told(
    gap: Callable[[Array], float] = lambda difference: float(np.abs(difference).max()),
    verdict: Callable[[float, float], str] | None = None,
    post: str = "post",
) -> Callable[..., Table]:
    """The same with another measure of a difference, another verdict, or another idea of post-norm."""

    def answer(x: Array, y: Array, n_heads: int, **p: Array) -> Table:
        found = [round(gap(block(x, n_heads, p, placement=placement) - y), 3) for placement in ("pre", post)]
        return {"pre": found[0], "post": found[1], "placement": (verdict or _verdict)(*found)}

    return answer


def _verdict(pre: float, post: float) -> str:
    return "pre" if pre == 0.0 else "post" if post == 0.0 else "neither"


def _exchanged(x: Array, y: Array, n_heads: int, **p: Array) -> Table:
    table = reference(x, y, n_heads, **p)
    return {"pre": table["post"], "post": table["pre"], "placement": table["placement"]}


def _wrong(name: str, answer: Callable[..., Table], sentence: str) -> Misconception:
    def message(case: Case, outputs: Outputs) -> str:
        pre, post = (number(float(each)) for each in outputs[:2])
        said = f"your pre is {pre}, your post {post}, your placement {words(outputs[2])[0]!r}"
        return f"For outputs {case.name}, {said}. {sentence}"

    return Misconception(name=name, answer=answer, message=message)  # type: ignore[arg-type]


MISCONCEPTIONS = (
    _wrong(
        "the nearer of the two",
        _told(verdict=lambda pre, post: "pre" if pre < post else "post"),
        "One of two gaps is always the smaller. A block fits if its gap is 0.000, and maybe none does.",
    ),
    _wrong(
        "near is taken for equal",
        _told(verdict=lambda pre, post: "pre" if pre < 0.1 else "post" if post < 0.1 else "neither"),
        "Rounding explains differences below 0.0005. A gap that shows in three decimals is another function.",
    ),
    _wrong(
        "never a fit",
        _told(verdict=lambda pre, post: "neither"),
        "Two right programs add in another order, and outputs may have been kept in float32: compare after "
        "rounding, not bit for bit.",
    ),
    _wrong(
        "mean for largest",
        _told(lambda difference: float(np.abs(difference).mean())),
        "You average the differences. The largest one is asked for: a mean hides one bad entry among many.",
    ),
    _wrong(
        "differences without their size",
        _told(lambda difference: float(difference.max())),
        "You take the largest of the signed differences. One of −3 is as bad as one of 3: take |difference|.",
    ),
    _wrong(
        "pre and post exchanged",
        _exchanged,
        "You have the two gaps exchanged: `pre` is that of the block whose norms stand before the branches.",
    ),
    _wrong(
        "post-norm without its second norm",
        _told(post="half"),
        "Your post-norm block normalizes behind the first add and not behind the second.",
    ),
    _wrong(
        "norms on the updates",
        _told(post="inner"),
        "Your post-norm block normalizes what a branch gives, before it is added. Post-norm normalizes the "
        "sum.",
    ),
)

_FITS = (PRE, PRE_32)
_OTHERS = (POST, START, POST_32)
_WORD_HINTS: Hints = (
    "What is the gap of a block that kept these outputs itself?",
    "It is rounding: 0.000 in three decimals. A gap of 0.005 is small and not 0.",
    "`pre` or `post` where that gap is 0, `neither` where none is.",
)
EXERCISE = Exercise(
    id="audit.post_in_pre",
    answer="whose",
    title="Weights that fit and don't belong",
    level="core",
    minutes=15,
    framework="numpy",
    reference=reference,  # type: ignore[arg-type]
    cases=cases,
    returns=RETURNS,
    properties=(
        on(
            among(POST, START, POST_32, CAUSAL, EPS),
            entries("pre", "the gap of the pre-norm block", 1.0, of=("pre",)),
        ),
        on(
            among(PRE, PRE_32, CAUSAL, EPS),
            entries("post", "the gap of the post-norm block", 1.0, of=("post",)),
        ),
        on(
            among(*_FITS, *_OTHERS),
            entries("fits", "which block the weights are of", 1.0, of=("placement",), hints=_WORD_HINTS),
        ),
        on(
            among(CAUSAL, EPS),
            entries("neither", "when they are of neither", 1.0, of=("placement",), hints=_WORD_HINTS),
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Run both blocks on `x`. What do you compare with what?",
        "Both are made of the same three functions and the same twelve arrays. Pre-norm: x + MHA(LN₁(x)), "
        "then h + FFN(LN₂(h)). Post-norm: LN₁(x + MHA(x)), then LN₂(h + FFN(h)).",
        "Each gap is `round(float(np.abs(output - y).max()), 3)`; the block whose gap is 0.0 is the one.",
    ),
    withheld=(
        "transformer_block.in_numpy.block",
        "transformer_block.in_numpy.stack",
        "transformer_block.joins",
    ),
)
