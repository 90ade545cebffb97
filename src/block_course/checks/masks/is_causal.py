"""`masks.is_causal`: a test that tells causal blocks from those in which an output hears a later position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.catching import catches, let_through, lets_through
from block_course.checks.masks.blocks import drawn, modern, subject, subject_of
from block_course.checks.masks.designs import (
    AFTER,
    FAINT,
    ITEM,
    NO_MASK,
    NO_MASK_POST,
    OPENED,
    SHIFTED,
    STATISTICS,
    TILES,
    TURNED,
    WRAPPED,
    right_designs,
    wrong_designs,
)
from block_course.checks.masks.weak_tests import MISCONCEPTIONS
from block_course.exercise import Case, Exercise, Subject

MODERN = "rotary positions and a gate"
_CATCHES = (
    (NO_MASK, "catches a pre-norm block without a mask", 1.25),
    (NO_MASK_POST, "catches a post-norm block without a mask", 0.25),
    (TURNED, "catches a mask turned over", 0.25),
    (SHIFTED, "catches a mask shifted by one key", 0.5),
    (AFTER, "catches a mask applied after the softmax", 0.5),
    (FAINT, "catches a faint leak: hidden scores set to −10 in place of −∞", 0.75),
    (TILES, "catches tiles on the diagonal that are computed whole", 1.5),
    (OPENED, "catches a mask that ends after two rows", 1.0),
    (ITEM, "catches a mask that only the first item of the batch gets", 1.0),
    (STATISTICS, "catches a norm over the positions", 0.5),
    (WRAPPED, "catches a token shift that wraps around", 0.5),
)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Eight right blocks and eleven wrong ones, each with weights of its own, shuffled.

    The tokens are the same for all. The last of them stands alone in its tile.
    """
    tile = int(rng.integers(2, 4))
    B, T, D = 2, 2 * tile + 1, int(rng.choice([8, 12]))
    x = rng.normal(size=(B, T, D))
    subjects: dict[str, Subject] = {MODERN: subject_of(modern(rng, D), right=True)}
    for right, designs in ((True, right_designs()), (False, wrong_designs(tile))):
        for name, design in designs.items():
            subjects[name] = subject(design, drawn(rng, D, D + 3), right=right)
    order = rng.permutation(list(subjects))
    return [Case(name=str(each), arguments={"x": x}, subject=subjects[each]) for each in order]


EXERCISE = Exercise(
    id="masks.is_causal",
    answer="is_causal",
    title="A test that finds leaks",
    level="stretch",
    minutes=25,
    framework="numpy",
    reference=let_through,
    cases=cases,
    properties=(lets_through(), *(catches(*each) for each in _CATCHES)),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which positions does your test change, by what, and which outputs does it compare with what they "
        "were? A block that gets through leaks from a place, to a place, or by an amount that you don't look "
        "at.",
        "A layer norm takes away what all features of a token have in common, so that an equal amount added "
        "to each never reaches attention. A leak may lead from any later position to any earlier one, in any "
        "item of the batch, and may be small; a causal block has none, to the last bit.",
        "For each position t in turn: in a copy of x, replace token t of every item by numbers drawn at "
        "random; run the block; demand that the outputs of positions 0 to t − 1 equal those without the "
        "change, in all items.",
    ),
    calls="test",
)
