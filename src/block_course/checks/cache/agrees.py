"""`cache.agrees`: a test that tells a right cached block from wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.cache.blocks import Design, Held, reading_again, subject, subject_of
from block_course.checks.cache.weak_tests import MISCONCEPTIONS
from block_course.checks.catching import catches, let_through, lets_through
from block_course.checks.masks.blocks import drawn, modern
from block_course.exercise import Case, Exercise
from transformer_block.in_numpy.masks import causal_mask

OFFSET_LATER, OFFSET_ZERO = "an offset one too large behind the first chunk", "every chunk at position 0"
MASK_FROM_START, NO_MASK = "a mask aligned to the first key", "no mask"
NO_MASK_LATER, STALE = "no mask behind the first chunk", "a cache that is not emptied"
LATE, AGAIN = "a cache that is emptied after the first chunk", "everything read again"
LOST, HALVED = "the last token of each chunk not stored", "keys held in half precision"
FULL = "the oldest tokens lost when the cache is full"
SINGLE, MODERN = "keys held in single precision", "shared keys and values, RMSNorm and a gate"

_CATCHES = (
    (OFFSET_LATER, "catches an offset that is one too large behind the first chunk", 0.75),
    (OFFSET_ZERO, "catches chunks that all stand at position 0", 0.5),
    (MASK_FROM_START, "catches a mask aligned to the first key", 0.5),
    (NO_MASK, "catches a cached block without a mask", 1.0),
    (NO_MASK_LATER, "catches a mask that is missing behind the first chunk", 2.0),
    (STALE, "catches a cache that is not emptied between sequences", 1.0),
    (LATE, "catches a cache that is emptied one chunk late", 0.5),
    (LOST, "catches a cache that forgets the last token of each chunk", 0.5),
    (HALVED, "catches keys held in half precision", 0.75),
    (FULL, "catches a cache with too little room, which loses its oldest tokens", 0.5),
)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Six right blocks and ten wrong ones, each with weights of its own, shuffled."""
    N, T, D = 3, int(rng.integers(7, 10)), int(rng.choice([12, 16]))
    x = rng.normal(size=(N, T, D))
    subjects = {
        MODERN: subject_of(modern(rng, D, n_kv_heads=1), right=True),
        AGAIN: reading_again(drawn(rng, D, D + 3)),
    }
    for right, designs in ((True, right_designs()), (False, wrong_designs())):
        for name, design in designs.items():
            subjects[name] = subject(design, drawn(rng, D, D + 3), right=right)
    order = rng.permutation(list(subjects))
    return [Case(name=str(each), arguments={"x": x}, subject=subjects[each]) for each in order]


def right_designs() -> dict[str, Design]:
    """Blocks that read in chunks what they read at once, up to rounding."""
    return {
        "pre-norm": Design(),
        "post-norm": Design(placement="post"),
        "positions counted from 1": Design(offset=lambda start: start + 1),
        SINGLE: Design(keep=_in(np.float32)),
    }


def wrong_designs() -> dict[str, Design]:
    """Blocks whose cache shows, none in the same way as another."""
    return {
        OFFSET_LATER: Design(offset=lambda start: start + (start > 0)),
        OFFSET_ZERO: Design(offset=lambda start: 0),
        MASK_FROM_START: Design(mask=lambda T, S: np.tri(T, S, dtype=bool)),
        NO_MASK: Design(mask=lambda T, S: np.ones((T, S), dtype=bool)),
        NO_MASK_LATER: Design(mask=lambda T, S: causal_mask(T, S) | (S > T)),
        STALE: Design(forgets="never"),
        LATE: Design(forgets="late"),
        LOST: Design(keep=_without_the_last),
        HALVED: Design(keep=_in(np.float16)),
        FULL: Design(keep=_at_most(4)),
    }


def _in(dtype: type[np.floating]) -> Callable[[Held, int], Held]:
    def keep(held: Held, length: int) -> Held:
        keys, values = held
        return keys.astype(dtype).astype(np.float64), values

    return keep


def _without_the_last(held: Held, length: int) -> Held:
    keys, values = held
    return keys[:, :-1], values[:, :-1]


def _at_most(room: int) -> Callable[[Held, int], Held]:
    """The newest tokens that fit in."""

    def keep(held: Held, length: int) -> Held:
        keys, values = held
        return keys[:, -room:], values[:, -room:]

    return keep


EXERCISE = Exercise(
    id="cache.agrees",
    answer="agrees",
    title="A test that finds bad caches",
    level="stretch",
    minutes=25,
    framework="numpy",
    reference=let_through,
    cases=cases,
    properties=(lets_through(), *(catches(*each) for each in _CATCHES)),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "In which chunks does your test read, and which outputs of which sequences does it compare with "
        "those of the whole read at once? A block that gets through errs where you don't look.",
        "A single token has no future to hide, so that a missing mask shows only in a chunk of several, and "
        "one that is missing behind the first chunk only in a later chunk of several. A cache that keeps "
        "the sequence before is right for the first of the three. Right blocks differ by rounding.",
        "Compare `block(x)` with `block(x, np.array(lengths))` for lengths such as 2, 1, 3 and the rest, at "
        "all positions of all sequences, with a tolerance of about 1e-5.",
    ),
    calls="test",
)
