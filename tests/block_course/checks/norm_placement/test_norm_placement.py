"""The exercises on norm placement: what counts as right agrees with the package's blocks and stacks."""

from functools import partial

import numpy as np
import pytest

from block_course.checks import exercise
from block_course.checks.block.parameters import split_arguments
from block_course.checks.norm_placement.post_reference import post_block
from block_course.checks.norm_placement.post_weights_in_pre import PAIRS
from block_course.checks.norm_placement.right import differ, exponents, load, sandwich
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.in_numpy.layer_norm import layer_norm
from transformer_block.in_numpy.stack import Stack
from transformer_block.parameters import initialize, initialize_stack, shapes

SIZES = {"d_model": 6, "n_heads": 2, "d_ff": 10}


def cases(id):
    return exercise(id).cases(np.random.default_rng(0))


def run(x, n_heads, placement, parameters):
    """The package's own block, in float64."""
    sizes = {"d_model": x.shape[-1], "n_heads": n_heads}
    d_ff = len(parameters["feed_forward.up.bias"])
    config = BlockConfig(**sizes, d_ff=d_ff, placement=placement)
    given = {name: value.astype(np.float64) for name, value in parameters.items()}
    return Block(config, given)(x.astype(np.float64))


def test_the_post_norm_reference_is_the_packages_block() -> None:
    for case in cases("norm_placement.post"):
        x, n_heads, drawn = split_arguments(case.arguments)

        right = post_block(x, n_heads, **drawn)
        np.testing.assert_allclose(right, run(x, n_heads, "post", drawn), atol=1e-12)


def test_the_blocks_differ_where_the_packages_blocks_do() -> None:
    for case in cases("norm_placement.differ"):
        x, n_heads, drawn = split_arguments(case.arguments)
        apart = np.abs(run(x, n_heads, "pre", drawn) - run(x, n_heads, "post", drawn))
        found = differ(x, n_heads, **drawn)

        np.testing.assert_allclose(found["largest"], apart.max(), rtol=1e-12)
        assert apart[found["token"], found["feature"]] == apart.max()


def test_the_sandwich_is_made_of_the_packages_parts() -> None:
    for case in cases("norm_placement.sandwich"):
        given = {name: value.astype(np.float64) for name, value in case.arguments.items()}
        read = layer_norm(given["x"], given["gain_in"], given["bias_in"])
        update = feed_forward(read, given["up"], None, given["down"], None)
        right = given["x"] + layer_norm(update, given["gain_out"], given["bias_out"])

        np.testing.assert_allclose(sandwich(**given), right, atol=1e-12)


def test_the_exponents_are_those_of_a_fitted_line() -> None:
    for case in cases("norm_placement.trend"):
        depths, gradients = case.arguments["depths"], case.arguments["gradients"].astype(np.float64)
        fitted = np.polyfit(np.log(depths), np.log(gradients).T, 1)[0]

        np.testing.assert_allclose(exponents(depths, gradients), fitted, atol=1e-12)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_loading_ends_as_it_does_in_the_package(source, target) -> None:
    saved, wanted = (BlockConfig(**SIZES, n_layers=3, placement=each) for each in (source, target))
    expected = load(source, target, 3)
    x = np.random.default_rng(0).normal(size=(4, 6))

    def ending(build, parameters):
        try:
            y = build(wanted)(parameters)(x)
        except ValueError:
            return "error"
        return "same" if np.allclose(y, build(saved)(parameters)(x)) else "other"

    in_a_block, in_a_stack = initialize(saved, 0), initialize_stack(saved, 0)
    names = set(initialize_stack(wanted, 0))
    assert len(names - set(in_a_stack)) == expected["missing"]
    assert len(set(in_a_stack) - names) == expected["unexpected"]
    assert ending(lambda config: partial(Block, config), in_a_block) == expected["block"]
    assert ending(lambda config: partial(Stack, config), in_a_stack) == expected["stack"]
    assert (set(shapes(saved)) == set(shapes(wanted))) is (expected["block"] != "error")
