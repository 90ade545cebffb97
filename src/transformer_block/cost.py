"""What a block costs: its parameters, FLOPs, activations and cache, counted exactly.

Every count is a dict of whole numbers by part, so that a sum over its values is the
total. tokens is T, the positions of one sequence; batch is B, the sequences side by
side; memory_tokens is S, the length of the memory that a decoder block attends to.
"""

import math
from typing import Literal, get_args

from transformer_block._activation_cost import Kept
from transformer_block._attention_invariants import require_causal_cache
from transformer_block._cost_invariants import require_sizes
from transformer_block._invariants import require_at_least, require_one_of
from transformer_block.config import BlockConfig
from transformer_block.models import ModelConfig
from transformer_block.parameters import shapes

Counts = dict[str, int]
Pairs = Literal["all", "visible"]

BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}


def parameters(config: BlockConfig) -> Counts:
    """Count a block's parameters: those of norms, of each branch, of residual scales.

    With biases and two layer norms: 4 D² + 4 D, 2 D F + F + D and 4 D. G heads of keys
    and values make it 2 D² + 2 D G K for the matrices of attention; a gate makes the
    feed-forward part's 3 D F. The gains of QK-norm belong to attention.
    """
    counts = dict.fromkeys(("norms", *config.branches, "residual_scales"), 0)
    for name, shape in shapes(config).items():
        module = name.partition(".")[0]
        kind = {"norm": "norms", "residual": "residual_scales"}
        part = kind.get(module.partition("_")[0], module)
        counts[part] += math.prod(shape)
    return counts


def model_parameters(model: ModelConfig) -> Counts:
    """Count a model's parameters: embeddings, blocks, final norm and output.

    V D + P D + L · block + norm, and V D once more for an untied output, where V is the
    vocabulary and P the context. A tied output adds none: it is the embedding.
    """
    block = model.block
    d = block.d_model
    norm = d * (block.norm_weight + block.has_norm_bias)
    output = {"tied": 0, "untied": model.vocabulary * d, "pooler": d * d + d}
    return {
        "token_embedding": model.vocabulary * d,
        "positions": model.context * d * model.learned_positions,
        "token_types": model.token_types * d,
        "embedding_norm": norm * model.embedding_norm,
        "blocks": block.n_layers * sum(parameters(block).values()),
        "final_norm": norm * (block.placement != "post"),
        "output": output[model.output],
    }


def forward_flops(
    config: BlockConfig,
    tokens: int,
    batch: int = 1,
    *,
    memory_tokens: int = 0,
    cached: int = 0,
    pairs: Pairs = "all",
) -> Counts:
    """Count the floating-point operations of a block's matrix products.

    2 · B T · (rows · columns) for each matrix, 2 · B · pairs · D for the scores q · kᵀ
    and as many for the weighted values

    A multiply and an add are 2 operations; norms, softmax, activations and additions
    are left out. With pairs "all", attention compares T · (cached + T) queries and
    keys, as a dense product does whatever its mask; with "visible", a causal block
    compares T · cached + T (T + 1) / 2. A cache holds `cached` positions already.

    Raises: ValueError for a size that is too small, a memory that the block does not
    read, or a cache in a block that is not causal.
    """
    require_sizes(config, tokens, batch, memory_tokens)
    compared = {
        "attention": _compared(config, tokens, cached, pairs),
        "cross_attention": tokens * memory_tokens,
    }
    counts: Counts = {}
    for name, shape in shapes(config).items():
        if len(shape) != 2:
            continue
        branch, matrix, _ = name.split(".")
        if matrix == "out":
            product = 2 * batch * compared[branch] * config.d_model
            counts |= {f"{branch}.scores": product, f"{branch}.values": product}
        read = memory_tokens if matrix == "kv" else tokens
        counts[f"{branch}.{matrix}"] = 2 * batch * read * math.prod(shape)
    return counts


def backward_flops(
    config: BlockConfig,
    tokens: int,
    batch: int = 1,
    *,
    memory_tokens: int = 0,
    pairs: Pairs = "all",
) -> Counts:
    """Count the operations of a block's backward: twice those of the forward.

    y = x · Wᵀ sends back dx = dy · W and dW = dyᵀ · x, each as large a product as y

    A fused kernel of attention, which has not stored the weights, makes the scores once
    more, and checkpointing the whole forward: neither is counted.

    Raises: as forward_flops.
    """
    forward = forward_flops(
        config, tokens, batch, memory_tokens=memory_tokens, pairs=pairs
    )
    return {product: 2 * count for product, count in forward.items()}


