"""FLOPs against PyTorch's own counter, at work on our block."""

import re

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.transformer_block.choices import COVERING, B, S, T, config_of, name_of
from tests.transformer_block.numerics import normal, random_parameters, small_config
from transformer_block.config import BlockConfig
from transformer_block.cost import backward_flops, forward_flops, model_flops
from transformer_block.in_numpy import masks
from transformer_block.in_torch.block import Block
from transformer_block.in_torch.cache import KVCache
from transformer_block.models import model

SCORES = ("attention.scores", "attention.values")


def by_branch(products):
    """Counts of products added up by the branch that they belong to."""
    totals = {}
    for product, count in products.items():
        branch = product.partition(".")[0]
        totals[branch] = totals.get(branch, 0) + count
    return totals


def by_counter(config, run):
    """The counter of PyTorch after it has watched run(block, x, inputs).

    It has no formula for the CPU's fused kernel. `saved` asks for the weights of attention, and those are
    made by plain products.
    """
    block = Block(config, random_parameters(config))
    x = torch.tensor(normal(1, B, T, config.d_model), requires_grad=True)
    inputs = {"saved": {}}
    if config.cross_attention:
        inputs["memory"] = torch.tensor(normal(2, B, S, config.d_model), requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        run(block, x, inputs)
    return counter


def in_branches(config, counter):
    counts = counter.get_flop_counts()
    return {branch: sum(counts[f"Block.{branch}"].values()) for branch in config.branches}


def sizes(config):
    return {"memory_tokens": S} if config.cross_attention else {}


@pytest.mark.parametrize(
    "config", [config_of(row) for row in COVERING], ids=[name_of(row) for row in COVERING]
)
def test_each_branch_makes_the_products_that_are_counted(config):
    def forward(block, x, inputs):
        block(x, **inputs)

    def forward_and_backward(block, x, inputs):
        block(x, **inputs).sum().backward()

    there = forward_flops(config, T, B, **sizes(config))
    back = backward_flops(config, T, B, **sizes(config))
    assert in_branches(config, by_counter(config, forward)) == by_branch(there)
    both = by_counter(config, forward_and_backward).get_total_flops()
    assert both == sum(there.values()) + sum(back.values())


def test_behind_a_cache_new_tokens_meet_all_that_came_before():
    config = small_config(d_model=24, n_heads=6, n_kv_heads=2, causal=True, activation="swiglu")
    cache = KVCache(capacity=T + S)

    @torch.no_grad()
    def cached(block, x, inputs):
        block(x, cache=cache, **inputs)

    with torch.no_grad():
        earlier = torch.tensor(normal(3, B, S, config.d_model))
        Block(config, random_parameters(config))(earlier, cache=cache)
    expected = by_branch(forward_flops(config, T, B, cached=S))
    assert in_branches(config, by_counter(config, cached)) == expected
    assert expected["attention"] > by_branch(forward_flops(config, T, B))["attention"]


def test_a_products_count_is_two_for_each_entry_of_its_matrix_and_token():
    config = BlockConfig(
        d_model=12, n_heads=6, n_kv_heads=3, d_ff=7, activation="geglu", attention_bias=False
    )
    assert forward_flops(config, 5, 11) == {
        "attention.qkv": 2 * 5 * 11 * 12 * (12 + 6 + 6),
        "attention.scores": 2 * 11 * 5 * 5 * 12,
        "attention.values": 2 * 11 * 5 * 5 * 12,
        "attention.out": 2 * 5 * 11 * 12 * 12,
        "feed_forward.up": 2 * 5 * 11 * 12 * 7,
        "feed_forward.gate": 2 * 5 * 11 * 12 * 7,
        "feed_forward.down": 2 * 5 * 11 * 12 * 7,
    }


def test_a_decoder_block_reads_each_sequence_at_its_own_length():
    config = small_config(cross_attention=True, causal=True)
    counts = forward_flops(config, 5, memory_tokens=9, pairs="visible")
    across = {name: count for name, count in counts.items() if name.startswith("cross")}
    assert across == {
        "cross_attention.q": 2 * 5 * 12 * 12,
        "cross_attention.kv": 2 * 9 * 12 * 24,
        "cross_attention.scores": 2 * 5 * 9 * 12,
        "cross_attention.values": 2 * 5 * 9 * 12,
        "cross_attention.out": 2 * 5 * 12 * 12,
    }


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("cached", [0, 1, 7])
def test_visible_pairs_are_those_of_the_causal_mask(length, cached):
    config = small_config(causal=True)
    seen = forward_flops(config, length, cached=cached, pairs="visible")
    visible = masks.causal_mask(length, cached + length).sum()
    assert {seen[product] for product in SCORES} == {2 * visible * config.d_model}
    others = [forward_flops(config, length, cached=cached, pairs=pairs) for pairs in ("visible", "all")]
    assert {name for name in seen if others[0][name] != others[1][name]} == (
        set(SCORES) if length > 1 else set()
    )


def test_without_a_causal_mask_all_pairs_are_visible():
    config = small_config()
    assert forward_flops(config, 5, 2, pairs="visible") == forward_flops(config, 5, 2)


def test_the_backward_is_twice_the_forward_with_either_choice_of_pairs():
    config = small_config(causal=True)
    forward = forward_flops(config, 5, 2, pairs="visible")
    assert backward_flops(config, 5, 2, pairs="visible") == {
        name: 2 * count for name, count in forward.items()
    }


def test_without_a_batch_there_is_one_sequence():
    config = small_config(causal=True)
    assert forward_flops(config, 5) == forward_flops(config, 5, 1)
    assert backward_flops(config, 5) == backward_flops(config, 5, 1)


def test_operations_are_whole_numbers():
    counts = forward_flops(small_config(causal=True), 5, pairs="visible")
    assert {type(count) for count in counts.values()} == {int}


def test_a_model_adds_its_output_to_its_blocks():
    gpt2, bert = model("gpt2"), model("bert")
    one = sum(forward_flops(gpt2.block, 3, 2, cached=5, pairs="visible").values())
    assert model_flops(gpt2, 3, 2, cached=5, pairs="visible") == {
        "blocks": 12 * one,
        "output": 2 * 2 * 3 * 50_257 * 768,
    }
    assert model_flops(bert, 3, 2)["output"] == 2 * 2 * 768 * 768
    assert model_flops(gpt2, 3)["blocks"] == 12 * sum(forward_flops(gpt2.block, 3).values())


def test_a_model_reads_as_many_positions_as_it_has():
    gpt2 = model("gpt2")
    assert model_flops(gpt2, 24, cached=1000)
    with pytest.raises(ValueError, match=r"^the model reads 1024 positions; got 1025$"):
        model_flops(gpt2, 25, cached=1000)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("choices", "arguments", "sentence"),
    [
        ({}, {"tokens": 0}, "tokens must be at least 1; got 0"),
        ({}, {"tokens": 5, "batch": 0}, "batch must be at least 1; got 0"),
        ({"causal": True}, {"tokens": 5, "cached": -1}, "cached must be at least 0; got -1"),
        ({}, {"tokens": 5, "cached": 1}, "a cache needs causal attention: it holds the past alone"),
        ({}, {"tokens": 5, "pairs": "half"}, "pairs must be one of all, visible; got 'half'"),
        ({}, {"tokens": 5, "memory_tokens": 2}, "memory_tokens is 2, but cross_attention is False"),
        ({"cross_attention": True}, {"tokens": 5}, "memory_tokens must be at least 1; got 0"),
    ],
)
def test_what_cannot_be_counted_is_refused(choices, arguments, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        forward_flops(small_config(**choices), **arguments)
