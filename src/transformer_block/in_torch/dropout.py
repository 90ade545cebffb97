"""Dropout: in training, some entries are left out and the others stretched."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_block._invariants import require_rate, require_shape


class DropMask(NamedTuple):
    """Which entries are kept (True), and the share that was to be dropped."""

    keep: Bool[Tensor, "..."]
    rate: float


def draw_mask(
    shape: tuple[int, ...],
    rate: float,
    generator: torch.Generator | None = None,
    device: torch.device | None = None,
) -> DropMask | None:
    """Decide for each entry on its own whether it is dropped; None if none can be.

    P(keep) = 1 − rate

    Without a generator, torch's global one draws.

    Raises: ValueError for a rate outside [0, 1).
    """
    require_rate(rate)
    if rate == 0:
        return None
    return DropMask(torch.rand(shape, generator=generator, device=device) >= rate, rate)


def dropout(
    x: Float[Tensor, "*B"], drop: DropMask | None = None
) -> Float[Tensor, "*B"]:
    """Put 0 where an entry is dropped; stretch what is kept, so that the mean stays.

    y = x · keep / (1 − rate)

    Without a mask, as in evaluation, y is x.

    Raises: ValueError for a mask of another shape, or a rate outside [0, 1).
    Source: Srivastava et al., Dropout: A Simple Way to Prevent Neural Networks from
    Overfitting, 2014; the stretch is applied in training and not in evaluation.
    """
    if drop is None:
        return x
    require_rate(drop.rate)
    require_shape("keep", drop.keep, x.shape)
    return x * (drop.keep.to(x.dtype) / (1 - drop.rate))


class Dropout(nn.Module):
    """dropout with a mask drawn anew for each call in training, and none otherwise."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        require_rate(rate)
        self.rate = rate

    def forward(self, x: Float[Tensor, "*B"]) -> Float[Tensor, "*B"]:
        """dropout(x, mask) in training, else x."""
        return dropout(x, self.draw(x.shape, x.device))

    def draw(self, shape: tuple[int, ...], device: torch.device) -> DropMask | None:
        """A mask in training, else None."""
        return draw_mask(shape, self.rate, device=device) if self.training else None
