import math

import numpy as np
import pytest

from tests.transformer_block.choices import COVERING, config_of, name_of
from tests.transformer_block.numerics import D, F, K, small_config
from transformer_block.config import BlockConfig
from transformer_block.initialization import stream_of
from transformer_block.parameters import (
    initialize,
    initialize_stack,
    perturb,
    shapes,
    stack_shapes,
    within,
)

CONFIG = small_config()
NORMS = {"norm_1.weight": (D,), "norm_1.bias": (D,), "norm_2.weight": (D,), "norm_2.bias": (D,)}
MATRICES = [name for name, shape in shapes(CONFIG).items() if len(shape) == 2]


def added_by(**choices):
    """What a choice adds to the plain block, and what it takes away."""
    before, after = shapes(CONFIG), shapes(small_config(**choices))
    added = {name: shape for name, shape in after.items() if before.get(name) != shape}
    return added, before.keys() - after.keys()


def test_names_and_shapes_are_those_of_pytorch():
    assert list(shapes(CONFIG).items()) == [
        ("norm_1.weight", (D,)),
        ("norm_1.bias", (D,)),
        ("attention.qkv.weight", (3 * D, D)),
        ("attention.qkv.bias", (3 * D,)),
        ("attention.out.weight", (D, D)),
        ("attention.out.bias", (D,)),
        ("norm_2.weight", (D,)),
        ("norm_2.bias", (D,)),
        ("feed_forward.up.weight", (F, D)),
        ("feed_forward.up.bias", (F,)),
        ("feed_forward.down.weight", (D, F)),
        ("feed_forward.down.bias", (D,)),
    ]


@pytest.mark.parametrize(
    ("choices", "added", "removed"),
    [
        (
            {"n_kv_heads": 1},
            {"attention.qkv.weight": (D + 2 * K, D), "attention.qkv.bias": (D + 2 * K,)},
            set(),
        ),
        ({"qk_norm": True}, {"attention.q_norm.weight": (K,), "attention.k_norm.weight": (K,)}, set()),
        ({"norm": "rms_norm"}, {}, {"norm_1.bias", "norm_2.bias"}),
        ({"norm_weight": False}, {}, set(NORMS)),
        ({"norm_weight": False, "norm_bias": True}, {}, {"norm_1.weight", "norm_2.weight"}),
        ({"norm_bias": False}, {}, {"norm_1.bias", "norm_2.bias"}),
        ({"attention_bias": False}, {}, {"attention.qkv.bias", "attention.out.bias"}),
        ({"feed_forward_bias": False}, {}, {"feed_forward.up.bias", "feed_forward.down.bias"}),
        (
            {"activation": "swiglu"},
            {"feed_forward.gate.weight": (F, D), "feed_forward.gate.bias": (F,)},
            set(),
        ),
        (
            {"activation": "geglu", "feed_forward_bias": False},
            {"feed_forward.gate.weight": (F, D)},
            {"feed_forward.up.bias", "feed_forward.down.bias"},
        ),
        ({"placement": "post"}, {}, set()),
        (
            {"placement": "sandwich"},
            {name.replace(".", "_out."): shape for name, shape in NORMS.items()},
            set(),
        ),
        ({"placement": "parallel"}, {}, {"norm_2.weight", "norm_2.bias"}),
        ({"residual_scaling": "rezero"}, {"residual_1.weight": (1,), "residual_2.weight": (1,)}, set()),
        ({"residual_scaling": "layer_scale"}, {"residual_1.weight": (D,), "residual_2.weight": (D,)}, set()),
        ({"residual_scaling": "deep_norm", "placement": "post"}, {}, set()),
        ({"causal": True, "positions": "rotary", "n_layers": 5, "attention_dropout": 0.1}, {}, set()),
    ],
)
def test_each_choice_adds_its_own_parameters_and_no_others(choices, added, removed):
    assert added_by(**choices) == (added, removed)


def test_a_decoder_block_has_cross_attention_as_its_second_branch():
    names = list(
        shapes(small_config(cross_attention=True, n_kv_heads=1, qk_norm=True, residual_scaling="rezero"))
    )
    assert names[:9] == [
        "norm_1.weight",
        "norm_1.bias",
        "attention.qkv.weight",
        "attention.qkv.bias",
        "attention.out.weight",
        "attention.out.bias",
        "attention.q_norm.weight",
        "attention.k_norm.weight",
        "residual_1.weight",
    ]
    cross = shapes(small_config(cross_attention=True, n_kv_heads=1, qk_norm=True))
    assert {name: shape for name, shape in cross.items() if name.startswith(("cross", "norm_3"))} == {
        "cross_attention.q.weight": (D, D),
        "cross_attention.q.bias": (D,),
        "cross_attention.kv.weight": (2 * K, D),
        "cross_attention.kv.bias": (2 * K,),
        "cross_attention.out.weight": (D, D),
        "cross_attention.out.bias": (D,),
        "cross_attention.q_norm.weight": (K,),
        "cross_attention.k_norm.weight": (K,),
        "norm_3.weight": (D,),
        "norm_3.bias": (D,),
    }


