"""The exercises of 16_cache: what stands where, the mask of a chunk, a step, and a test of caches."""

from block_course.checks.cache import agrees, mask, offset, step
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="16_cache",
    exercises=(offset.EXERCISE, mask.EXERCISE, step.EXERCISE, agrees.EXERCISE),
    # a block with a cache is an answer: both stay out
    permitted=(
        "transformer_block.config",
        "transformer_block.in_numpy.positions",
        "transformer_block.parameters",
        "transformer_block.presets",
    ),
)
