"""What a block is made of: sizes and choices, each by name, validated once."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from transformer_block._invariants import require_divisible, require_one_of

Placement = Literal["pre", "post", "sandwich", "parallel"]
Norm = Literal["layer_norm", "rms_norm"]
Activation = Literal["relu", "gelu", "gelu_tanh", "silu", "swiglu", "geglu"]
Positions = Literal["none", "sinusoidal", "rotary"]
ResidualScaling = Literal["none", "rezero", "layer_scale", "deep_norm"]
Initialization = Literal["xavier", "pytorch", "normal"]

CHOICES: dict[str, tuple[str, ...]] = {
    "placement": get_args(Placement),
    "norm": get_args(Norm),
    "activation": get_args(Activation),
    "positions": get_args(Positions),
    "residual_scaling": get_args(ResidualScaling),
    "initialization": get_args(Initialization),
}
SIZES = ("d_model", "n_heads", "d_ff", "n_layers")
SWITCHES = (
    "causal",
    "cross_attention",
    "norm_weight",
    "attention_bias",
    "feed_forward_bias",
    "qk_norm",
    "scaled_initialization",
)
POSITIVE = ("eps", "rotary_base", "layer_scale_init")
RATES = ("attention_dropout", "residual_dropout", "feed_forward_dropout")


@dataclass(frozen=True, kw_only=True)
class BlockConfig:
    """Sizes and choices of one transformer block, or of each block of a stack.

    d_model = n_heads · head_width

    Sizes. d_model is D, the width of the residual stream; n_heads is H; d_ff is F, the
    inner width of the feed-forward part. n_kv_heads heads make keys and values: all of
    them (None), a few that groups of queries share, or one. n_layers is the depth that
    the block is made for: a stack has so many.

    Branches. causal hides later positions from earlier ones. cross_attention makes a
    decoder block: self-attention, attention to a memory, feed-forward. swiglu and geglu
    are feed-forward parts with a gate. The biases are those of all projections of a
    branch. rotary positions turn queries and keys inside self-attention; sinusoidal
    ones are added where a stack begins. qk_norm is an RMS norm of each head's queries
    and keys.

    Norms. placement says where they stand: before each branch, after each add, on both
    sides of each branch, or once before branches side by side. eps stands inside the
    root. norm_bias None gives a bias to a layer norm that has a weight.

    Start and training. residual_scaling weighs what a branch adds, or the stream.
    scaled_initialization divides the matrices that write to the stream by
    √(branches · n_layers). attention_dropout falls on the attention weights,
    feed_forward_dropout on the inner features, residual_dropout on what a branch adds.

    Raises: TypeError or ValueError that names the choice at fault, or the two choices
    that exclude each other, and what was given.
    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762,
    section 3; each choice has its own where it is computed.
    """

    d_model: int
    n_heads: int
    d_ff: int
    n_kv_heads: int | None = None
    n_layers: int = 1
    causal: bool = False
    cross_attention: bool = False
    placement: Placement = "pre"
    norm: Norm = "layer_norm"
    eps: float = 1e-5
    norm_weight: bool = True
    norm_bias: bool | None = None
    attention_bias: bool = True
    feed_forward_bias: bool = True
    activation: Activation = "relu"
    positions: Positions = "none"
    rotary_base: float = 10_000.0
    qk_norm: bool = False
    residual_scaling: ResidualScaling = "none"
    layer_scale_init: float = 1e-4
    initialization: Initialization = "xavier"
    scaled_initialization: bool = False
    attention_dropout: float = 0.0
    residual_dropout: float = 0.0
    feed_forward_dropout: float = 0.0

    def __post_init__(self) -> None:
        for name in SIZES:
            _require_size(name, getattr(self, name))
        for name in SWITCHES:
            _require_switch(name, getattr(self, name))
        for name in (*POSITIVE, *RATES):
            _require_number(name, getattr(self, name))
        for name, known in CHOICES.items():
            require_one_of(name, getattr(self, name), known)
        if self.norm_bias is not None:
            _require_switch("norm_bias", self.norm_bias)
        require_divisible(self.d_model, self.n_heads)
        if self.n_kv_heads is not None:
            _require_size("n_kv_heads", self.n_kv_heads)
            if self.n_heads % self.n_kv_heads:
                raise ValueError(
                    f"n_heads {self.n_heads} is not divisible "
                    f"by n_kv_heads {self.n_kv_heads}"
                )
        for contradiction in _contradictions(self):
            raise ValueError(contradiction)

    @property
    def head_width(self) -> int:
        """K = D / H, the features that one head sees."""
        return self.d_model // self.n_heads

    @property
    def kv_heads(self) -> int:
        """G, the heads that make keys and values: n_kv_heads, or n_heads without it."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    @property
    def has_norm_bias(self) -> bool:
        """Whether norms add a bias: norm_bias, or what its None stands for."""
        if self.norm_bias is None:
            return self.norm == "layer_norm" and self.norm_weight
        return self.norm_bias

    @property
    def gated(self) -> bool:
        """Whether the feed-forward part multiplies its inner features by a gate."""
        return self.activation in ("swiglu", "geglu")

    @property
    def branches(self) -> tuple[str, ...]:
        """What reads the stream and adds to it, in order, by the names of stages."""
        if self.cross_attention:
            return ("attention", "cross_attention", "feed_forward")
        return ("attention", "feed_forward")


def _contradictions(config: BlockConfig) -> Iterator[str]:
    """Say which choices exclude each other, and what would have to be chosen."""
    if config.norm == "rms_norm" and config.has_norm_bias:
        yield "rms_norm has no bias: norm_bias must be False"
    if config.placement == "parallel" and config.cross_attention:
        yield "parallel branches read one input: cross_attention must be False"
    if config.positions == "rotary" and config.head_width % 2:
        yield (
            "rotary positions turn pairs of features: "
            f"head_width must be even; got {config.head_width}"
        )
    if config.positions == "sinusoidal" and config.d_model % 2:
        yield (
            "sinusoidal positions are pairs of features: "
            f"d_model must be even; got {config.d_model}"
        )
    if config.residual_scaling == "deep_norm":
        if config.placement != "post":
            yield f"deep_norm needs placement post; got {config.placement!r}"
        if config.initialization != "xavier":
            yield f"deep_norm starts from xavier; got {config.initialization!r}"
        if config.scaled_initialization:
            yield "deep_norm scales by itself: scaled_initialization must be False"


def _require_size(name: str, size: object) -> None:
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"{name} must be an int; got {size!r}")
    if size < 1:
        raise ValueError(f"{name} must be at least 1; got {size}")


def _require_switch(name: str, switch: object) -> None:
    if not isinstance(switch, bool):
        raise TypeError(f"{name} must be a bool; got {switch!r}")


def _require_number(name: str, number: object) -> None:
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise TypeError(f"{name} must be a number; got {number!r}")
    if name in RATES:
        if not 0 <= number < 1:
            raise ValueError(f"{name} must lie in [0, 1); got {number!r}")
    elif not 0 < number < math.inf:
        raise ValueError(f"{name} must be positive and finite; got {number!r}")
