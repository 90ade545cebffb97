import dataclasses
import math
import re

import pytest

from transformer_block.config import PRESETS, BlockConfig, preset


def test_defaults_are_an_encoder_with_relu():
    config = BlockConfig(d_model=12, n_heads=3, d_ff=7)
    assert (config.causal, config.eps, config.activation) == (False, 1e-5, "relu")


def test_heads_share_the_width():
    assert BlockConfig(d_model=12, n_heads=3, d_ff=7).head_width == 4


def test_a_config_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        preset("teaching").d_model = 64


def test_sizes_are_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        BlockConfig(12, 3, 7)


def test_the_teaching_preset_is_small():
    assert preset("teaching") == BlockConfig(d_model=32, n_heads=4, d_ff=64, activation="relu")


def test_every_preset_is_found_by_its_name():
    assert all(preset(name) is config for name, config in PRESETS.items())


def test_an_unknown_preset_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=re.escape("preset must be one of teaching; got 'tiny'")):
        preset("tiny")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("choice", "error", "sentence"),
    [
        ({"d_model": 30, "n_heads": 4}, ValueError, "d_model 30 is not divisible by n_heads 4"),
        ({"d_model": 0}, ValueError, "d_model must be at least 1; got 0"),
        ({"n_heads": -3}, ValueError, "n_heads must be at least 1; got -3"),
        ({"d_ff": 0}, ValueError, "d_ff must be at least 1; got 0"),
        ({"d_model": 12.0}, TypeError, "d_model must be an int; got 12.0"),
        ({"n_heads": True}, TypeError, "n_heads must be an int; got True"),
        ({"d_ff": "7"}, TypeError, "d_ff must be an int; got '7'"),
        ({"causal": 1}, TypeError, "causal must be a bool; got 1"),
        ({"eps": 0.0}, ValueError, "eps must be positive and finite; got 0.0"),
        ({"eps": -1e-5}, ValueError, "eps must be positive and finite; got -1e-05"),
        ({"eps": math.inf}, ValueError, "eps must be positive and finite; got inf"),
        ({"eps": math.nan}, ValueError, "eps must be positive and finite; got nan"),
        ({"eps": "small"}, TypeError, "eps must be a number; got 'small'"),
        ({"eps": True}, TypeError, "eps must be a number; got True"),
        ({"activation": "swish"}, ValueError, "activation must be one of relu, gelu_tanh; got 'swish'"),
    ],
)
def test_an_impossible_choice_is_refused_by_name(choice, error, sentence):
    with pytest.raises(error) as refusal:
        BlockConfig(**{"d_model": 12, "n_heads": 3, "d_ff": 7} | choice)
    assert str(refusal.value) == sentence


@pytest.mark.usefixtures("unchecked")
def test_one_is_a_size_and_an_int_is_a_number():
    config = BlockConfig(d_model=1, n_heads=1, d_ff=1, eps=1)
    assert (config.d_model, config.eps) == (1, 1)
