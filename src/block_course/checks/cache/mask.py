"""`cache.mask`: which of the held and the new keys each query of a chunk sees, with a window or without."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.masks.booleans import MASKS_OF_THE_PACKAGE, boolean, seen_or_hidden
from block_course.checks.properties import values
from block_course.checks.wording import shape
from block_course.exercise import Array, Case, Exercise, Hints, Misconception, Outputs

EXAMPLE, PROMPT, CHUNK, ONE = "two behind three", "a prompt", "a chunk behind held keys", "one new token"
WINDOW, WINDOW_ONE, SELF, WIDE = (
    "a chunk with a window",
    "one new token with a window",
    "a window of one",
    "a window wider than all",
)


def reference(T: int, held: int, window: int | None = None) -> Array:
    """Query t stands at held + t, and sees keys up to there, at most `window` of them."""
    queries = held + np.arange(T)[:, None]
    keys = np.arange(held + T)
    visible = keys <= queries
    if window is not None:
        visible = visible & (keys > queries - window)
    return visible


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Prompts, chunks and single tokens; then windows that cut into what is held."""
    T, held = int(rng.integers(3, 5)), int(rng.integers(5, 8))
    sizes: dict[str, tuple[int, int, int | None]] = {
        EXAMPLE: (2, 3, None),
        PROMPT: (int(rng.integers(4, 7)), 0, None),
        CHUNK: (T, held, None),
        ONE: (1, int(rng.integers(3, 9)), None),
        WINDOW: (T, held, int(rng.integers(2, 5))),
        WINDOW_ONE: (1, held, 3),
        SELF: (T, held, 1),
        WIDE: (T, held, held + T + 2),
    }
    return [
        Case(name=name, arguments={"T": T, "held": held, "window": window})
        for name, (T, held, window) in sizes.items()
    ]


def _sizes(case: Case) -> tuple[int, int, int | None]:
    T, held, window = (case.arguments[name] for name in ("T", "held", "window"))
    return int(T), int(held), None if window is None else int(window)  # type: ignore[arg-type]


def _has_window(case: Case) -> bool:
    return case.name == WINDOW


def _has_held(case: Case) -> bool:
    return case.name == CHUNK


def _grid(sees: Callable[[Array, Array, int, int, int | None], Array]) -> Callable[..., Array]:
    """A mask by a rule of key positions, query positions, T, held and window."""

    def answer(T: int, held: int, window: int | None = None) -> Array:
        queries, keys = held + np.arange(T)[:, None], np.arange(held + T)
        return np.asarray(sees(keys, queries, T, held, window))

    return answer


def _windowed(first: Callable[[Array, int, int, int], Array]) -> Callable[..., Array]:
    """Right without a window; with one, keys from `first` on."""
    return _grid(
        lambda keys, queries, T, held, window: (
            (keys <= queries) & (True if window is None else keys >= first(queries, T, held, window))
        )
    )


def _of_row(sentence: str) -> Callable[[Case, Outputs], str]:
    """A sentence about a query: {t}, {at} its position, {mine} and {right} the keys that it sees."""

    def message(case: Case, outputs: Outputs) -> str:
        T, held, window = _sizes(case)
        right, got = reference(T, held, window), outputs[0]
        row = int(np.argmax((got.astype(bool) != right).any(axis=1)))
        where = {"t": row, "T": T, "held": held, "at": held + row, "window": window}
        return sentence.format(**where, mine=_keys(got[row]), right=_keys(right[row]))

    return message


def _keys(row: Array) -> str:
    seen = [str(int(key)) for key in np.flatnonzero(row)]
    return ("key " if len(seen) == 1 else "keys ") + ", ".join(seen) if seen else "no key"


def _misconception(
    name: str, answer: Callable[..., Array], sentence: str, tells: Callable[[Case], bool] = _has_held
) -> Misconception:
    said = "Behind {held} held keys your query {t}, at position {at}, sees {mine}; it should see {right}. "
    return Misconception(name=name, answer=answer, tells=tells, message=_of_row(said + sentence))


