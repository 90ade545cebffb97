"""The exercises of 17_precision_and_modes: formats, two computations that survive, and a quiet part."""

from block_course.checks.precision_and_modes import digits, half, modes, variance
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="17_precision_and_modes",
    exercises=(digits.EXERCISE, variance.EXERCISE, half.EXERCISE, modes.EXERCISE),
)
