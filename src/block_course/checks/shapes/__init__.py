"""The exercises of 01_shapes: two ends of a branch, all stages, the wires, and blocks in a row."""

from block_course.checks.shapes import blocks_in_a_row, branches, trace, wiring
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="01_shapes",
    exercises=(branches.EXERCISE, trace.EXERCISE, wiring.EXERCISE, blocks_in_a_row.EXERCISE),
    permitted=(
        "transformer_block.config",
        "transformer_block.in_numpy.block",
        "transformer_block.parameters",
    ),
)
