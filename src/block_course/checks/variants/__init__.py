"""The exercises of 15_variants: a gate's width, RMSNorm, rotary positions, shared heads, three joins."""

from block_course.checks.variants import gated_width, grouped_query, joins, rms_norm, rotary
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="15_variants",
    exercises=(
        gated_width.EXERCISE,
        rms_norm.EXERCISE,
        rotary.EXERCISE,
        grouped_query.EXERCISE,
        joins.EXERCISE,
    ),
)
