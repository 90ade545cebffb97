"""Training without dropout computes what evaluation does, with a mask and without."""

import numpy as np
import pytest
import torch

from transformer_block.audit import Facts, Row
from transformer_block.audit.measures import hidden_keys, mask_of
from transformer_block.audit.modes import modes
from transformer_block.audit.subject import Subject, tokens
from transformer_block.audit.torch_subject import TorchSubject

D = 6
FACTS = Facts(d_model=D)
GOOD = "with dropout at 0, training gave what evaluation gave"
BAD = "with dropout at 0, training and evaluation gave different outputs"


class Module(torch.nn.Module):
    def __init__(self, forward):
        super().__init__()
        self.function, self.dropout = forward, torch.nn.Dropout(0.5)

    def forward(self, x, mask=None):
        return self.function(self, x, mask)


def subject_of(forward, **said):
    return TorchSubject(Module(forward), Facts(d_model=D, **said))


ALLOWED = 32 * 2.0**-23 * np.sqrt(D) * np.abs(tokens(Subject(abs, FACTS))).max()


@pytest.mark.parametrize("mask", ["", "mask"])
def test_a_block_that_drops_alone_is_the_same_in_both(mask):
    row = modes(subject_of(lambda self, x, mask: self.dropout(x), mask=mask))
    assert (row.contract, row.state, row.sentence, row.number) == ("train and eval", "held", GOOD, 0.0)
    assert row.threshold == pytest.approx(ALLOWED)
    assert row.evidence == {"without_mask": 0.0}


def test_another_output_in_training_is_measured():
    row = modes(subject_of(lambda self, x, mask: x + 0.25 * self.training))
    assert (row.state, row.sentence, row.number) == ("broken", BAD, 0.25)
    assert row.evidence == {"without_mask": 0.25}


@pytest.mark.parametrize("training", [True, False])
def test_a_mask_that_is_used_in_one_mode_alone_is_measured(training):
    given = []

    def in_one_mode(self, x, mask):
        if mask is None or self.training != training:
            return x
        given.append(mask.numpy())
        return x + 0.5

    subject = subject_of(in_one_mode, mask="mask")
    row = modes(subject)
    assert (row.state, row.number, row.evidence) == ("broken", 0.5, {"without_mask": 0.0})
    np.testing.assert_array_equal(given, [mask_of(hidden_keys(subject))])


@pytest.mark.parametrize("size", [1, 1e-3])
def test_what_is_drawn_at_random_and_can_not_be_turned_off_is_set_aside(size):
    row = modes(subject_of(lambda self, x, mask: x + self.training * size * torch.rand(())))
    why = "it draws at random in training, and that can't be turned off"
    assert row == Row("train and eval", "not applicable", why)


def test_a_block_that_gives_back_the_stream_it_draws_from_draws_at_random_all_the_same():
    def draws(self, x, mask):
        with torch.random.fork_rng():
            return x + self.training * torch.rand(())

    assert modes(subject_of(draws)).state == "not applicable"


def test_a_function_knows_no_training():
    row = modes(Subject(abs, Facts(d_model=D, framework="numpy")))
    assert row == Row("train and eval", "not applicable", "it knows no training mode")
