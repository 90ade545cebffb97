"""Answers to `block.module`: classes."""

import torch

from tests.gallery.answers import Answer
from tests.gallery.block.modules import Block, BlockByHand, BlockOfDicts, BlockOfEinsum, WithABuffer
from tests.gallery.block.written import EQUIVALENT
from tests.gallery.block.wrong_module import WRONG, block

__all__ = ["EQUIVALENT", "RIGHT", "TRIVIAL", "WRONG"]

RIGHT: dict[str, Answer] = {
    "scaled_dot_product_attention": Block,
    "scores, mask, softmax": BlockByHand,
    "einsum": BlockOfEinsum,
    "ModuleDict, a norm by hand, a loop over heads": BlockOfDicts,
    "a buffer that is not kept": WithABuffer,
    "a function that builds it": lambda d_model, n_heads, d_ff: Block(d_model, n_heads, d_ff),
}


TRIVIAL: dict[str, Answer] = {
    "x": block(lambda self, x: x),
    "a copy of x": block(lambda self, x: 1.0 * x),
    "zeros": block(lambda self, x: torch.zeros_like(x)),
    "ones": block(lambda self, x: torch.ones_like(x)),
    "noise": block(lambda self, x: torch.randn_like(x)),
    "a norm": block(lambda self, x: self.norm_1(x)),
}
