"""What must hold of the sizes for which a cost is counted."""

from transformer_block._invariants import require_at_least
from transformer_block.config import BlockConfig


def require_sizes(
    config: BlockConfig, tokens: int, batch: int, memory_tokens: int
) -> None:
    """At least one token, and a memory for a block that reads one, but for no other."""
    require_at_least("tokens", tokens, 1)
    require_at_least("batch", batch, 1)
    if config.cross_attention:
        require_at_least("memory_tokens", memory_tokens, 1)
    elif memory_tokens:
        raise ValueError(
            f"memory_tokens is {memory_tokens}, but cross_attention is False"
        )
