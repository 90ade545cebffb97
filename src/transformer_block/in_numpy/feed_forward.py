"""The feed-forward part: each token is widened, bent and brought back on its own."""

from typing import NamedTuple, TypedDict, Unpack

import numpy as np
from jaxtyping import Float

from transformer_block._invariants import (
    require_feed_forward,
    require_gate,
    require_one_of,
)
from transformer_block.in_numpy import Saved
from transformer_block.in_numpy.activations import ACTIVATIONS, BACKWARD, GATED
from transformer_block.in_numpy.dropout import DropMask, dropout, dropout_backward
from transformer_block.in_numpy.linear import linear, linear_backward


class FeedForwardChoices(TypedDict, total=False):
    """The choices of `feed_forward` that its backward pass needs as well."""

    gate: Float[np.ndarray, "F D"] | None
    gate_bias: Float[np.ndarray, "F"] | None
    drop: DropMask | None


class FeedForwardGradients(NamedTuple):
    """Gradients with respect to the arrays of `feed_forward`, by their names."""

    x: Float[np.ndarray, "*B D"]
    w1: Float[np.ndarray, "F D"]
    b1: Float[np.ndarray, "F"] | None
    w2: Float[np.ndarray, "D F"]
    b2: Float[np.ndarray, "D"] | None
    gate: Float[np.ndarray, "F D"] | None = None
    gate_bias: Float[np.ndarray, "F"] | None = None


def feed_forward(
    x: Float[np.ndarray, "*B D"],
    w1: Float[np.ndarray, "F D"],
    b1: Float[np.ndarray, "F"] | None,
    w2: Float[np.ndarray, "D F"],
    b2: Float[np.ndarray, "D"] | None,
    activation: str = "relu",
    *,
    gate: Float[np.ndarray, "F D"] | None = None,
    gate_bias: Float[np.ndarray, "F"] | None = None,
    drop: DropMask | None = None,
    saved: Saved | None = None,
) -> Float[np.ndarray, "*B D"]:
    """Widen each token to F features, bend them, and come back to D.

    y = activation(x · w1ᵀ + b1) · w2ᵀ + b2

    With a gate, as swiglu and geglu have one, a second matrix opens or shuts each inner
    feature: (activation(x · gateᵀ + gate_bias) ⊙ (x · w1ᵀ + b1)) · w2ᵀ + b2.

    No token sees another. Matrices are (out, in). drop is a mask over the F inner
    features; saved["inner"] are these features, after it.

    Raises: ValueError for arrays that do not fit, an unknown activation, or a gate that
    is missing or too many.
    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762, equation
    2; Shazeer, GLU Variants Improve Transformer, 2020, arXiv:2002.05202.
    """
    require_feed_forward(x, w1, b1, w2, b2)
    require_one_of("activation", activation, (*ACTIVATIONS, *GATED))
    require_gate(activation, activation in GATED, w1, gate, gate_bias)
    up = linear(x, w1, b1)
    opened = None if gate is None else linear(x, gate, gate_bias)
    inner = dropout(_bend(up, opened, activation), drop)
    if saved is not None:
        saved.update(up=up, opened=opened, inner=inner)
    return linear(inner, w2, b2)


def feed_forward_backward(
    dy: Float[np.ndarray, "*B D"],
    x: Float[np.ndarray, "*B D"],
    w1: Float[np.ndarray, "F D"],
    b1: Float[np.ndarray, "F"] | None,
    w2: Float[np.ndarray, "D F"],
    b2: Float[np.ndarray, "D"] | None,
    activation: str = "relu",
    *,
    saved: Saved | None = None,
    **choices: Unpack[FeedForwardChoices],
) -> FeedForwardGradients:
    """Gradients with respect to x and each array that feed_forward was given.

    dw2 = Σ dyᵀ · inner,  du = (dy · w2) ⊙ activation′(u),  dw1 = Σ duᵀ · x,
    dx = du · w1  with u = x · w1ᵀ + b1

    With a gate, the gradient of the inner features goes both ways: each factor gets it
    times the other one.

    Raises: as feed_forward; ValueError if dy and x differ in shape.
    """
    if saved is None:
        saved = {}
        feed_forward(x, w1, b1, w2, b2, activation, saved=saved, **choices)
    dinner, dw2, db2 = linear_backward(dy, saved["inner"], w2, b2)
    dinner = dropout_backward(dinner, choices.get("drop"))
    dup, dopened = _bend_backward(dinner, saved["up"], saved["opened"], activation)
    dx, dw1, db1 = linear_backward(dup, x, w1, b1)
    gate = choices.get("gate")
    if gate is None or dopened is None:
        return FeedForwardGradients(dx, dw1, db1, dw2, db2)
    more, *dgate = linear_backward(dopened, x, gate, choices.get("gate_bias"))
    return FeedForwardGradients(dx + more, dw1, db1, dw2, db2, *dgate)


def _bend(up: np.ndarray, opened: np.ndarray | None, activation: str) -> np.ndarray:
    if opened is None:
        return ACTIVATIONS[activation](up)
    return ACTIVATIONS[GATED[activation]](opened) * up


def _bend_backward(
    dy: np.ndarray, up: np.ndarray, opened: np.ndarray | None, activation: str
) -> tuple[np.ndarray, np.ndarray | None]:
    if opened is None:
        return BACKWARD[activation](dy, up), None
    name = GATED[activation]
    return dy * ACTIVATIONS[name](opened), BACKWARD[name](dy * up, opened)
