"""Gradients reach all that learns, and a saved state restores all that computes."""

import numpy as np
import pytest
import torch

from transformer_block.audit import Facts, Row
from transformer_block.audit.discovery import subject_of
from transformer_block.audit.learning import gradients, state

D = 6
WIDE = Facts(d_model=D, framework="numpy")


class Learns:
    """A block whose gradients are said beforehand; it keeps what it was asked with."""

    def __init__(self, dx=1.0, **learned):
        self.parameters = {"gain": np.ones(D)}
        self.dx, self.learned, self.asked = dx, learned, []

    def __call__(self, x):
        return x * self.parameters["gain"]

    def gradients(self, x, dy):
        self.asked.append((x, dy))
        return np.full(x.shape, self.dx), self.learned


def row_of(block):
    return gradients(subject_of(block, WIDE))


def test_all_that_has_a_gradient_is_counted():
    good = "finite and not 0 for the input and each of 2 parameters"
    row = row_of(Learns(a=np.ones(3), b=np.array([0.0, 2.0])))
    assert row == Row("gradients", "held", good, 0.0, 0.0, {"dead": [], "wild": []})


def test_what_is_0_or_missing_received_none_and_what_is_not_finite_is_named_apart():
    row = row_of(Learns(np.inf, a=None, b=np.zeros(2), c=np.array([np.nan, 1.0])))
    bad = "a, b received none; not finite for the input, c"
    evidence = {"dead": ["a", "b"], "wild": ["the input", "c"]}
    assert row == Row("gradients", "broken", bad, 4.0, 0.0, evidence)


def test_an_input_without_a_gradient_is_named_behind_the_parameters():
    assert row_of(Learns(0.0, a=None)).sentence == "a, the input received none"


@pytest.mark.parametrize(
    ("dead", "sentence"),
    [
        ("abcd", "a, b, c, d received none"),
        ("abcde", "a, b, c, d and 1 more received none"),
        ("abcdefg", "a, b, c, d and 3 more received none"),
    ],
)
def test_of_many_the_first_four_are_named(dead, sentence):
    assert row_of(Learns(**dict.fromkeys(dead))).sentence == sentence


def test_the_loss_is_random_the_same_each_time_and_not_made_of_the_tokens():
    block = Learns(a=np.ones(1))
    row_of(block), row_of(block)
    (x, dy), again = block.asked
    np.testing.assert_array_equal(again, (x, dy))
    assert abs(np.corrcoef(x.ravel(), dy.ravel())[0, 1]) < 0.3


def test_a_block_without_a_way_back_is_set_aside():
    assert row_of(lambda x: x) == Row("gradients", "not applicable", "it has no gradients")


class OnlyInTraining(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(D))

    def forward(self, x):
        return x * self.gain if self.training else x * 2


def test_gradients_are_those_of_training():
    assert gradients(subject_of(OnlyInTraining().eval(), Facts(d_model=D))).state == "held"


def test_a_state_is_loaded_into_a_copy_where_no_block_can_be_made_anew():
    good = "its state, loaded into a copy of other weights, gave the same outputs to the last bit"
    assert state(subject_of(Learns(), WIDE)) == Row("state", "held", good, 0.0, 0.0)


class Hidden(Learns):
    """What it computes with is not in its parameters, and is another number in each of them."""

    made = 0

    def __init__(self):
        super().__init__()
        Hidden.made += 1
        self.hidden = Hidden.made

    def __call__(self, x):
        return super().__call__(x) * self.hidden


def test_what_a_block_made_anew_lacks_is_missed():
    row = state(subject_of(Hidden(), Facts(d_model=D, framework="numpy", fresh=Hidden)))
    bad = (
        "its state, loaded into a block made anew, gave other outputs: "
        "something that it computes with is not in its state"
    )
    assert (row.state, row.sentence, row.threshold) == ("broken", bad, 0.0)
    assert row.number is not None
    assert row.number > 1


class Drawn(torch.nn.Module):
    """It draws a number that is in no state, after as many draws as a run has made."""

    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(D))
        self.hidden = torch.randn(())

    def forward(self, x):
        return x * self.gain * self.hidden


def test_a_block_made_anew_does_not_draw_what_it_drew_by_chance_of_a_seed():
    for seed in range(3):
        torch.manual_seed(seed)
        assert state(subject_of(Drawn(), Facts(d_model=D, fresh=Drawn))).state == "broken"


class Dropped(torch.nn.Module):
    """It draws its weights when it is made, in float64, and drops in training."""

    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.randn(D, dtype=torch.float64))
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(x * self.gain)


@pytest.mark.parametrize(
    ("fresh", "into"), [(None, "a copy of other weights"), (Dropped, "a block made anew")]
)
def test_a_saved_state_replaces_all_weights_and_drops_nothing(fresh, into):
    good = f"its state, loaded into {into}, gave the same outputs to the last bit"
    row = state(subject_of(Dropped(), Facts(d_model=D, fresh=fresh)))
    assert row == Row("state", "held", good, 0.0, 0.0)


def test_a_function_has_no_state():
    row = state(subject_of(torch.relu, Facts(d_model=D, framework="torch")))
    assert row == Row("state", "not applicable", "it is a function, and has no state of its own")
