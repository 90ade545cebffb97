"""Which output hears which input: the two measurements, on maps whose answer is known and on blocks."""

import numpy as np
import pytest
import torch

from tests.transformer_block.numerics import B, D, H, S, T, normal, random_parameters, small_config
from transformer_block.dependence import by_gradient, by_perturbation, reachable
from transformer_block.in_numpy.block import Block
from transformer_block.in_numpy.layer_norm import layer_norm
from transformer_block.in_numpy.masks import causal_mask, padding_mask
from transformer_block.in_numpy.stack import Stack
from transformer_block.in_torch import block as in_torch
from transformer_block.parameters import initialize_stack, perturb

POSITIONS, SOURCES, WIDTH = 4, 7, 3


def mixing(seed: int) -> np.ndarray:
    """A (POSITIONS, SOURCES) matrix with about half of its entries 0."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(POSITIONS, SOURCES)) * (rng.random((POSITIONS, SOURCES)) < 0.5)


def test_a_change_moves_the_outputs_that_a_linear_map_mixes_it_into():
    weights = mixing(1)

    moved = by_perturbation(lambda x: weights @ x, normal(2, B, SOURCES, WIDTH))

    assert moved.shape == (B, POSITIONS, SOURCES)
    np.testing.assert_array_equal(moved > 0, np.broadcast_to(weights != 0, moved.shape))


def test_the_size_of_a_change_is_the_largest_over_the_features():
    # all columns of the noise are the same for two sources: their ratio is that of the weights
    weights, x = np.array([[3.0, 0.5]]), normal(3, 2, WIDTH)

    moved = by_perturbation(lambda x: weights @ x, x, seed=5)

    noise = np.random.default_rng(5).normal(size=(2, WIDTH))
    np.testing.assert_allclose(moved, weights * np.abs(noise).max(axis=-1), rtol=1e-12)


def test_the_change_is_scaled_and_seeded():
    weights, x = mixing(4), normal(5, SOURCES, WIDTH)

    small, large = (by_perturbation(lambda x: weights @ x, x, scale=scale) for scale in (0.5, 2.0))
    other = by_perturbation(lambda x: weights @ x, x, scale=0.5, seed=1)

    np.testing.assert_allclose(4 * small, large, atol=1e-12)
    assert np.abs(small - other).max() > 0.01


def test_each_item_and_position_gets_noise_of_its_own():
    x = normal(6, B, SOURCES, WIDTH)

    moved = by_perturbation(lambda x: x, x)

    own = np.diagonal(moved, axis1=-2, axis2=-1)
    assert len(np.unique(own)) == B * SOURCES


def test_a_layer_norm_cannot_hide_the_change():
    moved = by_perturbation(layer_norm, normal(7, SOURCES, WIDTH))

    np.testing.assert_array_equal(moved > 0.01, np.eye(SOURCES, dtype=bool))


def test_the_input_is_left_as_it_was_and_keeps_its_dtype():
    x = normal(8, SOURCES, WIDTH, dtype=np.float32)
    before, seen = x.copy(), []

    by_perturbation(lambda x: seen.append(x.dtype) or x, x)

    np.testing.assert_array_equal(x, before)
    assert set(seen) == {np.dtype(np.float32)}


def test_a_gradient_arrives_at_the_inputs_that_a_linear_map_reads():
    weights = mixing(9)

    arrived = by_gradient(lambda dy: weights.T @ dy, normal(10, B, POSITIONS, WIDTH))

    assert arrived.shape == (B, POSITIONS, SOURCES)
    np.testing.assert_array_equal(arrived > 0, np.broadcast_to(weights != 0, arrived.shape))


def test_the_size_of_a_gradient_is_the_largest_over_the_features():
    weights = mixing(11)

    arrived = by_gradient(lambda dy: weights.T @ dy, normal(12, POSITIONS, WIDTH), seed=3)

    g = np.random.default_rng(3).normal(size=(POSITIONS, WIDTH))
    np.testing.assert_allclose(arrived, np.abs(weights) * np.abs(g).max(axis=-1)[:, None], rtol=1e-12)


@pytest.mark.parametrize("placement", ["pre", "post", "sandwich", "parallel"])
def test_both_measurements_find_a_causal_block_lower_triangular(placement):
    config = small_config(causal=True, placement=placement)
    block, x = Block(config, random_parameters(config)), normal(13, B, T, D)
    y, backward = block.vjp(x)

    moved = by_perturbation(block, x)
    arrived = by_gradient(lambda dy: backward(dy)[0], y)

    for table in (moved, arrived):
        np.testing.assert_array_equal(table > 0, np.broadcast_to(causal_mask(T), (B, T, T)))


def test_each_item_of_a_batch_has_a_table_of_its_own():
    config = small_config()
    block, visible = Block(config, random_parameters(config)), padding_mask([T, 2], T)

    moved = by_perturbation(lambda x: block(x, visible), normal(14, 2, T, D))

    np.testing.assert_array_equal(moved > 0, reachable(np.broadcast_to(visible, (2, T, T))))


def test_a_memory_is_measured_against_the_positions_that_read_it():
    config = small_config(causal=True, cross_attention=True)
    block, visible = Block(config, random_parameters(config)), padding_mask([S, 4], S)
    x, memory = normal(15, 2, T, D), normal(16, 2, S, D)
    y, backward = block.vjp(x, memory=memory, memory_visible=visible)

    moved = by_perturbation(lambda memory: block(x, memory=memory, memory_visible=visible), memory)
    arrived = by_gradient(lambda dy: backward(dy)[1]["memory"], y)

    for table in (moved, arrived):
        np.testing.assert_array_equal(table > 0, np.broadcast_to(visible, (2, T, S)))


def test_autograd_measures_the_same_table_as_the_backward_by_hand():
    config = small_config(causal=True)
    parameters, x = random_parameters(config), normal(17, B, T, D)
    y, backward = Block(config, parameters).vjp(x)
    leaf = torch.tensor(x, requires_grad=True)
    theirs = in_torch.Block(config, parameters)(leaf)

    def by_autograd(dy):
        return torch.autograd.grad(theirs, leaf, torch.tensor(dy), retain_graph=True)[0].numpy()

    np.testing.assert_allclose(
        by_gradient(by_autograd, theirs.detach().numpy()),
        by_gradient(lambda dy: backward(dy)[0], y),
        atol=1e-12,
    )


@pytest.mark.parametrize(("window", "n_layers"), [(2, 1), (2, 3), (3, 2)])
def test_a_window_reaches_back_by_one_less_than_itself_in_each_layer(window, n_layers):
    positions = 9

    reach = reachable(causal_mask(positions, window=window), n_layers)

    np.testing.assert_array_equal(reach, causal_mask(positions, window=1 + n_layers * (window - 1)))


def test_a_stack_hears_what_is_reachable():
    config = small_config(n_layers=3)
    stack = Stack(config, perturb(initialize_stack(config, 18), 18))
    visible = np.random.default_rng(19).random((S, S)) < 0.15

    moved = by_perturbation(lambda x: stack(x, visible), normal(20, S, D))

    reach = reachable(visible, 3)
    assert reachable(visible).sum() < reach.sum() < S * S
    np.testing.assert_array_equal(moved > 0, reach)


def test_a_position_hears_itself_even_where_the_mask_hides_it():
    assert reachable(np.zeros((H, H), bool)).tolist() == np.eye(H, dtype=bool).tolist()


def test_no_layer_reaches_nothing():
    with pytest.raises(ValueError, match="n_layers must be at least 1; got 0"):
        reachable(causal_mask(T), 0)


def test_an_output_that_is_not_finite_is_refused_and_not_taken_for_silence():
    def spoiled(x):
        return np.where(np.arange(WIDTH) == 1, np.nan, x)

    with pytest.raises(ValueError, match=f"{SOURCES} of {SOURCES * WIDTH} values are not finite"):
        by_perturbation(spoiled, normal(21, SOURCES, WIDTH))


def test_an_output_that_a_change_makes_infinite_is_refused():
    x = normal(22, SOURCES, WIDTH)

    with pytest.raises(ValueError, match=f"1 of {SOURCES * WIDTH} values are not finite"):
        by_perturbation(lambda moved: np.where((x != moved) & (x == x[2, 1]), np.inf, moved), x)


def test_a_gradient_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="values are not finite"):
        by_gradient(lambda dy: np.full_like(dy, np.nan), normal(23, POSITIONS, WIDTH))


def test_an_output_behind_other_batch_axes_is_refused():
    with pytest.raises(ValueError, match=r"the function's batch must have shape \(2,\); got \(\)"):
        by_perturbation(lambda x: x[0], normal(24, B, SOURCES, WIDTH))


def test_an_output_that_changes_its_shape_is_refused():
    x = normal(25, SOURCES, WIDTH)

    with pytest.raises(ValueError, match=r"the function's output must have shape \(7, 3\); got \(6, 3\)"):
        by_perturbation(lambda changed: changed if (changed == x).all() else changed[1:], x)


def test_a_gradient_behind_other_batch_axes_is_refused():
    with pytest.raises(ValueError, match=r"the gradient's batch must have shape \(2,\); got \(\)"):
        by_gradient(lambda dy: dy[0], normal(26, B, POSITIONS, WIDTH))
