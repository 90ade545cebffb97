import dataclasses
import math
from typing import get_args, get_type_hints

import pytest

from transformer_block.config import CHOICES, RATES, SIZES, SWITCHES, BlockConfig

SIZES_OF_ALL = {"d_model": 12, "n_heads": 6, "d_ff": 7}


def config(**choices):
    return BlockConfig(**SIZES_OF_ALL | choices)


def test_defaults_are_a_pre_norm_encoder_with_relu_and_every_extra_left_out():
    chosen = dataclasses.asdict(config())
    assert chosen == SIZES_OF_ALL | {
        "n_kv_heads": None,
        "n_layers": 1,
        "causal": False,
        "cross_attention": False,
        "placement": "pre",
        "norm": "layer_norm",
        "eps": 1e-5,
        "norm_weight": True,
        "norm_bias": None,
        "attention_bias": True,
        "feed_forward_bias": True,
        "activation": "relu",
        "positions": "none",
        "rotary_base": 10_000.0,
        "qk_norm": False,
        "residual_scaling": "none",
        "layer_scale_init": 1e-4,
        "initialization": "xavier",
        "scaled_initialization": False,
        "attention_dropout": 0.0,
        "residual_dropout": 0.0,
        "feed_forward_dropout": 0.0,
    }


def test_every_choice_is_validated():
    words = {name: get_args(hint) for name, hint in get_type_hints(BlockConfig).items() if name in CHOICES}
    assert words == CHOICES
    numbers = {"eps", "rotary_base", "layer_scale_init", *RATES}
    optional = {"n_kv_heads", "norm_bias"}
    fields = {field.name for field in dataclasses.fields(BlockConfig)}
    assert fields == {*CHOICES, *SIZES, *SWITCHES, *numbers, *optional}


def test_the_words_of_each_choice_are_the_fields_own():
    assert CHOICES == {
        "placement": ("pre", "post", "sandwich", "parallel"),
        "norm": ("layer_norm", "rms_norm"),
        "activation": ("relu", "gelu", "gelu_tanh", "silu", "swiglu", "geglu"),
        "positions": ("none", "sinusoidal", "rotary"),
        "residual_scaling": ("none", "rezero", "layer_scale", "deep_norm"),
        "initialization": ("xavier", "pytorch", "normal"),
    }


@pytest.mark.parametrize(
    ("positions", "sizes"),
    [
        ("rotary", {"d_model": 12, "n_heads": 6}),
        ("sinusoidal", {"d_model": 12, "n_heads": 4}),
        ("none", {"d_model": 15, "n_heads": 5}),
    ],
)
def test_only_positions_need_even_widths(positions, sizes):
    assert config(positions=positions, **sizes).positions == positions


def test_heads_share_the_width():
    assert config().head_width == 2


@pytest.mark.parametrize(("given", "heads"), [(None, 6), (6, 6), (3, 3), (1, 1)])
def test_keys_and_values_have_as_many_heads_as_queries_or_fewer(given, heads):
    assert config(n_kv_heads=given).kv_heads == heads


@pytest.mark.parametrize(
    ("norm", "weight", "given", "bias"),
    [
        ("layer_norm", True, None, True),
        ("layer_norm", False, None, False),
        ("layer_norm", True, False, False),
        ("layer_norm", False, True, True),
        ("rms_norm", True, None, False),
        ("rms_norm", False, None, False),
        ("rms_norm", True, False, False),
    ],
)
def test_a_layer_norm_with_a_weight_has_a_bias_unless_told_otherwise(norm, weight, given, bias):
    chosen = config(norm=norm, norm_weight=weight, norm_bias=given)
    assert chosen.has_norm_bias is bias


def test_two_activations_have_a_gate():
    gated = {activation: config(activation=activation).gated for activation in CHOICES["activation"]}
    assert [activation for activation, gate in gated.items() if gate is True] == ["swiglu", "geglu"]
    assert [activation for activation, gate in gated.items() if gate is False] == [
        *("relu", "gelu", "gelu_tanh", "silu")
    ]


def test_a_decoder_block_attends_to_a_memory_between_its_two_other_branches():
    assert config().branches == ("attention", "feed_forward")
    assert config(cross_attention=True).branches == ("attention", "cross_attention", "feed_forward")


def test_a_config_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        config().d_model = 64


