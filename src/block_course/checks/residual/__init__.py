"""The exercises of 02_residual: a careful add, a gradient with and without skips, a Jacobian, paths."""

from block_course.checks.residual import add, gradient, jacobian, paths
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="02_residual",
    exercises=(add.EXERCISE, gradient.EXERCISE, jacobian.EXERCISE, paths.EXERCISE),
)
