"""`audit.shape_is_not_enough`: a test that tells right blocks from wrong ones of the same shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.audit.blocks import subject
from block_course.checks.audit.designs import (
    ADDED,
    DTYPE,
    FIRST,
    IGNORED,
    INVERTED,
    LENGTH,
    MIXED,
    NEXT,
    NO_MASK,
    NOT_FINITE,
    RANDOM,
    SECOND,
    right_designs,
    wrong_designs,
)
from block_course.checks.audit.weak_tests import MISCONCEPTIONS
from block_course.checks.catching import catches, let_through, lets_through
from block_course.checks.masks.blocks import drawn
from block_course.exercise import Case, Exercise

_CATCHES = (
    (NO_MASK, "catches a block without a causal mask", 0.75),
    (NEXT, "catches a causal mask off by one", 0.25),
    (LENGTH, "catches outputs that depend on the number of tokens behind them", 1.0),
    (MIXED, "catches sequences that hear each other", 1.0),
    (RANDOM, "catches dropout left on", 0.75),
    (IGNORED, "catches a mask of padding that nobody reads", 0.75),
    (INVERTED, "catches a mask of padding turned over", 0.25),
    (ADDED, "catches a mask of padding added as 0 and 1", 0.25),
    (SECOND, "catches a mask of padding lost after the first layer", 0.25),
    (FIRST, "catches the first sequence's mask used for all", 1.0),
    (NOT_FINITE, "catches NaN where nothing is visible", 1.0),
    (DTYPE, "catches float32 returned as float64", 0.75),
)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Seven right blocks and twelve wrong ones, each with weights of its own, shuffled."""
    B, T, D = 3, int(rng.integers(6, 9)), int(rng.choice([10, 12]))
    x = rng.normal(size=(B, T, D))
    made = [(name, design, True) for name, design in right_designs().items()]
    made += [(name, design, False) for name, design in wrong_designs(int(rng.integers(2**31))).items()]
    found = []
    for index in rng.permutation(len(made)):
        name, design, right = made[index]
        block = subject(design, [drawn(rng, D, D + 3), drawn(rng, D, D + 3)], right=right)
        found.append(Case(name=name, arguments={"x": x}, subject=block))
    return found


EXERCISE = Exercise(
    id="audit.shape_is_not_enough",
    answer="keeps_its_promises",
    title="A test: the right shape is not enough",
    level="stretch",
    minutes=30,
    framework="numpy",
    reference=let_through,
    cases=cases,
    properties=(lets_through(), *(catches(*each) for each in _CATCHES)),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which promise of the list has no line in your test?",
        "Each promise says what must not matter: later tokens, how many there are, other sequences, hidden "
        "tokens, being asked again. Change that, at random, and compare the outputs that should stay. Two "
        "promises need no comparison: outputs are finite, and a dtype is kept.",
        "Compare `block(x)[:, :t]` with `block(x[:, :t])` for each t, and `block(x)[:1]` with "
        "`block(x[:1])`. Hide another position in each sequence, draw the hidden tokens anew, and compare "
        "where `visible` is True. Hide everything and look for NaN; last, hand in float32.",
    ),
    calls="test",
)
