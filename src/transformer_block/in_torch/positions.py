"""Positions: sines that are added to the stream, or turns of the queries and keys."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_block._attention_invariants import require_tokens
from transformer_block._invariants import require_at_least, require_even


def sinusoidal(
    length: int,
    d_model: int,
    offset: int = 0,
    base: float = 10000.0,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
) -> Float[Tensor, "T D"]:
    """Write each position as sines and cosines of ever longer wavelengths.

    p[t, 2i] = sin((offset + t) / base^(2i/D)),  p[t, 2i + 1] = cos(the same)

    The first row is the position `offset`: that of the first token that is not in a
    cache yet. Without a dtype it is torch's default one.

    Raises: ValueError for an odd d_model, or a negative length or offset.
    Source: Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762,
    section 3.5.
    """
    require_even("d_model", d_model)
    angles = _angles(length, d_model, offset, base)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2).to(device, dtype or torch.get_default_dtype())


def rotary(
    x: Float[Tensor, "*B T K"], offset: int = 0, base: float = 10000.0
) -> Float[Tensor, "*B T K"]:
    """Turn each pair of features by an angle that grows with the token's position.

    (a, b) → (a · cos θ − b · sin θ, a · sin θ + b · cos θ),
    θ = (offset + t) / base^(2i/K)

    Feature i of the first half makes a pair with feature i of the second. A query at t
    and a key at s that are turned so have a product that depends on t − s alone. The
    sines are formed in float64; the dtype of x is kept.

    Raises: ValueError for an odd head width or a negative offset; TypeError for a dtype
    that is not floating.
    Source: Su et al., RoFormer, 2021, arXiv:2104.09864; the pairing is that of GPT-NeoX
    and Llama.
    """
    require_tokens("rotary", x)
    require_even("head width", x.shape[-1])
    angles = _angles(x.shape[-2], x.shape[-1], offset, base)
    cosine, sine = angles.cos().to(x), angles.sin().to(x)
    first, second = x.chunk(2, dim=-1)
    turned = first * cosine - second * sine, first * sine + second * cosine
    return torch.cat(turned, dim=-1)


def _angles(length: int, width: int, offset: int, base: float) -> Tensor:
    require_at_least("length", length, 0)
    require_at_least("offset", offset, 0)
    with torch.device("cpu"):  # not every device has float64
        positions = torch.arange(offset, offset + length)
        pairs = torch.arange(0, width, 2, dtype=torch.float64)
    return positions[:, None] / torch.pow(base, pairs / width)
