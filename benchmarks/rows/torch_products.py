"""The torch block beside the matrix products that no block can do without: six, and nothing between them."""

import torch
from torch.nn.functional import linear

from benchmarks.contenders import B, D, Evaluation, H, T, in_torch, parameters, tokens
from benchmarks.timing import Contest, Row, sample_of


class Products:
    """qkv, scores, weighted values, out, up, down: the shapes and weights of the block."""

    def __init__(self) -> None:
        named = {name: torch.tensor(value) for name, value in parameters().items()}
        layers = ("attention.qkv", "attention.out", "feed_forward.up", "feed_forward.down")
        self.qkv, self.out, self.up, self.down = (named[f"{layer}.weight"] for layer in layers)
        self.x = torch.tensor(tokens()).view(B * T, D)
        self.heads = self.x.view(B * H, T, D // H)
        self.weights = torch.softmax(self.heads @ self.heads.transpose(1, 2), dim=-1)

    @torch.inference_mode()
    def __call__(self) -> None:
        """Multiply, and throw away."""
        linear(self.x, self.qkv)
        torch.bmm(self.heads, self.heads.transpose(1, 2))
        torch.bmm(self.weights, self.heads)
        linear(self.x, self.out)
        linear(linear(self.x, self.up), self.down)


def contest() -> Contest:
    """Make the contenders."""
    return Contest(sample_of(Evaluation(in_torch())), sample_of(Products()))


ROW = Row("in_torch forward / its six matrix products alone", 1.25, contest)
