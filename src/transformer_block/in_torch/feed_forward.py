"""The feed-forward part: each token is widened, bent and brought back on its own."""

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from transformer_block._invariants import (
    require_feed_forward,
    require_gate,
    require_one_of,
)
from transformer_block.in_torch import Saved
from transformer_block.in_torch.activations import ACTIVATIONS, GATED
from transformer_block.in_torch.dropout import DropMask, Dropout, dropout


def feed_forward(
    x: Float[Tensor, "*B D"],
    w1: Float[Tensor, "F D"],
    b1: Float[Tensor, "F"] | None,
    w2: Float[Tensor, "D F"],
    b2: Float[Tensor, "D"] | None,
    activation: str = "relu",
    *,
    gate: Float[Tensor, "F D"] | None = None,
    gate_bias: Float[Tensor, "F"] | None = None,
    drop: DropMask | None = None,
    saved: Saved | None = None,
) -> Float[Tensor, "*B D"]:
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
    up = functional.linear(x, w1, b1)
    opened = None if gate is None else functional.linear(x, gate, gate_bias)
    inner = dropout(_bend(up, opened, activation), drop)
    if saved is not None:
        saved["inner"] = inner
    return functional.linear(inner, w2, b2)


def _bend(up: Tensor, opened: Tensor | None, activation: str) -> Tensor:
    if opened is None:
        return ACTIVATIONS[activation](up)
    return ACTIVATIONS[GATED[activation]](opened) * up


class FeedForward(nn.Module):
    """feed_forward with matrices of its own: `up` (F, D), `down` (D, F).

    A gated one has a `gate` (F, D) as well. dropout is the rate at which inner features
    are dropped in training.
    """

    gate: nn.Linear

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        activation: str = "relu",
        *,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        require_one_of("activation", activation, (*ACTIVATIONS, *GATED))
        self.activation = activation
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        if activation in GATED:
            self.gate = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "*B D"], saved: Saved | None = None
    ) -> Float[Tensor, "*B D"]:
        """feed_forward(x, up, down, activation) with the gate, if there is one."""
        up, down = self.up, self.down
        gated = self.activation in GATED
        return feed_forward(
            x,
            *(up.weight, up.bias, down.weight, down.bias),
            self.activation,
            gate=self.gate.weight if gated else None,
            gate_bias=self.gate.bias if gated else None,
            drop=self.dropout.draw((*x.shape[:-1], up.out_features), x.device),
            saved=saved,
        )
