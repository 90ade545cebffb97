"""The bytes that training keeps, against what autograd keeps of our PyTorch block."""

from collections import Counter

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from tests.transformer_block.choices import COVERING, B, S, T, config_of, name_of
from tests.transformer_block.kept import Watch
from tests.transformer_block.numerics import normal, random_parameters, small_config
from transformer_block.cost import BYTES, activation_bytes, checkpoint_bytes
from transformer_block.in_torch.block import Block
from transformer_block.presets import GPT2, MINILM

every_choice = pytest.mark.parametrize(
    "config", [config_of(row) for row in COVERING], ids=[name_of(row) for row in COVERING]
)
either_attention = pytest.mark.parametrize("stored", [False, True], ids=["fused", "stored"])
DROPPING = {"attention_dropout": 0.1, "feed_forward_dropout": 0.2, "residual_dropout": 0.3}


def kept_by_autograd(config, dtype="float32", *, stored=False):
    entry = getattr(torch, dtype)
    block = Block(config, random_parameters(config)).to(entry)
    x = torch.tensor(normal(1, B, T, config.d_model), dtype=entry, requires_grad=True)
    inputs = {"saved": {}} if stored else {}
    memory = torch.tensor(normal(2, B, S, config.d_model), dtype=entry, requires_grad=True)
    if config.cross_attention:
        inputs["memory"] = memory
    return Watch(block, memory=memory).run(lambda: block(x, **inputs))


def counted(config, dtype="float32", *, stored=False):
    memory_tokens = S if config.cross_attention else 0
    kept = activation_bytes(config, T, B, dtype, memory_tokens=memory_tokens, stored_weights=stored)
    return {module: number for module, number in kept.items() if number}


def beyond_need(config, entry, *, stored=False):
    """What our block keeps on the CPU beyond the count: copies that a fused kernel would not make."""
    extra = Counter()
    stream = B * T * config.d_model
    for number, branch in enumerate(config.branches, start=1):
        length = S if branch == "cross_attention" else T
        heads = length * config.head_width * B
        if config.norm == "rms_norm" and config.norm_weight:  # the quotient, before its gain
            extra[f"norm_{number}"] += stream * entry
            extra[f"norm_{number}_out"] += stream * entry * (config.placement == "sandwich")
        if config.qk_norm and branch != "feed_forward":
            extra[branch] += (stream + heads * config.kv_heads) * entry
        turned = config.positions == "rotary" and branch == "attention"
        if not stored and branch != "feed_forward" and (config.qk_norm or turned):
            extra[branch] += stream * entry  # gathered per head, as the new queries lie; then merged
        if config.residual_dropout:  # a factor, where a byte would say whether it is 0
            extra[f"residual_{number}"] += stream * (entry - 1)
        if stored and branch != "feed_forward":  # keys and values repeated for each head of queries
            extra[branch] += 2 * heads * (config.n_heads - config.kv_heads) * entry
            weights = B * config.n_heads * T * length
            if config.attention_dropout:
                extra[branch] += weights * (entry - 1)
            if config.causal and branch == "attention":  # two masks, and the weights once more
                extra[branch] += 2 * T * T + weights * entry * (not config.attention_dropout)
    if config.placement == "parallel":
        del extra["norm_2"]
    extra["feed_forward"] += B * T * config.d_ff * (entry - 1) * bool(config.feed_forward_dropout)
    return extra


@every_choice
@either_attention
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_each_module_keeps_what_is_counted(config, stored, dtype):
    expected = Counter(counted(config, dtype, stored=stored))
    expected += beyond_need(config, BYTES[dtype], stored=stored)
    assert kept_by_autograd(config, dtype, stored=stored) == expected


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
@pytest.mark.parametrize("residual_scaling", ["none", "layer_scale"])
@pytest.mark.parametrize("causal", [False, True])
def test_dropout_keeps_what_is_counted(activation, residual_scaling, causal):
    config = small_config(activation=activation, residual_scaling=residual_scaling, causal=causal, **DROPPING)
    expected = Counter(counted(config, stored=True)) + beyond_need(config, 4, stored=True)
    assert kept_by_autograd(config, stored=True) == expected


@pytest.mark.parametrize("activation", ["relu", "gelu_tanh", "geglu"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_as_many_bytes_for_an_entry_but_not_for_a_sum_of_exponentials(activation, dtype):
    config = small_config(activation=activation, placement="post", n_kv_heads=1)
    assert kept_by_autograd(config, dtype) == counted(config, dtype)
    sums = 4 * B * T * config.n_heads
    full, half = (sum(counted(config, each).values()) for each in ("float32", dtype))
    assert full - sums == 2 * (half - sums)


def test_dropout_of_fused_weights_keeps_nothing_of_them():
    one, other = small_config(attention_dropout=0.1), small_config()
    assert activation_bytes(one, T) == activation_bytes(other, T)


def test_bytes_are_whole_numbers():
    config = small_config(residual_scaling="rezero", positions="rotary", **DROPPING)
    counts = activation_bytes(config, T, B, stored_weights=True)
    assert {type(count) for count in counts.values()} == {int}


def test_a_checkpoint_keeps_the_input_alone():
    config = small_config(n_layers=2)
    block = Block(config, random_parameters(config))
    x = torch.tensor(normal(1, B, T, config.d_model), requires_grad=True)
    watch = Watch(block)
    kept = watch.run(lambda: checkpoint(block, x, use_reentrant=True))
    assert sum(kept.values()) == checkpoint_bytes(config, T, B, "float64") == B * T * 12 * 8


def test_gpt2s_block_keeps_34_bytes_for_each_feature_of_a_token():
    # Korthikanti et al., 2022, section 4.1, which leaves the statistics out; the last term is the weights'.
    config, (T, B, D) = GPT2, (64, 2, 768)
    stored = sum(activation_bytes(config, T, B, "float16", stored_weights=True).values())
    statistics = 2 * 2 * B * T * 2
    assert stored - statistics == B * T * D * 34 + 5 * B * config.n_heads * T * T


def test_activations_grow_with_the_batch_but_the_tables_of_positions_do_not():
    config = small_config(positions="rotary")
    one, three = (sum(activation_bytes(config, 7, batch).values()) for batch in (1, 3))
    assert 3 * one - three == 2 * 2 * 7 * config.head_width * 4


def test_what_training_keeps_is_told_by_module():
    assert activation_bytes(MINILM, 1, dtype="float16") == {
        "attention": (384 + 3 * 384 + 384) * 2 + 12 * 4,
        "residual_1": 384,
        "norm_1": (384 + 2) * 2,
        "feed_forward": (384 + 2 * 1536) * 2,
        "residual_2": 384,
        "norm_2": (384 + 2) * 2,
    }
