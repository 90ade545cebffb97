"""What one block costs: move its sizes, and see it beside those of known models."""

from collections.abc import Mapping

from transformer_block import cost
from transformer_block.config import BlockConfig
from transformer_block.explore._element import Explorable
from transformer_block.presets import preset

_KNOWN = {
    "GPT-2 small": "gpt2",
    "Llama 7B": "llama",
    "Llama 3 8B": "llama3",
    "teaching": "teaching",
}
_HEAD = ("Block", "Sizes", "Parameters")


def explore_cost(tokens: int = 1024, dtype: str = "bfloat16") -> Explorable:
    """Move D, F, H, G and T, and see parameters, operations and cache of one block.

    Operations are those of the forward's matrix products, all pairs counted. The cache
    holds the keys and values of T positions. Without a script, four known blocks stand
    there.

    Raises: ValueError for tokens below 1 or an unknown dtype.
    """
    blocks = {name: preset(each) for name, each in _KNOWN.items()}
    return Explorable(
        "cost",
        "What one block costs",
        (*_HEAD, f"Operations, T = {tokens:,}", f"Bytes of cache, {dtype}"),
        [_row(name, each, tokens, dtype) for name, each in blocks.items()],
        {
            "blocks": {name: letters(each) for name, each in blocks.items()},
            "tokens": tokens,
            "dtype": dtype,
        },
    )


def letters(config: BlockConfig) -> Mapping[str, int]:
    """The sizes and choices that the page counts by: 0 and 1 for no and yes."""
    return {
        "D": config.d_model,
        "H": config.n_heads,
        "G": config.kv_heads,
        "F": config.d_ff,
        "biases": int(config.attention_bias),
        "gated": int(config.gated),
        "centered": int(config.norm == "layer_norm"),
    }


def cache_bytes(config: BlockConfig, tokens: int, dtype: str) -> int:
    """Bytes of keys and values, also of a block that is not causal and keeps none."""
    entries = 2 * config.kv_heads * config.head_width * tokens
    return entries * cost.bytes_of(dtype)


def _row(name: str, config: BlockConfig, tokens: int, dtype: str) -> tuple[str, ...]:
    return (
        name,
        f"D {config.d_model:,}, F {config.d_ff:,}, H {config.n_heads}, "
        f"G {config.kv_heads}",
        f"{sum(cost.parameters(config).values()):,}",
        f"{sum(cost.forward_flops(config, tokens).values()):,}",
        f"{cache_bytes(config, tokens, dtype):,}",
    )
