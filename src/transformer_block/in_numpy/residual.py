"""The residual stream's joint: what a branch computed is added to what was there."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from transformer_block._block_invariants import require_residual
from transformer_block._invariants import require_shape
from transformer_block.in_numpy.dropout import DropMask, dropout, dropout_backward


class ResidualGradients(NamedTuple):
    """Gradients with respect to the arrays of `residual`, under their names."""

    x: Float[np.ndarray, "*B D"]
    update: Float[np.ndarray, "*B D"]
    weight: Float[np.ndarray, "_"] | None


def residual(
    x: Float[np.ndarray, "*B D"],
    update: Float[np.ndarray, "*B D"],
    weight: Float[np.ndarray, "_"] | None = None,
    alpha: float | None = None,
    *,
    drop: DropMask | None = None,
) -> Float[np.ndarray, "*B D"]:
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


def residual_backward(
    dy: Float[np.ndarray, "*B D"],
    x: Float[np.ndarray, "*B D"],
    update: Float[np.ndarray, "*B D"],
    weight: Float[np.ndarray, "_"] | None = None,
    alpha: float | None = None,
    *,
    drop: DropMask | None = None,
) -> ResidualGradients:
    """Gradients with respect to stream, update and weight.

    dx = alpha · dy,  dupdate = dropoutᵀ(weight · dy),
    dweight = Σ dy · dropout(update)

    The plain sum hands dy to both unchanged: dx and dupdate are then the array dy
    itself. The sum runs over the tokens, and for a weight of one entry over the
    features too.

    Raises: as residual; ValueError if dy and x differ in shape.
    """
    require_residual(x, update, weight)
    require_shape("dy", dy, x.shape)
    dx = dy if alpha is None else alpha * dy
    if weight is None:
        return ResidualGradients(dx, dropout_backward(dy, drop), None)
    products = dy * dropout(update, drop)
    dweight = products.sum(axis=tuple(range(x.ndim - 1)))
    if weight.shape == (1,):
        dweight = dweight.sum(keepdims=True)
    return ResidualGradients(dx, dropout_backward(weight * dy, drop), dweight)
