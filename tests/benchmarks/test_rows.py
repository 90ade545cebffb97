"""What is timed against each other computes the same."""

import pytest
from benchmarks.contenders import D, EncoderLayer, Evaluation, F, Training, in_numpy, in_torch, tokens
from benchmarks.rows import ROWS, cached_token, growth

from tests.transformer_block.numerics import relative_error

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.slow
def test_both_contenders_of_a_row_take_a_sample(row):
    ours, reference, per = row.contest()
    assert ours() > 0
    assert reference() > 0
    assert per >= 1


def test_the_three_blocks_compute_the_same():
    ours, theirs = (Evaluation(module)().numpy() for module in (in_torch(), EncoderLayer()))
    assert relative_error(ours, theirs) < 1e-5
    assert relative_error(in_numpy()(tokens()), theirs) < 1e-5


def test_training_leaves_the_same_gradients_however_often():
    ours, theirs = Training(in_torch()), Training(EncoderLayer())
    for step in (ours, theirs, ours, ours):
        step()
    _, backward = in_numpy().vjp(tokens())
    dx, gradients = backward(tokens(seed=2))
    for mine in (ours.x.grad.numpy(), dx):
        assert relative_error(mine, theirs.x.grad.numpy()) < 1e-5
    expected = theirs.module.layer.linear1.weight.grad.numpy()
    for mine in (ours.module.feed_forward.up.weight.grad.numpy(), gradients["feed_forward.up.weight"]):
        assert relative_error(mine, expected) < 1e-5


def test_the_cached_tokens_stand_around_position_1024():
    contender = cached_token.CachedToken()
    contender()
    assert contender.prefix.shape[1] == 1020
    assert contender.cache.length == 1028
    assert [step.shape[1] for step in contender.steps] == [1] * 8


def test_the_count_of_operations_is_that_of_the_products():
    length = 3
    linear = 2 * length * (4 * D**2 + 2 * D * F)
    scores_and_values = sum(2 * 2 * D * (t + 1) for t in range(length))
    assert growth.flops(length) == linear + scores_and_values
