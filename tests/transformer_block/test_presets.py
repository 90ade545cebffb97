import math
import re

import pytest

from transformer_block.config import BlockConfig
from transformer_block.parameters import shapes
from transformer_block.presets import PRESETS, preset


def count(config):
    return sum(math.prod(shape) for shape in shapes(config).values())


def test_the_teaching_preset_is_small():
    assert preset("teaching") == BlockConfig(d_model=32, n_heads=4, d_ff=64, activation="relu")


def test_every_preset_is_found_by_its_name():
    assert list(PRESETS) == ["teaching", "gpt2", "gpt3", "llama", "llama3", "bert", "minilm"]
    assert all(preset(name) is config for name, config in PRESETS.items())


def test_an_unknown_preset_is_refused_with_those_there_are():
    known = "teaching, gpt2, gpt3, llama, llama3, bert, minilm"
    with pytest.raises(ValueError, match=re.escape(f"preset must be one of {known}; got 'tiny'")):
        preset("tiny")


# Counted from the published sizes: attention, feed-forward and norms, with the biases that each model has.
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("teaching", 8_544),
        ("gpt2", 7_087_872),
        ("gpt3", 173_961_510_912 // 96),
        ("llama", 4 * 4096**2 + 3 * 4096 * 11008 + 2 * 4096),
        ("llama3", 2 * 4096**2 + 2 * 1024 * 4096 + 3 * 4096 * 14336 + 2 * 4096),
        ("bert", 7_087_872),
        ("minilm", 1_774_464),
    ],
)
def test_a_block_has_the_parameters_of_its_model(name, parameters):
    assert count(preset(name)) == parameters


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("gpt2", ("pre", "layer_norm", 1e-5, "gelu_tanh", "none", True, 12)),
        ("gpt3", ("pre", "layer_norm", 1e-5, "gelu_tanh", "none", True, 96)),
        ("llama", ("pre", "rms_norm", 1e-6, "swiglu", "rotary", True, 32)),
        ("llama3", ("pre", "rms_norm", 1e-5, "swiglu", "rotary", True, 32)),
        ("bert", ("post", "layer_norm", 1e-12, "gelu", "none", False, 12)),
        ("minilm", ("post", "layer_norm", 1e-12, "gelu", "none", False, 6)),
    ],
)
def test_a_preset_makes_the_choices_of_its_model(name, choices):
    c = preset(name)
    assert (c.placement, c.norm, c.eps, c.activation, c.positions, c.causal, c.n_layers) == choices


@pytest.mark.parametrize(
    ("name", "heads", "groups", "width"),
    [("gpt2", 12, 12, 64), ("gpt3", 96, 96, 128), ("llama", 32, 32, 128), ("llama3", 32, 8, 128)],
)
def test_a_preset_has_the_heads_of_its_model(name, heads, groups, width):
    assert (preset(name).n_heads, preset(name).kv_heads, preset(name).head_width) == (heads, groups, width)


def test_each_llama_turns_by_a_base_of_its_own():
    assert (preset("llama").rotary_base, preset("llama3").rotary_base) == (10_000, 500_000)


@pytest.mark.parametrize(("name", "rate"), [("gpt2", 0.1), ("bert", 0.1), ("minilm", 0.1), ("llama", 0.0)])
def test_a_preset_drops_out_what_its_model_does(name, rate):
    c = preset(name)
    assert (c.attention_dropout, c.residual_dropout, c.feed_forward_dropout) == (rate, rate, 0.0)


def test_only_the_gpts_scale_what_writes_to_the_stream():
    scaled = [name for name, config in PRESETS.items() if config.scaled_initialization]
    assert scaled == ["gpt2", "gpt3"]
    assert {config.initialization for name, config in PRESETS.items() if name != "teaching"} == {"normal"}
