"""What contracts measure, on functions whose outputs follow from a formula."""

from itertools import product

import numpy as np
import pytest

from tests.transformer_block.audit.small import B, D, Recorded, T, modal, subject
from transformer_block.audit import Row
from transformer_block.audit.measures import (
    Heard,
    Moved,
    aside,
    distance,
    hears_later,
    hidden_keys,
    hidden_keys_move,
    in_each_mode,
    judged,
    mask_of,
    run,
    where,
)
from transformer_block.audit.subject import Unable

EPS = np.finfo(np.float64).eps
RNG = np.random.default_rng(0)
MIX = RNG.normal(size=(T, T))


def test_a_single_move_is_seen_on_its_side_of_the_diagonal():
    for t, s in product(range(T), repeat=2):
        table = np.zeros((T, T))
        table[t, s] = 0.75
        heard = Heard(table, rounding=0.5)
        assert heard.later == (0.75 if s > t else 0)
        assert heard.earlier == (0.75 if s < t else 0)
        assert heard.share == (1 / 21 if s > t else 0)  # of the 7 · 6 / 2 pairs above the diagonal
        assert heard.next_only is (s == t + 1)


@pytest.mark.parametrize("further", range(2, T))
def test_more_of_the_future_than_the_next_token_is_not_the_next_token_alone(further):
    table = np.eye(T, k=1)
    assert Heard(table, rounding=0.5).next_only
    table[0, further] = 1
    assert not Heard(table, rounding=0.5).next_only


def test_a_move_that_rounding_may_make_is_not_heard():
    heard = Heard(np.eye(T, k=1) / 2, rounding=0.5)
    assert (heard.share, heard.next_only) == (0, False)


def test_the_share_of_the_pairs_that_hear_each_other_counts_those_that_moved_more():
    table = np.random.default_rng(1).random((T, T))
    above = [table[t, s] for t in range(T) for s in range(t + 1, T)]
    assert Heard(table, rounding=0.25).share == sum(each > 0.25 for each in above) / len(above)


def test_a_block_is_run_with_what_it_is_given():
    block, x = Recorded(lambda x, visible: x * 2), RNG.normal(size=(B, T, D))
    visible = RNG.random((B, T, T)) < 0.5
    np.testing.assert_array_equal(run(subject(block, mask="visible"), x, visible), x * 2)
    np.testing.assert_array_equal(run(subject(block), x), x * 2)
    np.testing.assert_array_equal(block.inputs, [x, x])
    np.testing.assert_array_equal(block.masks[0], visible)
    assert block.masks[1] is None


def test_a_block_that_draws_at_random_draws_the_same_each_time():
    drawing, x = subject(lambda x: x + np.random.normal(size=x.shape)), RNG.normal(size=(B, T, D))
    first = run(drawing, x)
    assert not np.array_equal(first, x)
    np.testing.assert_array_equal(run(drawing, x), first)
    assert hears_later(drawing).later == 0


def test_who_hears_whom_is_as_strong_as_the_weights_of_a_linear_block():
    """A change of token s by δ moves output t by |w[t, s]| max |δ|, in a table from largest moves."""
    block = Recorded(lambda x, visible: MIX @ x)
    heard = hears_later(subject(block))
    noise = heard.table / np.abs(MIX)
    np.testing.assert_allclose(noise, np.broadcast_to(noise[:1], (T, T)), rtol=1e-10)
    x, *changed = block.inputs[: T + 1]
    np.testing.assert_allclose(noise[0], [np.abs(each - x).max() for each in changed], rtol=1e-10)
    assert len({*noise[0]}) == T
    np.testing.assert_allclose(heard.rounding, 32 * EPS * np.sqrt(D) * np.abs(MIX @ x).max(), rtol=1e-12)


def test_one_sequence_is_enough_to_show_that_it_hears_the_future():
    def block(x):
        return np.concatenate([x[:2], x[2:, ::-1]])

    heard = hears_later(subject(block))
    np.testing.assert_array_equal(heard.table > 0, np.eye(T) + np.eye(T)[::-1] > 0)


def test_hidden_keys_have_visible_tokens_on_both_sides_and_other_places_in_each_sequence():
    """At the end a causal block would not miss them; at one place a mask of another sequence would do."""
    hidden = hidden_keys(subject(abs))
    assert (hidden.shape, hidden.dtype) == ((B, T), bool)
    assert hidden.any(axis=1).all()
    assert not hidden[:, [0, -1]].any()
    assert hidden.sum(axis=0).max() == 1
    assert len({*hidden.sum(axis=1)}) == 2


@pytest.mark.parametrize("axes", ["BTS", "B1TS", "BS", "TS"])
def test_one_mask_for_all_sequences_hides_the_same_keys_in_each(axes):
    hidden, free = hidden_keys(subject(abs, mask_axes=axes)), hidden_keys(subject(abs))
    np.testing.assert_array_equal(hidden, free[[0, 0, 0]] if axes == "TS" else free)


def test_a_mask_of_padding_hides_a_key_from_every_query():
    hidden = RNG.random((B, T)) < 0.5
    visible = mask_of(hidden)
    assert visible.shape == (B, T, T)
    for b, t, s in product(range(B), range(T), range(T)):
        assert visible[b, t, s] == (not hidden[b, s])


