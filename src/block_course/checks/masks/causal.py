"""`masks.causal`: the causal mask, aligned to the end of the keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.masks.booleans import MASKS_OF_THE_PACKAGE, boolean, seen_or_hidden
from block_course.checks.properties import values
from block_course.checks.wording import shape
from block_course.exercise import Array, Case, Exercise, Hints, Misconception, Outputs

EXAMPLE, SQUARE, GIVEN = "four positions", "a sequence", "a sequence, S given"
BEHIND, ONE_NEW, ALONE = "new positions behind cached ones", "one new position", "a single position"


def reference(T: int, S: int | None = None) -> Array:
    """Query t stands at position t + S − T and sees the keys up to there."""
    S = T if S is None else S
    return np.asarray(np.arange(S) <= np.arange(T)[:, None] + (S - T))


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """As many queries as keys, with S left out and given; then fewer queries than keys."""
    T = int(rng.integers(5, 9))
    new, cached = int(rng.integers(2, 4)), int(rng.integers(4, 7))
    return [
        Case(name=EXAMPLE, arguments={"T": 4}),
        Case(name=SQUARE, arguments={"T": T}),
        Case(name=GIVEN, arguments={"T": T, "S": T}),
        Case(name=BEHIND, arguments={"T": new, "S": new + cached}),
        Case(name=ONE_NEW, arguments={"T": 1, "S": int(rng.integers(4, 9))}),
        Case(name=ALONE, arguments={"T": 1}),
    ]


def _sizes(case: Case) -> tuple[int, int]:
    T, S = case.arguments["T"], case.arguments.get("S")
    return int(T), int(T if S is None else S)  # type: ignore[arg-type]


def _has_offset(case: Case) -> bool:
    T, S = _sizes(case)
    return S > T > 1


def _tri(diagonal: Callable[[int, int], int]) -> Callable[..., Array]:
    def answer(T: int, S: int | None = None) -> Array:
        S = T if S is None else S
        return np.tri(T, S, diagonal(T, S), dtype=bool)

    return answer


def _turned_over(T: int, S: int | None = None) -> Array:
    return ~reference(T, S)


def _transposed(T: int, S: int | None = None) -> Array:
    S = T if S is None else S
    return np.asarray(np.arange(S) >= np.arange(T)[:, None] + (S - T))


def _additive(T: int, S: int | None = None) -> Array:
    return np.where(reference(T, S), 0.0, -np.inf)


def _of_row(sentence: str) -> Callable[[Case, Outputs], str]:
    """A sentence about the second query, or the only one: {t}, {keys} it sees in yours, {right} ones."""

    def message(case: Case, outputs: Outputs) -> str:
        T, S = _sizes(case)
        row = min(1, T - 1)
        mine, right = outputs[0][row], reference(T, S)[row]
        return sentence.format(t=row, T=T, S=S, at=row + S - T, keys=_keys(mine), right=_keys(right))

    return message


def _keys(row: Array) -> str:
    seen = [str(int(key)) for key in np.flatnonzero(row)]
    if not seen:
        return "no key"
    return f"{'key' if len(seen) == 1 else 'keys'} {', '.join(seen)}"


_SQUARE_HINTS: Hints = (
    "Print `causal_mask(4).astype(int)` and read row 0: which keys may the first query see?",
    "Query t sees the keys 0 to t, itself included. Row t of the mask therefore begins with t + 1 True and "
    "goes on with False.",
    "Compare the key positions, as a row, with the query positions, as a column: key ≤ query.",
)
_OFFSET_HINTS: Hints = (
    "With 2 queries and 5 keys, at which positions of the whole sequence do the two queries stand?",
    "The T queries are the last T of S positions: query t stands at position t + (S − T), and sees itself "
    "and all keys before it. The last row is True throughout.",
    "Add S − T to the positions of the queries before you compare them with those of the keys.",
)

MISCONCEPTIONS = (
    Misconception(
        name="mask turned over",
        answer=_turned_over,
        message=_of_row(
            "Your query {t} sees {keys}; it should see {right}. Here True means visible, and yours marks "
            "what is hidden."
        ),
    ),
    Misconception(
        name="aligned to the first key",
        answer=_tri(lambda T, S: 0),
        tells=_has_offset,
        message=_of_row(
            "With T = {T} and S = {S} your query {t} sees {keys}; it should see {right}. The queries are the "
            "last T positions, so that query {t} stands at position {t} + S − T = {at}."
        ),
    ),
    Misconception(
        name="offset with the wrong sign",
        answer=_tri(lambda T, S: T - S),
        tells=_has_offset,
        message=_of_row(
            "With T = {T} and S = {S} your query {t} sees {keys}; it should see {right}. It stands at "
            "position {t} + S − T = {at}; yours has T − S in place of S − T."
        ),
    ),
    Misconception(
        name="hides the query's own position",
        answer=_tri(lambda T, S: S - T - 1),
        message=_of_row(
            "Your query {t} sees {keys}; it should see {right}. A query sees itself: ≤, not <. Otherwise the "
            "first one sees nothing at all."
        ),
    ),
    Misconception(
        name="shifted: the next position is visible",
        answer=_tri(lambda T, S: S - T + 1),
        message=_of_row(
            "Your query {t} sees {keys}; it should see {right}. The first diagonal above the main one is "
            "visible in yours: each query sees the token that it is asked to predict."
        ),
    ),
    Misconception(
        name="queries and keys exchanged",
        answer=_transposed,
        message=_of_row(
            "Your query {t} sees {keys}; it should see {right}. Rows are queries and columns keys: yours has "
            "them exchanged, and sees the future and not the past."
        ),
    ),
    Misconception(
        name="a mask to add in place of one to read",
        answer=_additive,
        message=lambda case, outputs: (
            "Your mask holds 0 and −∞, to be added to scores. Asked for is the mask before that step: True "
            "where a key is visible, False where it is hidden."
        ),
    ),
    Misconception(
        name="S ignored",
        answer=lambda T, S=None: np.tri(T, dtype=bool),
        tells=_has_offset,
        message=lambda case, outputs: (
            f"With T = {_sizes(case)[0]} and S = {_sizes(case)[1]} your mask has shape "
            f"{shape(outputs[0].shape)}: there is a column for each key, (T, S) = {shape(_sizes(case))}."
        ),
    ),
)

EXERCISE = Exercise(
    id="masks.causal",
    answer="causal_mask",
    title="The causal mask",
    level="warm-up",
    minutes=8,
    framework="numpy",
    withheld=MASKS_OF_THE_PACKAGE,
    reference=reference,
    cases=cases,
    properties=(
        values(
            "square",
            "as many queries as keys: query t sees the keys 0 to t",
            1.0,
            on=(EXAMPLE, SQUARE, GIVEN, ALONE),
            explain=seen_or_hidden,
            hints=_SQUARE_HINTS,
        ),
        values(
            "offset",
            "fewer queries than keys: they are the last ones",
            1.25,
            on=(BEHIND,),
            explain=seen_or_hidden,
            hints=_OFFSET_HINTS,
        ),
        values(
            "one new",
            "one new query sees every key",
            0.25,
            on=(ONE_NEW,),
            explain=seen_or_hidden,
            requires=("square",),
            hints=_OFFSET_HINTS,
        ),
        boolean(0.5, requires=("square",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which positions do the T queries have, and which the S keys?",
        "Query t stands at position t + (S − T), key s at position s. A query sees its own position and all "
        "before it.",
        "Compare the keys, `np.arange(S)`, with a column of query positions: key ≤ query.",
    ),
)
