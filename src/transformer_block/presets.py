"""Named configurations: the teaching block, and the blocks of well-known models."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from transformer_block._invariants import require_one_of
from transformer_block.config import BlockConfig


def preset(name: str) -> BlockConfig:
    """Look a named configuration up.

    Raises: ValueError for an unknown name.
    """
    require_one_of("preset", name, PRESETS)
    return PRESETS[name]


TEACHING = BlockConfig(d_model=32, n_heads=4, d_ff=64)

# Radford et al., Language Models are Unsupervised Multitask Learners, 2019.
GPT2 = BlockConfig(
    d_model=768,
    n_heads=12,
    d_ff=3072,
    n_layers=12,
    causal=True,
    activation="gelu_tanh",
    initialization="normal",
    scaled_initialization=True,
    attention_dropout=0.1,
    residual_dropout=0.1,
)

# Brown et al., Language Models are Few-Shot Learners, 2020, arXiv:2005.14165; its
# attention is sparse in every other block, which no choice here says.
GPT3 = BlockConfig(
    d_model=12288,
    n_heads=96,
    d_ff=49152,
    n_layers=96,
    causal=True,
    activation="gelu_tanh",
    initialization="normal",
    scaled_initialization=True,
)

# Touvron et al., LLaMA, 2023, arXiv:2302.13971, tables 1 and 2: the 7B model.
LLAMA = BlockConfig(
    d_model=4096,
    n_heads=32,
    d_ff=11008,
    n_layers=32,
    causal=True,
    norm="rms_norm",
    eps=1e-6,
    attention_bias=False,
    feed_forward_bias=False,
    activation="swiglu",
    positions="rotary",
    initialization="normal",
)

# Grattafiori et al., The Llama 3 Herd of Models, 2024, arXiv:2407.21783, table 3: the
# 8B model, in which four heads of queries share one of keys and values.
LLAMA3 = replace(
    LLAMA,
    n_kv_heads=8,
    d_ff=14336,
    eps=1e-5,
    rotary_base=500_000.0,
)

# Devlin et al., BERT, 2018, arXiv:1810.04805, section 3: the base model.
BERT = BlockConfig(
    d_model=768,
    n_heads=12,
    d_ff=3072,
    n_layers=12,
    placement="post",
    eps=1e-12,
    activation="gelu",
    initialization="normal",
    attention_dropout=0.1,
    residual_dropout=0.1,
)

# Wang et al., MiniLM, 2020, arXiv:2002.10957; the weights of all-MiniLM-L6-v2 fit it.
MINILM = BlockConfig(
    d_model=384,
    n_heads=12,
    d_ff=1536,
    n_layers=6,
    placement="post",
    eps=1e-12,
    activation="gelu",
    initialization="normal",
    attention_dropout=0.1,
    residual_dropout=0.1,
)

PRESETS: Mapping[str, BlockConfig] = MappingProxyType(
    {
        "teaching": TEACHING,
        "gpt2": GPT2,
        "gpt3": GPT3,
        "llama": LLAMA,
        "llama3": LLAMA3,
        "bert": BERT,
        "minilm": MINILM,
    }
)