def test_sizes_are_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        BlockConfig(12, 3, 7)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("choice", "error", "sentence"),
    [
        ({"d_model": 30, "n_heads": 4}, ValueError, "d_model 30 is not divisible by n_heads 4"),
        ({"n_kv_heads": 4}, ValueError, "n_heads 6 is not divisible by n_kv_heads 4"),
        ({"n_kv_heads": 12}, ValueError, "n_heads 6 is not divisible by n_kv_heads 12"),
        ({"n_kv_heads": 0}, ValueError, "n_kv_heads must be at least 1; got 0"),
        ({"n_kv_heads": 2.0}, TypeError, "n_kv_heads must be an int; got 2.0"),
        ({"eps": "small"}, TypeError, "eps must be a number; got 'small'"),
        ({"eps": True}, TypeError, "eps must be a number; got True"),
        ({"eps": -1e-5}, ValueError, "eps must be positive and finite; got -1e-05"),
        ({"eps": math.nan}, ValueError, "eps must be positive and finite; got nan"),
        ({"attention_dropout": "some"}, TypeError, "attention_dropout must be a number; got 'some'"),
        ({"norm_bias": 0}, TypeError, "norm_bias must be a bool; got 0"),
        (
            {"activation": "swish"},
            ValueError,
            "activation must be one of relu, gelu, gelu_tanh, silu, swiglu, geglu; got 'swish'",
        ),
        (
            {"norm": "rms_norm", "norm_bias": True},
            ValueError,
            "rms_norm has no bias: norm_bias must be False",
        ),
        (
            {"placement": "parallel", "cross_attention": True},
            ValueError,
            "parallel branches read one input: cross_attention must be False",
        ),
        (
            {"positions": "rotary", "n_heads": 4},
            ValueError,
            "rotary positions turn pairs of features: head_width must be even; got 3",
        ),
        (
            {"positions": "sinusoidal", "d_model": 15, "n_heads": 3},
            ValueError,
            "sinusoidal positions are pairs of features: d_model must be even; got 15",
        ),
        (
            {"residual_scaling": "deep_norm", "placement": "sandwich"},
            ValueError,
            "deep_norm needs placement post; got 'sandwich'",
        ),
        (
            {"residual_scaling": "deep_norm", "placement": "post", "initialization": "normal"},
            ValueError,
            "deep_norm starts from xavier; got 'normal'",
        ),
        (
            {"residual_scaling": "deep_norm", "placement": "post", "scaled_initialization": True},
            ValueError,
            "deep_norm scales by itself: scaled_initialization must be False",
        ),
    ],
)
def test_an_impossible_choice_is_refused_by_name(choice, error, sentence):
    with pytest.raises(error) as refusal:
        config(**choice)
    assert str(refusal.value) == sentence


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["d_model", "n_heads", "d_ff", "n_layers"])
def test_a_size_is_a_positive_int(name):
    for size, error, rule in (
        (12.0, TypeError, "an int"),
        (True, TypeError, "an int"),
        (0, ValueError, "at least 1"),
    ):
        with pytest.raises(error) as refusal:
            config(**{name: size})
        assert str(refusal.value) == f"{name} must be {rule}; got {size}"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "name",
    [
        "causal",
        "cross_attention",
        "norm_weight",
        "attention_bias",
        "feed_forward_bias",
        "qk_norm",
        "scaled_initialization",
    ],
)
def test_a_switch_is_a_bool(name):
    with pytest.raises(TypeError) as refusal:
        config(**{name: 1})
    assert str(refusal.value) == f"{name} must be a bool; got 1"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["eps", "rotary_base", "layer_scale_init"])
@pytest.mark.parametrize("number", [0.0, -1.0, math.inf, math.nan])
def test_what_scales_is_positive_and_finite(name, number):
    with pytest.raises(ValueError, match=name) as refusal:
        config(**{name: number})
    assert str(refusal.value) == f"{name} must be positive and finite; got {number}"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["attention_dropout", "residual_dropout", "feed_forward_dropout"])
@pytest.mark.parametrize("rate", [-0.1, 1.0, 1, math.nan])
def test_a_rate_of_dropout_lies_below_one(name, rate):
    with pytest.raises(ValueError, match=name) as refusal:
        config(**{name: rate})
    assert str(refusal.value) == f"{name} must lie in [0, 1); got {rate}"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["placement", "norm", "positions", "residual_scaling", "initialization"])
def test_an_unknown_word_is_refused_with_those_there_are(name):
    with pytest.raises(ValueError, match=name) as refusal:
        config(**{name: "other"})
    assert str(refusal.value) == f"{name} must be one of {', '.join(CHOICES[name])}; got 'other'"


@pytest.mark.usefixtures("unchecked")
def test_the_least_of_everything_is_a_block():
    least = BlockConfig(d_model=1, n_heads=1, d_ff=1, n_kv_heads=1, eps=1, residual_dropout=0)
    assert (least.d_model, least.kv_heads, least.eps, least.residual_dropout) == (1, 1, 1, 0)