def leaks(x, visible):
    """Each output hears what it sees, by the weights of MIX, and a little of what it doesn't."""
    seen = np.ones((B, T, T)) if visible is None else visible
    return x + (MIX * np.where(seen, 1, 0.1)) @ x


def moved_by(block, *, faulty=lambda y: y):
    """What was measured of a block, and the four runs that it was measured by."""
    recorded = Recorded(lambda x, visible: faulty(block(x, visible)))
    return hidden_keys_move(subject(recorded, mask="visible")), recorded


def largest(block, one, other, tokens):
    return max(np.abs(block.outputs[one][b, t] - block.outputs[other][b, t]).max() for b, t in tokens)


def test_visible_outputs_are_watched_while_hidden_tokens_change_and_while_the_first_does():
    moved, block = moved_by(leaks)
    hidden = hidden_keys(subject(abs))
    visible = [*zip(*np.nonzero(~hidden), strict=True)]
    behind = [(b, t) for b, t in visible if t > 0]
    expected = {
        "by_hidden": largest(block, 1, 0, visible),
        "by_visible": largest(block, 2, 0, behind),
        "by_mask": largest(block, 3, 0, visible),
        "rounding": 32 * EPS * np.sqrt(D) * np.abs(block.outputs[0]).max(),
    }
    assert len({*expected.values()}) == 4
    heard = {"heard_hidden": expected["by_hidden"], "heard_visible": expected["by_visible"]}
    assert moved._asdict() == pytest.approx(expected | heard, rel=1e-12)


def test_tokens_change_where_they_should_and_never_to_multiples_of_themselves():
    """A multiple of a token comes out of a norm as the token itself."""
    _, block = moved_by(leaks)
    x, by_hidden, by_first, unmasked = block.inputs
    hidden = hidden_keys(subject(abs))
    np.testing.assert_array_equal((by_hidden != x).any(axis=-1), hidden)
    np.testing.assert_array_equal((by_first != x).any(axis=-1), np.arange(T) == np.zeros((B, 1)))
    np.testing.assert_array_equal(unmasked, x)
    for changed in (by_hidden, by_first):
        tokens = changed[(changed != x).any(axis=-1)], x[(changed != x).any(axis=-1)]
        assert all(np.linalg.matrix_rank(pair, tol=0.1) == 2 for pair in zip(*tokens, strict=True))
    for mask in block.masks[:3]:
        np.testing.assert_array_equal(mask, mask_of(hidden))
    assert block.masks[3] is None


def test_what_is_measured_of_a_block_is_the_same_each_time():
    assert moved_by(leaks)[0] == moved_by(leaks)[0]
    first, second = (hears_later(subject(lambda x: MIX @ x)).table for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_outputs_that_are_not_finite_are_infinitely_far_and_the_others_are_still_heard():
    def one_is_not_a_number(y):
        y[0, 3, 2] = np.nan
        return y

    moved, clean = moved_by(leaks, faulty=one_is_not_a_number)[0], moved_by(leaks)[0]
    assert moved[:3] == (np.inf, np.inf, np.inf)
    assert 0 < moved.heard_hidden <= clean.heard_hidden
    assert 0 < moved.heard_visible <= clean.heard_visible
    lost = moved_by(leaks, faulty=lambda y: y * np.nan)[0]
    assert (lost.heard_hidden, lost.heard_visible) == (0, 0)


def test_a_block_that_hears_nobody_is_moved_by_nobody():
    moved, _ = moved_by(lambda x, visible: x / 64)
    assert moved == Moved(0, 0, 0, 0, 0, rounding=32 * EPS * np.sqrt(D))


def test_a_distance_is_the_largest_difference_and_nothing_between_no_values():
    one = np.array([[0.25, -0.5], [0.125, 0.0]])
    assert distance(one, one) == 0
    assert distance(one, one + np.array([[0, 0.25], [-0.375, 0.125]])) == 0.375
    assert distance(one[:0], one[:0]) == 0
    assert distance(one, np.full((2, 2), np.nan)) == distance(one, one[:1]) == np.inf


@pytest.mark.parametrize(
    ("number", "state", "sentence"),
    [(0.25, "held", "fine"), (0.5, "held", "fine"), (0.75, "broken", "a pity"), (np.nan, "broken", "a pity")],
)
def test_a_row_is_held_up_to_its_threshold(number, state, sentence):
    row = judged("any", number, 0.5, good="fine", bad="a pity", seen=["this"])
    assert row == Row("any", state, sentence, number, 0.5, {"seen": ["this"]})


def test_a_row_that_does_not_apply_says_why_and_measures_nothing():
    row = aside("any", Unable("no such thing"), seen=3)
    assert row == Row("any", "not applicable", "no such thing", None, None, {"seen": 3})


def test_a_mode_that_the_block_cannot_be_in_is_left_out():
    blocks = {"eval": np.positive, "calm": None, "train": np.negative}
    found = in_each_mode(modal(**blocks), lambda each: float(each.block(3.0)))
    assert found == {"eval": 3.0, "train": -3.0}


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((0.75, 0.5), "in evaluation"),
        ((0.5, 0.75), "in training"),
        ((0.75, np.nan), "in evaluation and in training"),
        ((0.5, 0.25), ""),
    ],
)
def test_the_modes_in_which_a_threshold_is_passed_are_named(numbers, words):
    assert where(dict(zip(("eval", "train"), numbers, strict=True)), 0.5) == words
