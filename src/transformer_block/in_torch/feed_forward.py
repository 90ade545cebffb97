"""The feed-forward part: two matrices with a bend between, for each token alone."""

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from transformer_block._invariants import require_feed_forward, require_one_of


def feed_forward(
    x: Float[Tensor, "*B D"],
    w1: Float[Tensor, "F D"],
    b1: Float[Tensor, "F"],
    w2: Float[Tensor, "D F"],
    b2: Float[Tensor, "D"],
    activation: str = "relu",
) -> Float[Tensor, "*B D"]:
    """Widen each token to F features, bend them, and come back to D.

    y = activation(x · w1ᵀ + b1) · w2ᵀ + b2

    No token sees another. Both matrices are (out, in).

    Raises: ValueError for matrices or biases that do not fit, or for an unknown
    activation.
    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762,
    equation 2.
    """
    require_feed_forward(x, w1, b1, w2, b2)
    require_one_of("activation", activation, ACTIVATIONS)
    inner = ACTIVATIONS[activation](functional.linear(x, w1, b1))
    return functional.linear(inner, w2, b2)


def relu(x: Float[Tensor, "*B"]) -> Float[Tensor, "*B"]:
    """Pass what is positive, and 0 for the rest.

    relu(x) = max(x, 0)
    """
    return functional.relu(x)


def gelu_tanh(x: Float[Tensor, "*B"]) -> Float[Tensor, "*B"]:
    """Approximate gelu by a tanh, as GPT-2 does.

    gelu_tanh(x) = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))

    Source: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415,
    section 2.
    """
    return functional.gelu(x, approximate="tanh")


ACTIVATIONS = {"relu": relu, "gelu_tanh": gelu_tanh}


class FeedForward(nn.Module):
    """feed_forward with matrices of its own: `up` (F, D) and `down` (D, F)."""

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu") -> None:
        super().__init__()
        require_one_of("activation", activation, ACTIVATIONS)
        self.activation = activation
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        """feed_forward(x, up, down, activation)."""
        up, down = self.up, self.down
        return feed_forward(
            x, up.weight, up.bias, down.weight, down.bias, self.activation
        )
