"""The exercises of 07_norm_placement: post-norm, how far it is from pre-norm, a sandwich, a trend, a load."""

from block_course.checks.norm_placement import differ, post, post_weights_in_pre, sandwich, trend
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="07_norm_placement",
    exercises=(
        post.EXERCISE,
        differ.EXERCISE,
        sandwich.EXERCISE,
        trend.EXERCISE,
        post_weights_in_pre.EXERCISE,
    ),
    permitted=(
        "transformer_block.in_numpy.attention",
        "transformer_block.in_numpy.feed_forward",
        "transformer_block.in_numpy.layer_norm",
    ),
)
