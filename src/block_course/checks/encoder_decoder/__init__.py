"""The exercises of 12_encoder_decoder: cross-attention, tables of dependence, their products, and a model."""

from block_course.checks.encoder_decoder import beyond, cross_attention, dependence, reach
from block_course.exercise import Assignment

ASSIGNMENT = Assignment(
    stem="12_encoder_decoder",
    exercises=(cross_attention.EXERCISE, dependence.EXERCISE, reach.EXERCISE, beyond.EXERCISE),
    # a stack holds cross-attention, which is an answer: it stays out
    permitted=("transformer_block.config", "transformer_block.parameters"),
)
