import numpy as np
import pytest
import torch
from torch import nn

from tests.transformer_block.numerics import D, F, small_config
from transformer_block.parameters import check, initialize, perturb, shapes

CONFIG = small_config()
MATRICES = [name for name, shape in shapes(CONFIG).items() if len(shape) == 2]


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


def test_initialization_has_the_shapes_in_float64():
    parameters = initialize(CONFIG, seed=1)
    assert {name: value.shape for name, value in parameters.items()} == shapes(CONFIG)
    assert {value.dtype for value in parameters.values()} == {np.dtype(np.float64)}


def test_norms_start_as_the_identity_and_biases_at_zero():
    for name, value in initialize(CONFIG, seed=1).items():
        if name in ("norm_1.weight", "norm_2.weight"):
            np.testing.assert_array_equal(value, 1)
        elif name.endswith("bias"):
            np.testing.assert_array_equal(value, 0)


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_fill_the_range_of_xavier_uniform(name):
    config = small_config(d_model=48, n_heads=3, d_ff=80)
    matrix = initialize(config, seed=1)[name]
    drawn_by_torch = nn.init.xavier_uniform_(torch.empty(matrix.shape, dtype=torch.float64))
    bound = np.sqrt(6 / sum(matrix.shape))
    assert np.abs(drawn_by_torch.numpy()).max() <= bound
    assert 0.99 * bound < np.abs(matrix).max() <= bound
    assert abs(matrix.std() / (bound / np.sqrt(3)) - 1) < 0.05


def test_the_same_seed_draws_the_same_and_another_seed_something_else():
    first, again, other = (initialize(CONFIG, seed) for seed in (3, 3, 4))
    for name in MATRICES:
        np.testing.assert_array_equal(first[name], again[name])
        assert not np.array_equal(first[name], other[name])


def test_a_tensor_does_not_depend_on_the_sizes_of_the_others():
    narrow, wide = (initialize(small_config(d_ff=d_ff), seed=1) for d_ff in (7, 70))
    np.testing.assert_array_equal(narrow["attention.out.weight"], wide["attention.out.weight"])


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
    noise = (
        perturb(parameters, seed=2, scale=0.3)["attention.qkv.weight"] - parameters["attention.qkv.weight"]
    )
    assert abs(noise.std() / 0.3 - 1) < 0.05
    assert abs(noise.mean()) < 0.01


def test_perturbing_draws_anew_and_not_what_initialization_drew():
    config = small_config(d_model=48, n_heads=3, d_ff=80)
    matrix = initialize(config, seed=1)["attention.qkv.weight"]
    noise = perturb({"attention.qkv.weight": matrix}, seed=1)["attention.qkv.weight"] - matrix
    assert abs(np.corrcoef(matrix.ravel(), noise.ravel())[0, 1]) < 0.05


def test_perturbing_keeps_the_dtype():
    half = {"norm_1.weight": np.ones(D, np.float16)}
    assert perturb(half, seed=1)["norm_1.weight"].dtype == np.float16


def test_the_parameters_of_a_config_pass_its_check():
    check(CONFIG, perturb(initialize(CONFIG, seed=1), seed=2))


def test_every_tensor_at_fault_is_named():
    parameters = initialize(CONFIG, seed=1)
    del parameters["norm_1.bias"]
    parameters["norm_3.bias"] = np.zeros(D)
    parameters["feed_forward.up.weight"] = np.zeros((D, F))
    with pytest.raises(ValueError, match=r"norm_1\.bias") as refusal:
        check(CONFIG, parameters)
    assert str(refusal.value) == (
        "norm_1.bias is missing; norm_3.bias is not a parameter of this block; "
        "feed_forward.up.weight must have shape (7, 12); got (12, 7)"
    )


def test_integers_are_no_parameters():
    parameters = initialize(CONFIG, seed=1) | {"norm_2.weight": np.ones(D, int)}
    with pytest.raises(TypeError, match=r"norm_2\.weight needs a floating dtype; got int64"):
        check(CONFIG, parameters)


def test_parameters_of_two_dtypes_are_refused():
    parameters = initialize(CONFIG, seed=1) | {"norm_2.weight": np.ones(D, np.float32)}
    with pytest.raises(TypeError, match="the parameters must share one dtype; got float32, float64"):
        check(CONFIG, parameters)
