"""Known checks of gradients that see too little, or too much by the luck of rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_course.checks.catching import is_right, named, weak_test
from block_course.exercise import Array
from block_course.under_test import Block

ZEROS, SUMMED = "gradients of zeros", "dy ignored"
LAST, ITEM, FAINT = "wrong at the last position", "wrong in the second item", "the slope of another GELU"

Drawn = Callable[[Array], Array]


def _at_random(x: Array) -> Array:
    return np.asarray(np.random.default_rng(7).normal(size=x.shape))


def numerical(block: Block, x: Array, dy: Array, h: float) -> Array:
    """Central differences of Σ y·dy by each entry of x, all in two calls."""
    steps = h * np.eye(x.size).reshape(x.size, *x.shape)
    moved = np.concatenate([x + steps, x - steps]).reshape(-1, *x.shape[1:])
    up, down = block(moved).reshape(2, x.size, *x.shape)
    return np.asarray(((up - down) * dy).reshape(x.size, -1).sum(axis=-1).reshape(x.shape) / (2.0 * h))


def _agree(
    block: Block,
    x: Array,
    *,
    dy: Drawn = _at_random,
    h: float = 1e-6,
    tolerance: float = 1e-5,
    items: int | None = None,
    tokens: int | None = None,
) -> bool:
    x = x.astype(np.float64)
    given = dy(x)
    claimed, measured = block.gradients(x, given), numerical(block, x, given, h)
    mine, theirs = claimed[:items, :tokens], measured[:items, :tokens]
    return np.allclose(mine, theirs, rtol=tolerance, atol=tolerance)


def _one_by_one(block: Block, x: Array) -> bool:
    x = x.astype(np.float64)
    slopes = (block(x + 1e-6) - block(x - 1e-6)) / 2e-6
    return np.allclose(slopes, block.gradients(x, np.ones_like(x)), rtol=1e-4, atol=1e-5)


MISCONCEPTIONS = (
    weak_test(
        "accepts every block",
        lambda block, x: True,
        "“{block}” gets through, and so do all others. Does your test return its comparison, or assert it? "
        "Does it compare numbers, and not shapes alone?",
        shown=named(ZEROS),
    ),
    weak_test(
        "rejects every block",
        lambda block, x: False,
        "Even “{block}” is rejected, whose gradients are right. Differences are never right to the last bit: "
        "compare with a tolerance. And with a step far below 1e-6 the rounding of the outputs, 1e-16, is "
        "most of what you measure.",
        shown=is_right,
    ),
    weak_test(
        "True and False exchanged",
        lambda block, x: not _agree(block, x),
        "Your test finds the wrong gradients and says True where it finds them. True means that they are "
        "right; “{block}” gets the wrong verdict.",
    ),
    weak_test(
        "dy of ones",
        lambda block, x: _agree(block, x, dy=np.ones_like),
        "“{block}” gets through. With dy of ones the loss is the sum of all outputs, and a norm's outputs "
        "sum to 0 whatever x is: zeros are right then, and so is a gradient that never looks at dy. Draw dy "
        "at random.",
        shown=named(ZEROS),
    ),
    weak_test(
        "outputs compared one by one",
        _one_by_one,
        "“{block}” is rejected, and its gradients are right. You move all entries of x together and look at "
        "each output. An entry of the gradient says what the *sum* of dy · y does when that one entry moves.",
        shown=is_right,
    ),
    weak_test(
        "step too large",
        lambda block, x: _agree(block, x, h=0.1),
        "“{block}” is rejected, and its gradients are right. With so large a step the quotient measures the "
        "bend of the block as well. The best step lies near 1e-6.",
        shown=is_right,
    ),
    weak_test(
        "too wide a tolerance",
        lambda block, x: _agree(block, x, tolerance=0.02),
        "“{block}” gets through: its slopes are those of another activation and off by a thousandth or so. "
        "With a step of 1e-6 in float64 the differences are right to nine digits: ask for five.",
        shown=named(FAINT),
    ),
    weak_test(
        "looks at the first item alone",
        lambda block, x: _agree(block, x, items=1),
        "“{block}” gets through. Compare the gradients of all items.",
        shown=named(ITEM),
    ),
    weak_test(
        "looks at one token alone",
        lambda block, x: _agree(block, x, items=1, tokens=1),
        "“{block}” gets through, and so does one that is wrong in another item. One token's gradient says "
        "nothing of the others: compare every entry.",
        shown=named(LAST),
    ),
)
