"""Each wrong variant of a block is the block with one fault, to the last digit and whatever the choices."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.transformer_block.audit import faulty
from tests.transformer_block.audit.faulty import D, F, H
from transformer_block.audit import variants
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block
from transformer_block.parameters import initialize

# every kind of wrong block is run on several inputs; that shapes are right is what other tests show
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("unchecked")]

PLAIN = BlockConfig(d_model=D, n_heads=H, d_ff=F, eps=0.01)
CONFIGS = {
    "plain": PLAIN,
    "post, causal": replace(PLAIN, placement="post", causal=True),
    "no weights beside matrices": replace(
        PLAIN, attention_bias=False, feed_forward_bias=False, norm_weight=False
    ),
    "shared keys": replace(
        PLAIN, n_heads=6, n_kv_heads=2, causal=True, qk_norm=True, positions="rotary", rotary_base=30.0
    ),
    "rms": replace(PLAIN, norm="rms_norm", norm_bias=False, positions="rotary", rotary_base=70.0),
}
RNG = np.random.default_rng(5)
X = RNG.normal(size=(2, 5, D)) * [[[0.1]], [[1.0]]]
VISIBLE = RNG.random((2, 5, 5)) < 0.6
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


def parameters_of(config):
    """Random to the last bias and gain."""
    rng = np.random.default_rng(3)
    return {n: v + 0.5 * rng.normal(size=v.shape) for n, v in initialize(config, seed=0).items()}


def wrong(config, parameters):
    """The runs of each name, in the order in which they come."""
    found = {}
    for name, run in variants.wrong(config, parameters):
        found.setdefault(name, []).append(run)
    return found


def assert_same(run, formula):
    for visible in (None, VISIBLE):
        np.testing.assert_allclose(run(X, visible), formula(X, visible), rtol=1e-9, atol=1e-9)


@every_config
def test_the_formulas_without_a_fault_are_the_package_block(config):
    p = parameters_of(config)
    assert_same(variants.right(config, p), lambda x, visible: faulty.block(config, p, x, visible))


ONE_THING = {
    "sample_variance": {"formula": faulty.sample_variance},
    "eps_outside_the_root": {"formula": faulty.eps_outside},
    "statistics_over_time_and_features": {"formula": faulty.over_time},
    "no_residual": {"added": "nothing"},
    "normed_x_added": {"added": "read"},
    "heads_not_transposed_back": {"merge": faulty.laid_flat},
    "softmax_over_queries": {"weigh": faulty.over_queries},
    "mask_inverted": {"inverted": True},
    "scores_not_scaled": {"scale": 1.0},
    "scores_scaled_by_the_model_width": {"scale": math.sqrt(D)},
    "first_norm_reused": {"first_norm": True},
}


@every_config
@pytest.mark.parametrize("fault", ONE_THING)
def test_a_variant_is_the_block_with_its_fault_and_nothing_else(config, fault):
    p = parameters_of(config)
    runs = wrong(config, p).get(fault, [])
    has_norm = not (config.norm == "rms_norm" and "formula" in ONE_THING[fault])
    has_place = not (config.placement == "post" and fault == "normed_x_added")
    has_norms = not (not config.norm_weight and fault == "first_norm_reused")
    assert len(runs) == (has_norm and has_place and has_norms)
    for run in runs:
        assert_same(run, lambda x, visible: faulty.block(config, p, x, visible, **ONE_THING[fault]))


@every_config
def test_one_sequence_needs_no_batch_around_it(config):
    for name, run in variants.wrong(config, parameters_of(config)):
        np.testing.assert_allclose(run(X[0]), run(X[:1])[0], rtol=1e-9, atol=1e-9, err_msg=name)


@every_config
def test_biases_are_forgotten_where_there_are_any(config):
    p = parameters_of(config)
    without = {name: value for name, value in p.items() if not name.endswith("bias")}
    runs = wrong(config, p).get("biases_forgotten", [])
    assert len(runs) == (without != p)
    for run in runs:
        assert_same(run, lambda x, visible: faulty.block(config, without, x, visible))


def stands_at(row, order):
    """Where a reader who thinks that qkv is laid out in this order looks for a row of ours."""
    part, head, feature = np.unravel_index(row, (3, H, D // H))
    return np.ravel_multi_index(*order(part, head, feature))


ORDERS = [
    lambda part, head, feature: (([1, 0, 2][part], head, feature), (3, H, D // H)),
    lambda part, head, feature: (([2, 0, 1][part], head, feature), (3, H, D // H)),
    lambda part, head, feature: ((head, part, feature), (H, 3, D // H)),
]


@every_config
def test_queries_keys_and_values_are_read_in_three_other_orders(config):
    p = parameters_of(config)
    runs = wrong(config, p).get("qkv_in_another_order", [])
    assert len(runs) == (3 if config.kv_heads == config.n_heads else 0)
    for run, order in zip(runs, ORDERS, strict=bool(runs)):
        rows = [stands_at(row, order) for row in range(3 * D)]
        assert_same(run, lambda x, visible, rows=rows: faulty.block(config, p, x, visible, rows=rows))


CHANGES = [
    (PLAIN, "post_norm", [{"placement": "post"}]),
    (PLAIN, "pre_norm", []),
    (PLAIN, "another_eps", [{"eps": eps} for eps in (1e-3, 1e-5, 1e-6, 1e-8, 1e-12)]),
    (replace(PLAIN, eps=1e-6), "another_eps", [{"eps": eps} for eps in (1e-3, 1e-5, 1e-8, 1e-12)]),
    (PLAIN, "another_activation", [{"activation": name} for name in ("gelu", "gelu_tanh", "silu")]),
    (replace(PLAIN, activation="swiglu"), "another_activation", [{"activation": "geglu"}]),
    (PLAIN, "causal_mask_missing", []),
    (replace(PLAIN, causal=True), "causal_mask_missing", [{"causal": False}]),
    (PLAIN, "other_positions", [{"positions": "rotary"}]),
    (CONFIGS["rms"], "other_positions", [{"positions": "none"}]),
    (replace(PLAIN, n_heads=4), "other_positions", []),
    (replace(PLAIN, placement="post", residual_scaling="deep_norm"), "pre_norm", [{}]),
    (replace(PLAIN, placement="post", residual_scaling="deep_norm"), "post_norm", [{"placement": "post"}]),
    (replace(PLAIN, residual_scaling="rezero"), "pre_norm", []),
    (replace(PLAIN, placement="parallel"), "post_norm", []),
]


@pytest.mark.parametrize(("config", "name", "changes"), CHANGES)
def test_another_choice_is_tried_where_the_parameters_fit_it(config, name, changes):
    p = parameters_of(config)
    plain = {"placement": "pre", "residual_scaling": "none"} if name.endswith("_norm") else {}
    runs = wrong(config, p).get(name, [])
    assert len(runs) == len(changes)
    for run, change in zip(runs, changes, strict=True):
        other = Block(replace(config, **plain | change), p)
        assert np.array_equal(run(X, VISIBLE), other(X, VISIBLE))


def test_faults_are_tried_from_the_most_special_to_the_most_common():
    names = [*wrong(replace(PLAIN, causal=True), parameters_of(PLAIN))]
    assert names == [
        "sample_variance",
        "eps_outside_the_root",
        "statistics_over_time_and_features",
        "no_residual",
        "normed_x_added",
        "heads_not_transposed_back",
        "softmax_over_queries",
        "mask_inverted",
        "scores_not_scaled",
        "scores_scaled_by_the_model_width",
        "first_norm_reused",
        "biases_forgotten",
        "qkv_in_another_order",
        "post_norm",
        "another_eps",
        "another_activation",
        "causal_mask_missing",
        "other_positions",
    ]


OTHERS = {
    "sandwich": {"placement": "sandwich"},
    "parallel": {"placement": "parallel"},
    "deep norm": {"placement": "post", "residual_scaling": "deep_norm"},
    "layer scale": {"residual_scaling": "layer_scale"},
    "decoder": {"cross_attention": True},
}


@pytest.mark.parametrize("choices", OTHERS.values(), ids=OTHERS)
def test_all_else_is_as_the_configuration_says(choices):
    """Scores that are not scaled are those of queries √K times as large."""
    config = replace(PLAIN, **choices)
    p = parameters_of(config)
    large = {n: v.copy() for n, v in p.items()}
    for name in ("attention.qkv.weight", "attention.qkv.bias"):
        large[name][:D] *= math.sqrt(D / H)
    given = {"memory": RNG.normal(size=(2, 4, D))} if config.cross_attention else {}
    (run,) = wrong(config, p)["scores_not_scaled"]
    expected = Block(config, large)(X, VISIBLE, **given)
    np.testing.assert_allclose(run(X, VISIBLE, **given), expected, rtol=1e-9, atol=1e-9)


def test_parameters_that_are_not_those_of_the_block_are_refused():
    p = parameters_of(PLAIN)
    del p["norm_2.bias"]
    with pytest.raises(ValueError, match=r"norm_2\.bias"):
        variants.right(PLAIN, p)