def model_flops(
    model: ModelConfig,
    tokens: int,
    batch: int = 1,
    *,
    cached: int = 0,
    pairs: Pairs = "all",
) -> Counts:
    """Count the operations of a model's forward: its blocks, and its output.

    L · block + 2 · B T · V D for logits at every position; 2 · B · D² for a pooler. The
    embeddings are looked up, and cost none.

    Raises: as forward_flops; ValueError for more positions than the model reads.
    """
    block = model.block
    if cached + tokens > model.context:
        raise ValueError(
            f"the model reads {model.context} positions; got {cached + tokens}"
        )
    one = forward_flops(block, tokens, batch, cached=cached, pairs=pairs)
    logits = 2 * batch * tokens * model.vocabulary * block.d_model
    pooler = 2 * batch * block.d_model**2
    return {
        "blocks": block.n_layers * sum(one.values()),
        "output": pooler if model.output == "pooler" else logits,
    }


def activation_bytes(
    config: BlockConfig,
    tokens: int,
    batch: int = 1,
    dtype: str = "float32",
    *,
    memory_tokens: int = 0,
    stored_weights: bool = False,
) -> Counts:
    """Count the bytes that a block's forward keeps for its backward, by module.

    (16 D + 4) · B T entries and B H T sums, with GELU, layer norms and F = 4 D

    Counted is what an eager framework keeps, each entry once: what a norm reads and its
    statistics, what a matrix reads, what an activation reads and makes, the heads. The
    block's input is counted and its output is not: the next block keeps it. A fused
    kernel of attention keeps a sum for each row of weights; with stored_weights the
    B H T S weights are kept instead. Entries are all of one dtype (a row's sum has at
    least four bytes), and dropout keeps one byte for each entry that it may drop. What
    stands under "memory" is kept once for all blocks of a stack.

    Raises: ValueError for a size that is too small, an unknown dtype, or a memory that
    the block does not read.
    Source: Korthikanti et al., Reducing Activation Recomputation in Large Transformer
    Models, 2022, arXiv:2205.05198, section 4.1.
    """
    require_sizes(config, tokens, batch, memory_tokens)
    kept = Kept(
        config=config,
        batch=batch,
        tokens=tokens,
        memory_tokens=memory_tokens,
        entry=bytes_of(dtype),
        stored_weights=stored_weights,
    )
    return dict(kept.by_module())


def checkpoint_bytes(
    config: BlockConfig, tokens: int, batch: int = 1, dtype: str = "float32"
) -> int:
    """Count the bytes that a block keeps if its forward is to be run again: its input.

    B · T · D · bytes of an entry

    In the backward, one block at a time holds all of its activation_bytes as well. The
    memory of a decoder block is kept beside, once for all blocks.

    Raises: ValueError for a size below 1 or an unknown dtype.
    Source: Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016,
    arXiv:1604.06174.
    """
    require_sizes(config, tokens, batch, int(config.cross_attention))
    return batch * tokens * config.d_model * bytes_of(dtype)


def cache_bytes(
    config: BlockConfig, tokens: int, batch: int = 1, dtype: str = "float32"
) -> int:
    """Count the bytes of one block's keys and values of `tokens` positions.

    2 · B · G · T · K · bytes of an entry, for G heads of keys and values of width K

    Raises: ValueError for a size below 1, an unknown dtype, or a block that is not
    causal.
    """
    require_causal_cache(config.causal)
    require_sizes(config, tokens, batch, int(config.cross_attention))
    kept = 2 * batch * config.kv_heads * tokens * config.head_width
    return kept * bytes_of(dtype)


def bytes_of(dtype: str) -> int:
    """Say how many bytes an entry of this dtype takes.

    Raises: ValueError for an unknown name.
    """
    require_one_of("dtype", dtype, BYTES)
    return BYTES[dtype]


def _compared(config: BlockConfig, tokens: int, cached: int, pairs: Pairs) -> int:
    require_one_of("pairs", pairs, get_args(Pairs))
    require_at_least("cached", cached, 0)
    if cached:
        require_causal_cache(config.causal)
    hidden = config.causal and pairs == "visible"
    return tokens * (cached + tokens) - hidden * tokens * (tokens - 1) // 2
