"""What comes back from a call, what it leaves alone, and what two calls must not share."""

import numpy as np
import pytest
import torch

from transformer_block.audit import Facts, Row
from transformer_block.audit.calling import buffer, determinism, in_place, shape
from transformer_block.audit.subject import B, Subject, T, tokens
from transformer_block.audit.torch_subject import TorchSubject

D = 6
FACTS = Facts(d_model=D, framework="numpy")
X = tokens(Subject(abs, FACTS))


def subject_of(block):
    return Subject(block, FACTS)


def test_all_of_a_batch_is_asked_for_and_parts_of_it():
    asked = []

    def block(x):
        asked.append(x)
        return x

    good = f"({B}, {T}, {D}) in, ({B}, {T}, {D}) out, all of it finite; other B and T as well"
    assert shape(subject_of(block)) == Row("shape", "held", good, 0.0, 0.0)
    for given, expected in zip(asked, (X, X[:1], X[:, :1], X[:, :4]), strict=True):
        np.testing.assert_array_equal(given, expected)


def test_what_is_not_finite_is_counted_over_all_that_was_asked():
    def first_token_alone(x):
        y = np.full_like(x, np.inf)
        y[:, 0] = 1
        return y

    count = D * (B * (T - 1) + (T - 1) + 3 * B)
    bad = f"{count} outputs are NaN or infinite on ordinary tokens"
    assert shape(subject_of(first_token_alone)) == Row("shape", "broken", bad, float(count), 0.0)


def test_one_output_that_is_not_finite_breaks_the_shape():
    def once(x):
        y = x.copy()
        y[1:2, 5:6, 3] = np.nan
        return y

    assert shape(subject_of(once)).number == 1


def test_tokens_that_are_left_alone():
    good = "the tokens passed in were left as they were"
    assert in_place(subject_of(lambda x: x * 2)) == Row("input kept", "held", good, 0.0, 0.0)


@pytest.mark.parametrize("share", [1e-9, 0.5])
def test_tokens_that_are_written_over_by_however_little(share):
    def writes(x):
        x *= 1 - share
        return x.copy()

    bad = "the tokens passed in were written over"
    row = in_place(subject_of(writes))
    assert (row.contract, row.state, row.sentence, row.threshold) == ("input kept", "broken", bad, 0.0)
    assert row.number == pytest.approx(share * np.abs(X).max())


class Buffered:
    """It gives one buffer at each call."""

    def __init__(self):
        self.buffer = np.zeros_like(X)

    def __call__(self, x):
        self.buffer[:] = x
        return self.buffer


def test_outputs_that_share_a_buffer_change_with_the_next_call():
    bad = "an output changed when the block ran again: both lie in one buffer"
    moved = np.abs(tokens(subject_of(abs), 1) - X).max()
    assert buffer(subject_of(Buffered())) == Row("output kept", "broken", bad, moved, 0.0)


def test_an_output_of_its_own_stays():
    good = "an output stayed as it was while the block ran again"
    assert buffer(subject_of(lambda x: x * 2)) == Row("output kept", "held", good, 0.0, 0.0)


class Drifting:
    """Each call adds a number to what it gives: those of the list, and then the last of them."""

    def __init__(self, *numbers):
        self.numbers, self.calls = numbers, 0

    def __call__(self, x):
        self.calls += 1
        return x + self.numbers[min(self.calls, len(self.numbers)) - 1]


@pytest.mark.parametrize("numbers", [(0, 4, 0), (0, 0, 4), (4, 0, 0), (0, 0, -4)])
def test_three_calls_are_compared_with_the_first(numbers):
    block = Drifting(*numbers)
    bad = "calls in evaluation with the same tokens gave different outputs"
    assert determinism(subject_of(block)) == Row("determinism", "broken", bad, 4.0, 0.0)
    assert block.calls == 3


def test_a_difference_smaller_than_1_is_one():
    assert determinism(subject_of(Drifting(0, 0.5))).state == "broken"


def test_calls_that_agree_to_the_last_bit():
    good = "three calls in evaluation gave the same output to the last bit"
    assert determinism(subject_of(lambda x: x * 2)) == Row("determinism", "held", good, 0.0, 0.0)


def test_a_block_that_gives_back_the_stream_it_draws_from_draws_at_random_all_the_same():
    def draws(x):
        state = np.random.get_state()
        drawn = np.random.normal()
        np.random.set_state(state)
        return x + drawn

    assert determinism(subject_of(draws)).state == "broken"


class DropsInTraining(torch.nn.Module):
    def forward(self, x):
        return torch.dropout(x, 0.5, self.training)


def test_chance_in_training_is_none_in_evaluation():
    assert determinism(TorchSubject(DropsInTraining().train(), Facts(d_model=D))).state == "held"
