"""Sequences are not mixed, and a block without positions does not know the order of its tokens."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from transformer_block.audit import Facts, Row
from transformer_block.audit.mixing import batch, permutation
from transformer_block.audit.subject import B, Subject, T, tokens
from transformer_block.audit.torch_subject import TorchSubject

D = 6
FACTS = Facts(d_model=D, framework="numpy", causal=False)
GOOD = "no sequence moved when the others of its batch changed or changed places"
BAD = "a sequence moved when the others of its batch changed or changed places, "


def rounding_of(subject):
    return subject.rounding(tokens(subject))


def test_a_block_that_keeps_its_sequences_apart_moves_none():
    subject = Subject(lambda x: x, FACTS)
    assert batch(subject) == Row("batch", "held", GOOD, 0.0, rounding_of(subject), {"eval": 0.0})


@pytest.mark.parametrize("share", [0.5, -0.5])
def test_a_share_of_the_others_is_measured_whatever_its_sign(share):
    def mixed(x):
        return x + share * (x.mean(0) - x / len(x))

    row = batch(Subject(mixed, FACTS))
    noise = tokens(Subject(mixed, FACTS), 4)[1:]
    assert (row.state, row.sentence) == ("broken", BAD + "in evaluation")
    assert row.number == pytest.approx(abs(share) * np.abs(noise.sum(0)).max() / B)


def test_a_sequence_that_knows_its_place_in_the_batch_is_noticed():
    def placed(x):
        return x + np.arange(len(x))[:, None, None]

    assert batch(Subject(placed, FACTS)).number == B - 1


def test_others_that_change_by_their_own_double_are_changed_in_more_than_their_size():
    """A norm can't see tokens that are twice what they were."""

    def directions(x):
        return x + (x / np.linalg.norm(x, axis=-1, keepdims=True)).mean(0)

    assert batch(Subject(directions, FACTS)).number > 0.1


class MixesInTraining(torch.nn.Module):
    def forward(self, x):
        return x + x.mean(0) if self.training else x


def test_the_mode_in_which_sequences_are_mixed_is_named():
    row = batch(TorchSubject(MixesInTraining(), Facts(d_model=D)))
    assert row.sentence == BAD + "in training"
    assert row.evidence == {"eval": 0.0, "train": row.number}


def weighted(x):
    return x * np.arange(1.0, x.shape[1] + 1)[:, None]


def moved_by_weights(subject):
    """An order drawn at random, and how far what is weighted by its place lies from itself."""
    order = np.random.default_rng(0).permutation(T)
    x = tokens(subject)
    return np.abs((np.arange(T) - order)[:, None] * x[:, order]).max()


def test_tokens_without_positions_keep_their_outputs():
    subject = Subject(lambda x: x, FACTS)
    good = "tokens that changed places kept their outputs"
    assert permutation(subject) == Row("permutation", "held", good, 0.0, rounding_of(subject))


def test_a_block_that_is_said_to_have_no_positions_is_held_to_it():
    subject = Subject(weighted, replace(FACTS, positions="none"))
    bad = "tokens that changed places did not keep their outputs, though the block has no positions"
    row = permutation(subject)
    assert (row.contract, row.state, row.sentence, row.evidence) == ("permutation", "broken", bad, {})
    assert row.number == pytest.approx(moved_by_weights(subject))
    assert row.threshold == subject.rounding(weighted(tokens(subject)))


def test_a_block_of_which_nothing_is_said_may_have_positions():
    subject = Subject(weighted, FACTS)
    why = (
        "it knows the order of its tokens, by positions inside or by a fault; "
        "Facts(positions='none') would make it a contract"
    )
    evidence = {"moved": pytest.approx(moved_by_weights(subject))}
    assert permutation(subject) == Row("permutation", "not applicable", why, evidence=evidence)


def test_a_move_that_rounding_explains_is_no_order():
    allowed = Subject(abs, FACTS).rounding(np.zeros(1))

    def at_the_edge(x):
        moved = np.zeros_like(x)
        moved[:, 0] = allowed
        return moved

    row = permutation(Subject(at_the_edge, FACTS))
    assert (row.state, row.number, row.threshold) == ("held", allowed, allowed)


@pytest.mark.parametrize("positions", ["relative", "added"])
def test_positions_tell_the_order(positions):
    row = permutation(Subject(weighted, replace(FACTS, positions=positions)))
    assert row == Row("permutation", "not applicable", "its positions tell the order of its tokens")


def test_a_causal_block_tells_the_order():
    row = permutation(Subject(weighted, replace(FACTS, causal=True)))
    assert row == Row("permutation", "not applicable", "a causal block knows the order of its tokens")


class KnowsOrderInTraining(torch.nn.Module):
    def forward(self, x):
        return x.cumsum(1) if self.training else x


def test_the_order_is_asked_for_in_evaluation():
    assert permutation(TorchSubject(KnowsOrderInTraining(), Facts(d_model=D, causal=False))).state == "held"
