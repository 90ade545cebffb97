"""The exercises of 03_layer_norm: the statistics of a token, then layer norm itself."""

from block_course.checks.layer_norm import forward, statistics
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(stem="03_layer_norm", exercises=(statistics.EXERCISE, forward.EXERCISE))
