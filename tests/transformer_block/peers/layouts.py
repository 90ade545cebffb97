"""Our parameters in the names and layouts of layers that others wrote.

Each layout only renames, splits, joins or transposes, so it serves gradients as well as weights.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from transformer_block.config import BlockConfig

Arrays = dict[str, np.ndarray]


def encoder_layer(config: BlockConfig, ours: Arrays) -> Arrays:
    """nn.TransformerEncoderLayer."""
    return renamed(
        ours,
        {
            "norm_1": "norm1",
            "attention.qkv.weight": "self_attn.in_proj_weight",
            "attention.qkv.bias": "self_attn.in_proj_bias",
            "attention.out": "self_attn.out_proj",
            "norm_2": "norm2",
            "feed_forward.up": "linear1",
            "feed_forward.down": "linear2",
        },
    )


def decoder_layer(config: BlockConfig, ours: Arrays) -> Arrays:
    """nn.TransformerDecoderLayer: it stacks the query, key and value rows of cross-attention too."""
    return renamed(
        joined(ours, "cross_attention.in", ("cross_attention.q", "cross_attention.kv")),
        {
            "norm_1": "norm1",
            "attention.qkv.weight": "self_attn.in_proj_weight",
            "attention.qkv.bias": "self_attn.in_proj_bias",
            "attention.out": "self_attn.out_proj",
            "norm_2": "norm2",
            "cross_attention.in.weight": "multihead_attn.in_proj_weight",
            "cross_attention.in.bias": "multihead_attn.in_proj_bias",
            "cross_attention.out": "multihead_attn.out_proj",
            "norm_3": "norm3",
            "feed_forward.up": "linear1",
            "feed_forward.down": "linear2",
            "memory": "memory",
        },
    )


def gpt2_block(config: BlockConfig, ours: Arrays) -> Arrays:
    """GPT2Block, whose matrices are (in, out)."""
    return renamed(
        {name: value.T for name, value in ours.items()},
        {
            "norm_1": "ln_1",
            "attention.qkv": "attn.c_attn",
            "attention.out": "attn.c_proj",
            "norm_2": "ln_2",
            "feed_forward.up": "mlp.c_fc",
            "feed_forward.down": "mlp.c_proj",
        },
    )


def llama_layer(config: BlockConfig, ours: Arrays) -> Arrays:
    """LlamaDecoderLayer: queries, keys and values apart, with fewer heads for the last two."""
    heads = (config.n_heads, config.kv_heads, config.kv_heads)
    rows = [config.head_width * n_heads for n_heads in heads]
    return renamed(
        parted(ours, "attention.qkv", ("q", "k", "v"), rows),
        {
            "norm_1": "input_layernorm",
            "q": "self_attn.q_proj",
            "k": "self_attn.k_proj",
            "v": "self_attn.v_proj",
            "attention.out": "self_attn.o_proj",
            "norm_2": "post_attention_layernorm",
            "feed_forward.gate": "mlp.gate_proj",
            "feed_forward.up": "mlp.up_proj",
            "feed_forward.down": "mlp.down_proj",
        },
    )


def bert_layer(config: BlockConfig, ours: Arrays) -> Arrays:
    """BertLayer: each norm lies with the projection whose output it follows."""
    return renamed(
        parted(ours, "attention.qkv", ("q", "k", "v"), [config.d_model] * 3),
        {
            "q": "attention.self.query",
            "k": "attention.self.key",
            "v": "attention.self.value",
            "attention.out": "attention.output.dense",
            "norm_1": "attention.output.LayerNorm",
            "feed_forward.up": "intermediate.dense",
            "feed_forward.down": "output.dense",
            "norm_2": "output.LayerNorm",
        },
    )


def renamed(arrays: Arrays, names: Mapping[str, str]) -> Arrays:
    """Give each array the name of its layer there; one without a place there is a KeyError."""
    theirs = {}
    for name, value in arrays.items():
        layer, _, kind = name.rpartition(".")
        theirs[names[name] if name in names else f"{names[layer]}.{kind}"] = value
    return theirs


def parted(arrays: Arrays, stacked: str, parts: Sequence[str], rows: Sequence[int]) -> Arrays:
    """Cut a layer's rows, weight and bias alike, into layers of so many rows each."""
    apart = {}
    for name, value in arrays.items():
        layer, _, kind = name.rpartition(".")
        if layer == stacked:
            pieces = np.split(value, np.cumsum(rows)[:-1])
            apart |= {f"{part}.{kind}": piece for part, piece in zip(parts, pieces, strict=True)}
        else:
            apart[name] = value
    return apart


def joined(arrays: Arrays, stacked: str, parts: Sequence[str]) -> Arrays:
    """Stack the rows of layers, weight and bias alike, into one layer."""
    rest = {name: value for name, value in arrays.items() if name.rpartition(".")[0] not in parts}
    return rest | {
        f"{stacked}.{kind}": np.concatenate([arrays[f"{part}.{kind}"] for part in parts])
        for kind in ("weight", "bias")
    }
