"""The residual stream's joint: what a branch computed is added to what was there."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_block._block_invariants import require_residual
from transformer_block.in_torch.dropout import DropMask, Dropout, dropout


def residual(
    x: Float[Tensor, "*B D"],
    update: Float[Tensor, "*B D"],
    weight: Float[Tensor, "_"] | None = None,
    alpha: float | None = None,
    *,
    drop: DropMask | None = None,
) -> Float[Tensor, "*B D"]:
    """Add a branch's update to the stream, feature by feature.

    y = alpha · x + weight · dropout(update)

    Without weight and alpha it is the plain sum. A weight of one entry is
    ReZero's, one of D entries LayerScale's; alpha is DeepNorm's.

    Raises: ValueError for an update that is not shaped as x, or a weight that has
    neither 1 entry nor D.
    Source: He et al., Deep Residual Learning for Image Recognition, 2015,
    arXiv:1512.03385; Bachlechner et al., ReZero is All You Need, 2020,
    arXiv:2003.04887; Touvron et al., Going Deeper with Image Transformers, 2021,
    arXiv:2103.17239; Wang et al., DeepNet, 2022, arXiv:2203.00555.
    """
    require_residual(x, update, weight)
    update = dropout(update, drop)
    if weight is not None:
        update = weight * update
    return (x if alpha is None else alpha * x) + update


class Residual(nn.Module):
    """residual with a weight of its own (`weight`, of 1 or D entries), or with none."""

    def __init__(
        self,
        entries: int | None = None,
        alpha: float | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.alpha = alpha
        self.dropout = Dropout(dropout)
        self.weight = None if entries is None else nn.Parameter(torch.zeros(entries))

    def forward(
        self, x: Float[Tensor, "*B D"], update: Float[Tensor, "*B D"]
    ) -> Float[Tensor, "*B D"]:
        """residual(x, update, weight, alpha), with dropout in training."""
        return residual(x, self.dropout(update), self.weight, self.alpha)
