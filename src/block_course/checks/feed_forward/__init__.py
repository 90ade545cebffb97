"""The exercises of 04_feed_forward: counts, the part itself, its bends, one map from two, and the gate."""

from block_course.checks.feed_forward import activations, collapse, counts, forward, swiglu
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="04_feed_forward",
    exercises=(
        counts.EXERCISE,
        forward.EXERCISE,
        activations.EXERCISE,
        collapse.EXERCISE,
        swiglu.EXERCISE,
    ),
)
