"""The exercises of 14_compute_and_memory: operations by part, what training keeps, a cache, doublings."""

from block_course.checks.compute_and_memory import activations, cache_bytes, doubling, flops
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="14_compute_and_memory",
    exercises=(flops.EXERCISE, activations.EXERCISE, cache_bytes.EXERCISE, doubling.EXERCISE),
)
