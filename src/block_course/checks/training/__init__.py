"""The exercises of 11_training: dropout, a schedule, the task's data, and what the two modes change."""

from block_course.checks.training import dropout, modes, reverse, warm_up
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="11_training",
    exercises=(dropout.EXERCISE, warm_up.EXERCISE, reverse.EXERCISE, modes.EXERCISE),
)
