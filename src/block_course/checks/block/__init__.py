"""The exercises of 08_block: updates read off the stream, the block twice, a fault to mend, and a test."""

from block_course.checks.block import compose, forward, is_identity, mend, module
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="08_block",
    exercises=(compose.EXERCISE, forward.EXERCISE, mend.EXERCISE, is_identity.EXERCISE, module.EXERCISE),
    permitted=(
        "transformer_block.in_numpy.attention",
        "transformer_block.in_numpy.feed_forward",
        "transformer_block.in_numpy.layer_norm",
    ),
)
