"""Right parts in wrong places: what blocks that are nearly post-norm are made of."""

from __future__ import annotations

from block_course.checks.block.wiring import Parts
from block_course.exercise import Array


def norms_exchanged(b: Parts, x: Array) -> Array:
    """Each norm in the other's place."""
    h = b.norm_2(x + b.attention(x))
    return b.norm_1(h + b.feed_forward(h))


def one_norm(b: Parts, x: Array) -> Array:
    """The first norm in place of the second."""
    h = b.norm_1(x + b.attention(x))
    return b.norm_1(h + b.feed_forward(h))


def updates_normalized(b: Parts, x: Array) -> Array:
    """Each norm between its branch and the add."""
    h = x + b.norm_1(b.attention(x))
    return h + b.norm_2(b.feed_forward(h))


def second_skip_from_x(b: Parts, x: Array) -> Array:
    """The second residual begins at x."""
    return b.norm_2(x + b.feed_forward(b.norm_1(x + b.attention(x))))


def skip_past_the_norm(b: Parts, x: Array) -> Array:
    """The second residual begins before the first norm."""
    total = x + b.attention(x)
    return b.norm_2(total + b.feed_forward(b.norm_1(total)))


def no_skips(b: Parts, x: Array) -> Array:
    """Branches and norms in a row."""
    return b.norm_2(b.feed_forward(b.norm_1(b.attention(x))))


def norm_at_the_end_alone(b: Parts, x: Array) -> Array:
    """No norm behind the first add."""
    h = x + b.attention(x)
    return b.norm_2(h + b.feed_forward(h))
