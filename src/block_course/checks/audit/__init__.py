"""The exercises of 18_audit: a test, what a checkpoint holds, weights without a name, and a block to mend."""

from block_course.checks.audit import manifest, mend, post_in_pre, shape_is_not_enough
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="18_audit",
    exercises=(
        manifest.EXERCISE,
        post_in_pre.EXERCISE,
        mend.EXERCISE,
        shape_is_not_enough.EXERCISE,
    ),
    permitted=(
        "transformer_block.in_numpy.attention",
        "transformer_block.in_numpy.feed_forward",
        "transformer_block.in_numpy.layer_norm",
    ),
)
