"""The exercises of 21_root_mean_square."""

from block_course.checks.root_mean_square import of_each_token
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="21_root_mean_square", exercises=(of_each_token.EXERCISE,)
)