MISCONCEPTIONS = (
    _misconception(
        "aligned to the first key",
        _grid(
            lambda keys, queries, T, held, window: (
                (keys <= queries - held) & (True if window is None else keys > queries - held - window)
            )
        ),
        "Its position is held + {t}, not {t}.",
    ),
    _misconception(
        "mask turned over",
        lambda T, held, window=None: ~reference(T, held, window),
        "True means visible; yours marks what is hidden.",
    ),
    _misconception(
        "hides the query's own position",
        _grid(
            lambda keys, queries, T, held, window: (
                (keys < queries) & (True if window is None else keys > queries - window)
            )
        ),
        "A query sees itself: ≤, not <.",
    ),
    _misconception(
        "no mask inside the chunk",
        _grid(
            lambda keys, queries, T, held, window: (
                np.full((T, held + T), True) if window is None else (keys > queries - window)
            )
        ),
        "The new tokens come in one chunk, and the earlier of them must not see the later.",
    ),
    _misconception(
        "held keys always visible",
        _grid(
            lambda keys, queries, T, held, window: (
                (keys <= queries) & ((True if window is None else keys > queries - window) | (keys < held))
            )
        ),
        "The window of {window} holds for held keys as well: that is what it is for.",
        _has_window,
    ),
    _misconception(
        "window ignored",
        _windowed(lambda queries, T, held, window: 0 * queries),
        "It may see {window} keys, itself among them.",
        _has_window,
    ),
    _misconception(
        "window one key too wide",
        _windowed(lambda queries, T, held, window: queries - window),
        "A window of {window} counts the query's own key: it and {window} − 1 before it.",
        _has_window,
    ),
    _misconception(
        "window one key too narrow",
        _windowed(lambda queries, T, held, window: queries - window + 2),
        "A window of {window} is the query's own key and {window} − 1 before it.",
        _has_window,
    ),
    _misconception(
        "one window for the whole chunk",
        _windowed(lambda queries, T, held, window: held + T - window + 0 * queries),
        "Each query has a window of its own, which ends at its own position; yours ends at the last one's.",
        _has_window,
    ),
    Misconception(
        name="no columns for the new keys",
        answer=lambda T, held, window=None: reference(T, held, window)[:, :held],
        tells=_has_held,
        message=lambda case, outputs: (
            f"For {_sizes(case)[0]} new tokens behind {_sizes(case)[1]} held ones your mask has shape "
            f"{shape(outputs[0].shape)}. The keys are the held ones and the new ones: there are "
            f"{sum(_sizes(case)[:2])} columns."
        ),
    ),
)

_WINDOW_HINTS: Hints = (
    "With a window of 3, which keys does the query at position 7 see?",
    "A window counts the query's own key: the query at p sees the keys p − window + 1 to p.",
    "Join the causal comparison by `&` with key > position − window.",
)

EXERCISE = Exercise(
    id="cache.mask",
    answer="chunk_mask",
    title="The mask of a chunk",
    level="core",
    minutes=10,
    framework="numpy",
    withheld=MASKS_OF_THE_PACKAGE,
    reference=reference,
    cases=cases,
    properties=(
        values(
            "held",
            "queries behind held keys see them, and of the chunk the keys up to their own",
            1.5,
            on=(EXAMPLE, CHUNK, ONE),
            explain=seen_or_hidden,
        ),
        values("prompt", "with nothing held it is the triangle", 0.5, on=(PROMPT,), explain=seen_or_hidden),
        values(
            "window",
            "a window leaves each query that many keys, its own among them",
            1.5,
            on=(WINDOW, WINDOW_ONE, SELF, WIDE),
            explain=seen_or_hidden,
            hints=_WINDOW_HINTS,
        ),
        boolean(0.5, requires=("held",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "At which positions of the whole sequence stand the T queries, and which positions have the keys?",
        "The queries stand at held, held + 1, …; the keys at 0 to held + T − 1. A query sees its own "
        "position and those before it.",
        "Compare the keys, as a row, with the query positions, as a column: key ≤ position.",
    ),
)
