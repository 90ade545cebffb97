"""The exercises of 10_backward: parts walked back by hand, a branch with its skip, a test of gradients."""

from block_course.checks.backward import block, gradient_check, linear, scaled_dot_product, softmax
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="10_backward",
    exercises=(
        linear.EXERCISE,
        softmax.EXERCISE,
        scaled_dot_product.EXERCISE,
        block.EXERCISE,
        gradient_check.EXERCISE,
    ),
    permitted=("transformer_block.in_numpy.layer_norm",),
)
