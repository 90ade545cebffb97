"""What running a block shows: how its mask is meant, whether it is causal, whether a norm is last."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from transformer_block.audit import discovery
from transformer_block.audit.discovery import discovered
from transformer_block.audit.facts import Facts
from transformer_block.audit.measures import Heard, Moved
from transformer_block.audit.subject import Subject, T
from transformer_block.audit.torch_subject import TorchSubject

D = 6
NDIM = {"BTS": 3, "B1TS": 4, "TS": 2, "BS": 2}
every_form = [(means, axes) for means in ("visible", "hidden", "additive") for axes in NDIM]


def averages(x, weights):
    """Each token with the mean of those that have weights."""
    return x + weights / weights.sum(-1, keepdims=True) @ x


def masked(means, axes):
    """A block that takes a mask in one form alone."""
    shape = {"BTS": (3, 7, 7), "B1TS": (3, 1, 7, 7), "TS": (7, 7), "BS": (3, 7)}[axes]

    def block(x, mask=None):
        if mask is None:
            return averages(x, np.ones((3, 7, 7)))
        if mask.shape != shape or (mask.dtype == bool) != (means != "additive"):
            raise TypeError("another mask, please")
        whole = mask[:, None] if axes == "BS" else mask[:, 0] if axes == "B1TS" else mask
        weights = {"visible": whole, "hidden": ~whole if mask.dtype == bool else None, "additive": whole == 0}
        return averages(x, np.broadcast_to(weights[means], (3, 7, 7)) * 1.0)

    return block


@pytest.mark.parametrize(("means", "axes"), every_form)
def test_the_form_of_a_mask_is_found_by_what_hides_its_keys(means, axes):
    facts = discovered(Subject(masked(means, axes), Facts(d_model=D, mask="mask", causal=False)))
    assert facts == Facts(d_model=D, mask="mask", causal=False, mask_means=means, mask_axes=axes)


@pytest.mark.parametrize("said", [{"mask_means": "hidden"}, {"mask_axes": "TS"}])
def test_a_form_that_is_said_is_not_looked_for(said):
    facts = discovered(Subject(masked("visible", "BTS"), Facts(d_model=D, mask="mask", **said)))
    # visible keys are hidden from it, or no mask of these axes is taken
    assert facts.mask == ("mask" if "mask_means" in said else "")
    assert (facts.mask_means, facts.mask_axes) == (said.get("mask_means"), "BTS" if facts.mask else "TS")


def test_a_mask_without_effect_is_passed_in_the_first_form_that_the_block_takes():
    def block(x, mask=None):
        if mask is not None and mask.ndim != 4:
            raise ValueError("four axes, please")
        return x

    facts = discovered(Subject(block, Facts(d_model=D, mask="mask")))
    assert (facts.mask, facts.mask_means, facts.mask_axes) == ("mask", "visible", "B1TS")


@pytest.mark.parametrize(
    ("by_hidden", "by_visible", "fits"),
    [(0.5, 0.6, True), (0.0, 2.0, True), (0.6, 2.0, False), (0.5, 0.5, False)],
)
def test_a_form_fits_if_hidden_keys_move_nothing_beyond_rounding_and_visible_ones_do(
    by_hidden, by_visible, fits, monkeypatch
):
    def moved(subject):
        fits_here = subject.facts.mask_axes == "TS"
        return Moved(by_hidden if fits_here else 9.0, by_visible, 0.0, 0.0, 0.0, rounding=0.5)

    monkeypatch.setattr(discovery, "hidden_keys_move", moved)
    facts = discovered(Subject(lambda x: x, Facts(d_model=D, mask="mask")))
    assert facts.mask_axes == ("TS" if fits else "BTS")


def test_no_mask_is_tried_where_the_caller_says_how_to_call():
    def call(block, x, visible):
        assert visible is None
        return x

    said = Facts(d_model=D, mask="mask", call=call, causal=False, placement="pre")
    assert discovered(Subject(abs, said)) == said


def test_what_a_block_raises_on_tokens_alone_is_raised():
    with pytest.raises(ZeroDivisionError):
        discovered(Subject(lambda x: 1 / 0, Facts(d_model=D)))


class Hears(nn.Module):
    """Each position hears the one before it or the one behind it, through a gate of its own."""

    def __init__(self, later, gate=1.0):
        super().__init__()
        self.later, self.gate = later, nn.Parameter(torch.full((1, 1), gate))

    def forward(self, x):
        if self.later == "fails":
            raise RuntimeError("not in this mode")
        neighbor = torch.zeros_like(x)
        if self.later:
            neighbor[:, :-1] = x[:, 1:]
        else:
            neighbor[:, 1:] = x[:, :-1]
        return x + self.gate * neighbor


class ByMode(nn.Module):
    """One block in evaluation, and another in training."""

    def __init__(self, evaluated, trained):
        super().__init__()
        self.evaluated, self.trained = evaluated, trained

    def forward(self, x):
        return self.trained(x) if self.training else self.evaluated(x)


def causal(block, **said):
    return discovered(TorchSubject(block, Facts(d_model=D, mask="", **said))).causal


def test_a_block_is_causal_if_no_position_hears_a_later_one():
    assert causal(Hears(later=False)) is True
    assert causal(Hears(later=True)) is False
    assert causal(Hears(later=True), causal=True) is True
    assert causal(Hears(later=False), causal=False) is False


def test_a_block_that_is_causal_in_one_mode_was_meant_to_be():
    assert causal(ByMode(Hears(later=False), Hears(later=True))) is True
    assert causal(ByMode(Hears(later=True), Hears(later=False))) is True
    assert causal(ByMode(Hears(later=True), Hears(later=True))) is False


def test_a_mode_in_which_the_block_fails_shows_nothing():
    block = ByMode(Hears(later=True), Hears(later="fails"))
    assert causal(block) is False
    assert causal(ByMode(Hears(later=True), nn.Identity())) is True


def test_a_mode_that_fails_first_leaves_the_next_to_show_it():
    calls = []

    class Fails(Hears):
        def forward(self, x):
            calls.append(1)
            if len(calls) > 1:
                raise RuntimeError("once is enough")
            return super().forward(x)

    assert causal(ByMode(Fails(later=True), Hears(later=False)), placement="pre") is True


def test_a_connection_that_is_still_at_0_is_heard():
    assert causal(Hears(later=True, gate=0.0)) is False


def test_what_is_heard_is_measured_against_rounding(monkeypatch):
    table = np.eye(T, k=1) * 0.5
    for rounding, is_causal in ((0.5, True), (0.4, False)):
        monkeypatch.setattr(discovery, "hears_later", lambda subject, r=rounding: Heard(table, r))
        assert causal(nn.Identity()) is is_causal


@pytest.mark.parametrize("name", ["causal", "is_causal"])
def test_a_block_is_causal_if_it_says_so_itself_in_a_part_or_in_its_configuration(name):
    def leaking():
        return Hears(later=True)

    whole, part, configured = leaking(), leaking(), leaking()
    setattr(whole, name, True)
    part.inner = nn.Identity()
    setattr(part.inner, name, True)
    configured.config = SimpleNamespace(**{name: True})
    assert [causal(block) for block in (whole, part, configured)] == [True, True, True]
    for no_answer in (False, "maybe", 1):
        whole = leaking()
        setattr(whole, name, no_answer)
        assert causal(whole) is False


def test_a_numpy_block_says_so_as_well():
    class Block:
        causal = True

        def __call__(self, x):
            return x[:, ::-1]

    facts = discovered(Subject(Block(), Facts(d_model=D, mask="")))
    assert (facts.causal, facts.placement) == (True, None)


class Normed(nn.Module):
    def __init__(self, last):
        super().__init__()
        self.linear, self.last = nn.Linear(D, D), last

    def forward(self, x):
        return self.last(x + self.linear(x))


def test_a_norm_at_the_end_is_post_norm_and_else_it_is_pre_norm():
    def placement(block, **said):
        return discovered(TorchSubject(block, Facts(d_model=D, mask="", **said))).placement

    assert placement(Normed(nn.LayerNorm(D))) == "post"
    assert placement(Normed(nn.Identity())) == "pre"
    assert placement(Normed(nn.Identity()), placement="post") == "post"
    assert placement(lambda x: x) is None


def test_facts_are_found_in_evaluation():
    class Dropping(Hears):
        def forward(self, x):
            y = super().forward(x)
            return y + torch.randn(x.shape) * x.mean(1, keepdim=True) if self.training else y

    block = Dropping(later=False).train()
    facts = discovered(TorchSubject(block, Facts(d_model=D, mask="")))
    assert facts == Facts(d_model=D, mask="", causal=True, placement="pre")
    assert block.training
