"""A block's modules, made from its configuration, under the names of its parameters."""

from collections.abc import Iterator

from torch import nn

from transformer_block.config import BlockConfig
from transformer_block.in_torch.attention import Attention
from transformer_block.in_torch.cross_attention import CrossAttention
from transformer_block.in_torch.feed_forward import FeedForward
from transformer_block.in_torch.layer_norm import LayerNorm
from transformer_block.in_torch.residual import Residual
from transformer_block.in_torch.rms_norm import RMSNorm
from transformer_block.initialization import deep_norm


def modules(config: BlockConfig) -> Iterator[tuple[str, nn.Module]]:
    """Make each module of a block, in the order of its parameters."""
    branch = {
        "attention": _attention,
        "cross_attention": _cross_attention,
        "feed_forward": _feed_forward,
    }
    for number, name in enumerate(config.branches, start=1):
        if number == 1 or config.placement != "parallel":
            yield f"norm_{number}", norm(config)
        yield name, branch[name](config)
        if config.placement == "sandwich":
            yield f"norm_{number}_out", norm(config)
        yield f"residual_{number}", _residual(config)


def norm(config: BlockConfig) -> nn.Module:
    """Make a norm of the block's kind."""
    if config.norm == "rms_norm":
        return RMSNorm(config.d_model, config.eps, weight=config.norm_weight)
    return LayerNorm(
        config.d_model,
        config.eps,
        weight=config.norm_weight,
        bias=config.has_norm_bias,
    )


def _attention(config: BlockConfig) -> nn.Module:
    return Attention(
        config.d_model,
        config.n_heads,
        n_kv_heads=config.kv_heads,
        bias=config.attention_bias,
        causal=config.causal,
        qk_norm=config.qk_norm,
        eps=config.eps,
        rotary_base=config.rotary_base if config.positions == "rotary" else None,
        dropout=config.attention_dropout,
    )


def _cross_attention(config: BlockConfig) -> nn.Module:
    return CrossAttention(
        config.d_model,
        config.n_heads,
        n_kv_heads=config.kv_heads,
        bias=config.attention_bias,
        qk_norm=config.qk_norm,
        eps=config.eps,
        dropout=config.attention_dropout,
    )


def _feed_forward(config: BlockConfig) -> nn.Module:
    return FeedForward(
        config.d_model,
        config.d_ff,
        config.activation,
        bias=config.feed_forward_bias,
        dropout=config.feed_forward_dropout,
    )


def _residual(config: BlockConfig) -> nn.Module:
    entries = {"rezero": 1, "layer_scale": config.d_model}
    deep = config.residual_scaling == "deep_norm"
    return Residual(
        entries.get(config.residual_scaling),
        alpha=deep_norm(config).alpha if deep else None,
        dropout=config.residual_dropout,
    )
