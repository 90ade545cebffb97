import numpy as np
import pytest

from tests.transformer_block.choices import COVERING, config_of, name_of
from tests.transformer_block.numerics import D, F, H, small_config
from transformer_block.parameters import check, check_stack, initialize, initialize_stack, perturb

CONFIG = small_config()


@pytest.mark.parametrize("row", COVERING, ids=name_of)
def test_the_parameters_of_a_config_pass_its_check(row):
    config = config_of(row)
    check(config, perturb(initialize(config, seed=1), seed=2))
    check_stack(config, perturb(initialize_stack(config, seed=1), seed=2))


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


def test_every_tensor_at_fault_in_a_stack_is_named():
    config = small_config(n_layers=2)
    parameters = initialize_stack(config, seed=1)
    del parameters["blocks.1.norm_1.bias"]
    parameters["blocks.2.norm_1.bias"] = np.zeros(D)
    parameters["norm.weight"] = np.zeros(H)
    with pytest.raises(ValueError, match=r"norm_1\.bias") as refusal:
        check_stack(config, parameters)
    assert str(refusal.value) == (
        "blocks.1.norm_1.bias is missing; blocks.2.norm_1.bias is not a parameter of this stack; "
        "norm.weight must have shape (12,); got (3,)"
    )


def test_integers_are_no_parameters():
    parameters = initialize(CONFIG, seed=1) | {"norm_2.weight": np.ones(D, int)}
    with pytest.raises(TypeError, match=r"norm_2\.weight needs a floating dtype; got int64"):
        check(CONFIG, parameters)


def test_parameters_of_two_dtypes_are_refused():
    parameters = initialize(CONFIG, seed=1) | {"norm_2.weight": np.ones(D, np.float32)}
    with pytest.raises(TypeError, match="the parameters must share one dtype; got float32, float64"):
        check(CONFIG, parameters)
