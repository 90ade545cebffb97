"""The exercises of 06_masks: masks, a softmax under them, their two meanings, and a test for leaks."""

from block_course.checks.masks import causal, convert, is_causal, padding, softmax
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="06_masks",
    exercises=(
        causal.EXERCISE,
        softmax.EXERCISE,
        padding.EXERCISE,
        convert.EXERCISE,
        is_causal.EXERCISE,
    ),
    # the block holds every answer: it stays out, and the cell that shows one says nothing while grading
    permitted=("transformer_block.config", "transformer_block.parameters", "transformer_block.presets"),
)