def test_a_stack_numbers_its_blocks_and_ends_in_a_norm():
    config = small_config(n_layers=2)
    names = [f"blocks.{i}.{name}" for i in (0, 1) for name in shapes(config)]
    assert list(stack_shapes(config)) == [*names, "norm.weight", "norm.bias"]
    assert stack_shapes(config)["blocks.1.feed_forward.up.weight"] == (F, D)


@pytest.mark.parametrize(
    ("choices", "final"),
    [
        ({"placement": "post"}, {}),
        ({"placement": "sandwich"}, {"norm.weight": (D,), "norm.bias": (D,)}),
        ({"placement": "parallel", "norm": "rms_norm"}, {"norm.weight": (D,)}),
        ({"norm_weight": False}, {}),
    ],
)
def test_a_post_norm_stack_has_no_final_norm_and_others_have_one_of_their_kind(choices, final):
    stack = stack_shapes(small_config(**choices))
    assert {name: shape for name, shape in stack.items() if not name.startswith("blocks.")} == final


def test_gpt2s_blocks_have_the_parameters_that_are_published():
    config = BlockConfig(d_model=768, n_heads=12, d_ff=3072, n_layers=12, causal=True)
    sizes = [math.prod(shape) for shape in stack_shapes(config).values()]
    assert sum(sizes) == 85_054_464 + 2 * 768


@pytest.mark.parametrize("row", COVERING, ids=name_of)
def test_initialization_has_the_shapes_in_float64(row):
    config = config_of(row)
    for parameters, expected in (
        (initialize(config, seed=1), shapes(config)),
        (initialize_stack(config, seed=1), stack_shapes(config)),
    ):
        assert {name: value.shape for name, value in parameters.items()} == expected
        assert list(parameters) == list(expected)
        assert {value.dtype for value in parameters.values()} == {np.dtype(np.float64)}


def test_the_same_seed_draws_the_same_and_another_seed_something_else():
    first, again, other = (initialize(CONFIG, seed) for seed in (3, 3, 4))
    for name in MATRICES:
        np.testing.assert_array_equal(first[name], again[name])
        assert not np.array_equal(first[name], other[name])


def test_a_tensor_does_not_depend_on_the_sizes_of_the_others():
    narrow, wide = (initialize(small_config(d_ff=d_ff), seed=1) for d_ff in (7, 70))
    np.testing.assert_array_equal(narrow["attention.out.weight"], wide["attention.out.weight"])


def test_the_blocks_of_a_stack_start_apart():
    stack = initialize_stack(small_config(n_layers=2), seed=1)
    for name in MATRICES:
        assert not np.isin(stack[f"blocks.0.{name}"], stack[f"blocks.1.{name}"]).any()


def test_the_tensors_of_a_part_are_found_by_the_names_that_they_have_there():
    stack = initialize_stack(small_config(n_layers=12), seed=1)
    block = within(stack, "blocks.1")
    assert list(block) == list(shapes(CONFIG))
    assert block["attention.out.weight"] is stack["blocks.1.attention.out.weight"]
    assert within(stack, "norm") == {"weight": stack["norm.weight"], "bias": stack["norm.bias"]}
    assert within(stack, "block") == {}


def test_perturbing_moves_every_entry_and_leaves_the_arrays_given_alone():
    parameters = initialize(CONFIG, seed=1)
    before = {name: value.copy() for name, value in parameters.items()}
    moved = perturb(parameters, seed=1)
    for name, value in moved.items():
        assert (value != parameters[name]).all()
        np.testing.assert_array_equal(parameters[name], before[name])


def test_perturbing_adds_noise_of_the_scale_asked_for():
    config = small_config(d_model=48, n_heads=3, d_ff=80)
    parameters = initialize(config, seed=1)
    for scale, asked in ((0.1, {}), (0.3, {"scale": 0.3})):
        moved = perturb(parameters, seed=2, **asked)
        noise = moved["attention.qkv.weight"] - parameters["attention.qkv.weight"]
        assert abs(noise.std() / scale - 1) < 0.05
        assert abs(noise.mean()) < 0.01


def test_perturbing_draws_anew_and_not_what_initialization_drew():
    config = small_config(d_model=48, n_heads=3, d_ff=80)
    matrix = initialize(config, seed=1)["attention.qkv.weight"]
    noise = perturb({"attention.qkv.weight": matrix}, seed=1)["attention.qkv.weight"] - matrix
    assert abs(np.corrcoef(matrix.ravel(), noise.ravel())[0, 1]) < 0.05


def test_perturbing_adds_the_noise_of_each_tensors_own_stream():
    parameters = {"norm_1.weight": np.ones(D), "norm_2.bias": np.zeros(D)}
    moved = perturb(parameters, seed=5, scale=0.3)
    for name, value in parameters.items():
        noise = stream_of(f"{name} noise", 5).standard_normal(D)
        np.testing.assert_array_equal(moved[name], value + 0.3 * noise)


def test_perturbing_keeps_the_dtype():
    half = {"norm_1.weight": np.ones(D, np.float16)}
    assert perturb(half, seed=1)["norm_1.weight"].dtype == np.float16
