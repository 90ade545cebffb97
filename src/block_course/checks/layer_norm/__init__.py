"""The exercises of 03_layer_norm: statistics, the norm, a test of norms, its gradient, who hears whom."""

from block_course.checks.layer_norm import backward, forward, invariances, modes, statistics
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="03_layer_norm",
    exercises=(
        statistics.EXERCISE,
        forward.EXERCISE,
        modes.EXERCISE,
        invariances.EXERCISE,
        backward.EXERCISE,
    ),
)
