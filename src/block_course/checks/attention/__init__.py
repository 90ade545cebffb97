"""The exercises of 05_attention: one head, heads, self-attention, and two near misses to mend."""

from block_course.checks.attention import heads, mend, multi_head, scaled_dot_product
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="05_attention",
    exercises=(scaled_dot_product.EXERCISE, heads.EXERCISE, multi_head.EXERCISE, mend.EXERCISE),
)
