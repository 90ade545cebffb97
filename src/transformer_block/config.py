"""What a block is made of: sizes and choices, validated once."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from transformer_block._invariants import require_divisible, require_one_of

Activation = Literal["relu", "gelu_tanh"]
ACTIVATIONS: tuple[str, ...] = get_args(Activation)


@dataclass(frozen=True, kw_only=True)
class BlockConfig:
    """Sizes and choices of one pre-norm transformer block.

    d_model = n_heads · head_width

    d_model is D, the width of the residual stream; n_heads is H; d_ff is F, the inner
    width of the feed-forward part; causal hides later positions from earlier ones; eps
    stands inside the root of both layer norms.

    Raises: TypeError for a size that is not an int, a causal that is not a bool or an
    eps that is not a number; ValueError for a size below 1, a d_model that n_heads does
    not divide, an eps that is not positive and finite, or an unknown activation.
    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762,
    section 3.
    """

    d_model: int
    n_heads: int
    d_ff: int
    causal: bool = False
    eps: float = 1e-5
    activation: Activation = "relu"

    def __post_init__(self) -> None:
        for name in ("d_model", "n_heads", "d_ff"):
            _require_size(name, getattr(self, name))
        require_divisible(self.d_model, self.n_heads)
        if not isinstance(self.causal, bool):
            raise TypeError(f"causal must be a bool; got {self.causal!r}")
        if isinstance(self.eps, bool) or not isinstance(self.eps, int | float):
            raise TypeError(f"eps must be a number; got {self.eps!r}")
        if not 0 < self.eps < math.inf:
            raise ValueError(f"eps must be positive and finite; got {self.eps!r}")
        require_one_of("activation", self.activation, ACTIVATIONS)

    @property
    def head_width(self) -> int:
        """K = D / H, the features that one head sees."""
        return self.d_model // self.n_heads


def preset(name: str) -> BlockConfig:
    """Look a named configuration up.

    Raises: ValueError for an unknown name.
    """
    require_one_of("preset", name, PRESETS)
    return PRESETS[name]


def _require_size(name: str, size: object) -> None:
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"{name} must be an int; got {size!r}")
    if size < 1:
        raise ValueError(f"{name} must be at least 1; got {size}")


PRESETS: Mapping[str, BlockConfig] = MappingProxyType(
    {"teaching": BlockConfig(d_model=32, n_heads=4, d_ff=64, activation="relu")}
)
