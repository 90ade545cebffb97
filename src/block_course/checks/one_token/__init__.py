"""The exercises of 09_one_token: stages of a walk, what a norm keeps, and where a mask can be seen."""

from block_course.checks.one_token import one_bit, stage, table
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="09_one_token",
    exercises=(stage.EXERCISE, one_bit.EXERCISE, table.EXERCISE),
    permitted=(
        "transformer_block.config",
        "transformer_block.in_numpy.block",
        "transformer_block.parameters",
    ),
)
