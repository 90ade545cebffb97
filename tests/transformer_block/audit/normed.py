"""Blocks whose norms compute whatever they are told to."""

from functools import partial

import torch
from torch import nn

D = 6


def standardized(x, axes=(-1,), correction=0, inside=0.0, outside=0.0):
    variance = x.var(axes, keepdim=True, correction=correction)
    return (x - x.mean(axes, keepdim=True)) / ((variance + inside).sqrt() + outside)


def layer(x, w, b, eps):
    return w * standardized(x, inside=eps) + b


def rms(x, w, b, eps):
    return w * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + b


def rms_of_one_and_w(x, w, b, eps):
    return rms(x, 1 + w, 0, eps)


def sample(x, w, b, eps):
    return w * standardized(x, correction=1, inside=eps) + b


def outside(x, w, b, eps):
    return w * standardized(x, outside=eps) + b


def over_time(x, w, b, eps):
    return w * standardized(x, (-2, -1), inside=eps) + b


class Norm(nn.Module):
    """It computes a formula, with random gains and biases and a large eps; where it says eps is told."""

    def __init__(self, formula=layer, eps=0.01, said_as="eps", width=D):
        super().__init__()
        draw = torch.Generator().manual_seed(3)
        self.weight, self.bias = (
            nn.Parameter(torch.randn(width, generator=draw, dtype=torch.float64)) for _ in "wb"
        )
        setattr(self, said_as, eps)
        self.formula = partial(formula, eps=eps)

    def forward(self, x):
        return self.formula(x, self.weight, self.bias)


class Calls(nn.Module):
    """A block with norms that it calls in this order, each as often as it is named there."""

    def __init__(self, order=None, **norms):
        super().__init__()
        for name, norm in norms.items():
            self.add_module(name, norm)
        self.order = list(norms) if order is None else order

    def forward(self, x):
        for name in self.order:
            x = x + self.get_submodule(name)(x)
        return x
