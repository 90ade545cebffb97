"""The exercises of 13_parameters: a stack by part, two to one, whole models, a width from a total."""

from block_course.checks.parameters import counts, model, ratio, reconcile
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="13_parameters",
    exercises=(counts.EXERCISE, ratio.EXERCISE, model.EXERCISE, reconcile.EXERCISE),
)
