"""`masks.convert`: one mask, said to PyTorch's two attention calls in their own terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import inputs_unchanged
from block_course.checks.masks.booleans import MASKS_OF_THE_PACKAGE, boolean
from block_course.checks.properties import Explain, values
from block_course.checks.wording import entry, number, shape
from block_course.exercise import Array, Case, Exercise, Hints, Misconception, Outputs

ONE_HEAD, HEADS, CAUSAL = "one head", "several heads", "a causal mask beside padding"


def reference(visible: Array, n_heads: int) -> Outputs:
    """(B, 1, T, S) with True for visible, and (B · H, T, S), item after item, with True for hidden."""
    return visible[:, None], np.repeat(~visible, n_heads, axis=0)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Sizes that differ pairwise, heads too; with one head the order of the heads can't go wrong."""
    B, T, S = 2, int(rng.integers(4, 6)), int(rng.integers(6, 9))
    lengths = np.array([S, S - 2])
    padded = np.arange(S) < lengths[:, None, None]
    return [
        _case(ONE_HEAD, _mask(rng, (3, T, S)), 1),
        _case(HEADS, _mask(rng, (B, T, S)), 3),
        _case(CAUSAL, np.tri(T, S, S - T, dtype=bool) & padded, 3),
    ]


def _case(name: str, visible: Array, n_heads: int) -> Case:
    return Case(name=name, arguments={"visible": visible, "n_heads": n_heads})


def _mask(rng: np.random.Generator, sides: tuple[int, int, int]) -> Array:
    """No two rows of an item are complements, and each shows and hides some key."""
    mask = rng.random(sides) < 0.5
    mask[..., 0], mask[..., 1] = True, False
    return mask


def _explain(true_means: str, false_means: str) -> Explain:
    def explain(case: Case, index: tuple[int, ...], got: Array, right: Array) -> str:
        if got[index] not in (0, 1):
            return f"entry {entry(index)} is {number(got[index])}; a mask holds True and False"
        state = true_means if right[index] else false_means
        return (
            f"entry {entry(index)} is {bool(got[index])}. There the key is {state}, and this call wants "
            f"{bool(right[index])} for it"
        )

    return explain


def _wrong(name: str, answer: Callable[..., Outputs], sentence: str) -> Misconception:
    return Misconception(name=name, answer=answer, message=lambda case, outputs: _filled(sentence, case))


def _filled(sentence: str, case: Case) -> str:
    visible = np.asarray(case.arguments["visible"])
    B, T, S = visible.shape
    H = int(case.arguments["n_heads"])  # type: ignore[arg-type]
    return sentence.format(
        seen=int(visible[0, 0].sum()), B=B, H=H, S=S, given=shape((B, T, S)), wanted=shape((B * H, T, S))
    )


MISCONCEPTIONS = (
    _wrong(
        "one meaning for both calls",
        lambda visible, n_heads: (visible[:, None], np.repeat(visible, n_heads, axis=0)),
        "Query 0 of item 0 may see {seen} of {S} keys, and both your masks have True for these. "
        "`nn.MultiheadAttention` reads True as hidden: it would show the query the other keys.",
    ),
    _wrong(
        "both masks turned over",
        lambda visible, n_heads: (~visible[:, None], np.repeat(~visible, n_heads, axis=0)),
        "Query 0 of item 0 may see {seen} of {S} keys, and both your masks have False for these. "
        "`scaled_dot_product_attention` reads True as visible: it would show the query the other keys.",
    ),
    _wrong(
        "the two meanings exchanged",
        lambda visible, n_heads: (~visible[:, None], np.repeat(visible, n_heads, axis=0)),
        "Query 0 of item 0 may see {seen} of {S} keys. You turn the mask over for "
        "`scaled_dot_product_attention`, which reads True as visible, and leave it for "
        "`nn.MultiheadAttention`, which reads True as hidden.",
    ),
    _wrong(
        "heads before items",
        lambda visible, n_heads: (visible[:, None], np.tile(~visible, (n_heads, 1, 1))),
        "With B = {B} and H = {H} your second mask repeats the whole batch {H} times. The module counts item "
        "after item: rows 0 to H − 1 are the heads of item 0. Repeat each item, not the batch.",
    ),
    _wrong(
        "no rows for the heads",
        lambda visible, n_heads: (visible[:, None], ~visible),
        "With B = {B} and H = {H} the module wants one mask for each item and head, {wanted}; your second "
        "mask has shape {given}.",
    ),
    _wrong(
        "an axis for the heads in both",
        lambda visible, n_heads: (visible[:, None], ~visible[:, None]),
        "`nn.MultiheadAttention` takes a mask of three axes, with the heads of all items along the first: "
        "{wanted}. Yours has an axis for the heads of its own.",
    ),
    _wrong(
        "no axis for the heads",
        lambda visible, n_heads: (visible, np.repeat(~visible, n_heads, axis=0)),
        "Against queries of shape (B, H, T, K) your first mask, {given}, lines its B = {B} items up with the "
        "H = {H} heads. Give it an axis of size 1 for the heads.",
    ),
)

_FUNCTION_HINTS: Hints = (
    "What does True mean to `scaled_dot_product_attention`, and where do the heads stand in its queries?",
    "There True means visible, as here. The queries have shape (B, H, T, K), and one mask serves all heads "
    "of an item if it has size 1 where they have H.",
    "Put an axis of size 1 behind the first one of `visible`, and change nothing else.",
)
_MODULE_HINTS: Hints = (
    "What does True mean to `nn.MultiheadAttention`, and how many rows does its mask have along axis 0?",
    "There True means hidden. The mask has a row for each item and head: b · H + h is head h of item b. All "
    "H rows of an item are alike.",
    "Turn the mask over with `~`, then repeat each item H times in place, with `repeat_interleave` over "
    "axis 0.",
)

EXERCISE = Exercise(
    id="masks.convert",
    answer="convert",
    title="Two meanings of True",
    level="core",
    minutes=10,
    framework="torch",
    withheld=MASKS_OF_THE_PACKAGE,
    reference=reference,
    cases=cases,
    returns=("for_function", "for_module"),
    properties=(
        values(
            "for_function",
            "`scaled_dot_product_attention` sees what is visible",
            1.0,
            on=(ONE_HEAD, HEADS, CAUSAL),
            output=0,
            explain=_explain("visible", "hidden"),
            hints=_FUNCTION_HINTS,
        ),
        values(
            "for_module",
            "`nn.MultiheadAttention` with one head sees what is visible",
            1.0,
            on=(ONE_HEAD,),
            output=1,
            explain=_explain("hidden", "visible"),
            hints=_MODULE_HINTS,
        ),
        values(
            "heads",
            "with several heads, the rows stand item after item",
            1.0,
            on=(HEADS, CAUSAL),
            output=1,
            explain=_explain("hidden", "visible"),
            requires=("for_module",),
            hints=_MODULE_HINTS,
        ),
        boolean(0.5, requires=("for_function", "heads"), what="both masks are"),
        inputs_unchanged(0.5, requires=("for_function", "heads")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "What does True mean to each of the two calls? The statement says it; which of the two must be "
        "turned over?",
        "To the function True is visible, to the module it is hidden. The function has an axis for the "
        "heads, the module a row for each item and head.",
        "First mask: an axis of size 1 for the heads. Second mask: turned over, and each item repeated once "
        "for each head.",
    ),
)
