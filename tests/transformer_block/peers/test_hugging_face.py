"""GPT-2's, Llama's and BERT's blocks as Hugging Face runs them."""

from functools import partial

import pytest
import torch
from torch import nn

from tests.transformer_block.numerics import B, T, normal, random_parameters, small_config
from tests.transformer_block.peers import layouts
from tests.transformer_block.peers.agreement import OF_TWIN, TOLERANCE, assert_agree, load, of_module
from transformer_block.in_torch.masks import (
    additive_mask,
    causal_mask,
    padding_mask,
    scaled_dot_product_mask,
)

pytestmark = pytest.mark.slow  # importing transformers takes up to 15 s

LENGTHS = [3, T]
every_run = pytest.mark.parametrize("twin", OF_TWIN)
every_dtype = pytest.mark.parametrize("dtype", TOLERANCE)
with_and_without_padding = pytest.mark.parametrize("padded", [False, True])


def compare(config, layer, layout, twin, dtype, padded):
    """Fill the layer with random weights of ours and run both, forward and backward."""
    parameters = random_parameters(config, dtype=dtype)
    layer = load(layer.to(torch_dtype(dtype)), layout(config, parameters))
    x, dy = (normal(seed, B, T, config.d_model, dtype=dtype) for seed in (1, 2))
    padding = padding_mask(LENGTHS, T)
    visible = padding if padded else torch.ones(1, T, T, dtype=torch.bool)
    if config.causal:
        visible = visible & causal_mask(T)
    mask = additive_mask(scaled_dot_product_mask(visible), torch_dtype(dtype))
    ours = OF_TWIN[twin](config, parameters, x, dy, visible=padding.numpy() if padded else None)
    theirs = of_module(layer, partial(layer, attention_mask=mask), x, dy)
    assert_agree(ours, theirs, partial(layout, config))


def torch_dtype(dtype):
    return getattr(torch, dtype.__name__)


@every_run
@every_dtype
@with_and_without_padding
def test_gpt2s_block_agrees(padded, dtype, twin):
    from transformers.models.gpt2.modeling_gpt2 import GPT2Block, GPT2Config

    config = small_config(causal=True, activation="gelu_tanh", eps=1e-3)
    theirs = GPT2Config(
        n_embd=config.d_model,
        n_head=config.n_heads,
        n_inner=config.d_ff,
        n_layer=1,
        layer_norm_epsilon=config.eps,
        activation_function="gelu_new",
        attn_pdrop=0.0,
        resid_pdrop=0.0,
        attn_implementation="eager",
    )
    compare(config, GPT2Block(theirs, layer_idx=0), layouts.gpt2_block, twin, dtype, padded)


@every_run
@every_dtype
@with_and_without_padding
@pytest.mark.parametrize("n_kv_heads", [1, 3, 6])
def test_llamas_layer_agrees(n_kv_heads, padded, dtype, twin):
    config = small_config(
        d_model=24,
        n_heads=6,
        n_kv_heads=n_kv_heads,
        causal=True,
        norm="rms_norm",
        eps=1e-3,
        attention_bias=False,
        feed_forward_bias=False,
        activation="swiglu",
        positions="rotary",
        rotary_base=500.0,
    )
    compare(config, llama_layer(config, torch_dtype(dtype)), layouts.llama_layer, twin, dtype, padded)


@every_run
@every_dtype
@with_and_without_padding
def test_berts_layer_agrees(padded, dtype, twin):
    from transformers.models.bert.modeling_bert import BertConfig, BertLayer

    config = small_config(placement="post", activation="gelu", eps=1e-3)
    theirs = BertConfig(
        hidden_size=config.d_model,
        num_attention_heads=config.n_heads,
        intermediate_size=config.d_ff,
        layer_norm_eps=config.eps,
        hidden_act="gelu",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
    )
    compare(config, BertLayer(theirs), layouts.bert_layer, twin, dtype, padded)


def llama_layer(config, dtype):
    """LlamaDecoderLayer, given the positions that the model around it would compute.

    Its norm and its angles are float32 in any dtype: a float64 layer gets PyTorch's RMSNorm and
    angles of our own instead.
    """
    from transformers.models.llama.modeling_llama import (
        LlamaConfig,
        LlamaDecoderLayer,
        LlamaRotaryEmbedding,
    )

    theirs = LlamaConfig(
        hidden_size=config.d_model,
        num_attention_heads=config.n_heads,
        num_key_value_heads=config.kv_heads,
        intermediate_size=config.d_ff,
        rms_norm_eps=config.eps,
        rope_parameters={"rope_type": "default", "rope_theta": config.rotary_base},
        num_hidden_layers=1,
        attn_implementation="sdpa",
    )

    class Layer(LlamaDecoderLayer):
        def forward(self, x, attention_mask):
            return super().forward(x, attention_mask=attention_mask, position_embeddings=turn)

    layer = Layer(theirs, layer_idx=0)
    if dtype == torch.float32:
        turn = LlamaRotaryEmbedding(theirs)(torch.empty(0), torch.arange(T)[None])
    else:
        turn = angles(config, dtype)
        layer.input_layernorm = nn.RMSNorm(config.d_model, eps=config.eps)
        layer.post_attention_layernorm = nn.RMSNorm(config.d_model, eps=config.eps)
    return layer


def angles(config, dtype):
    """cos and sin of t / base^(2i / K), the K/2 frequencies laid out twice."""
    exponents = torch.arange(0, config.head_width, 2, dtype=dtype) / config.head_width
    turns = torch.arange(T, dtype=dtype)[:, None] / config.rotary_base**exponents
    turns = torch.cat((turns, turns), dim=-1)[None]
    return turns.cos(), turns.sin()
