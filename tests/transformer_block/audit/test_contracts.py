"""What contracts say of small blocks in NumPy, of functions, and of what others would bring."""

import numpy as np
import pytest
import torch
from torch import nn

from transformer_block.audit import Facts
from transformer_block.audit import audit as run_audit
from transformer_block.audit.broken import Block
from transformer_block.audit.discovery import discovered, subject_of
from transformer_block.audit.facts import LOWEST

WIDE = Facts(d_model=8, framework="numpy")
RNG = np.random.default_rng(0)
MIX = RNG.normal(size=(8, 8))


def audit(block, facts=WIDE, **choices):
    return run_audit(block, facts, isolate=False, **choices)


def softmax(scores, visible):
    scores = np.where(visible, scores, -np.inf)
    peak = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(peak), peak, 0))
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def attends(x, visible=None):
    """Attention without parameters that could be read: a function with a mask."""
    seen = np.ones((len(x), x.shape[1], x.shape[1]), bool) if visible is None else visible
    return x + softmax(x @ MIX @ x.swapaxes(-2, -1) / 8, seen) @ x


def test_a_function_of_arrays_is_asked_what_a_function_can_be_asked():
    report = audit(attends)
    assert report.holds, str(report)
    states = {row.contract: row.state for row in report}
    held = ("shape", "input kept", "output kept", "determinism", "padding", "mask meaning")
    held += ("fully masked row", "average", "batch", "dtype", "permutation")
    assert {name for name, state in states.items() if state == "held"} == {*held}
    assert report["gradients"].sentence == "it has no gradients"
    assert report["train and eval"].sentence == "it knows no training mode"
    assert "cannot be read and set" in report["zeroed branches"].sentence


@pytest.mark.parametrize(
    ("means", "axes"),
    [(m, a) for m in ("visible", "hidden", "additive") for a in ("BTS", "B1TS", "TS", "BS")],
)
def test_how_a_mask_is_passed_is_found_by_trying(means, axes):
    ranks = {"BTS": 3, "B1TS": 4, "TS": 2, "BS": 2}

    def block(x, mask=None):
        if mask is None:
            return attends(x)
        fits = mask.ndim == ranks[axes] and (axes != "TS" or mask.shape[0] == x.shape[1])
        if not fits or (axes == "BS" and mask.shape[0] != len(x)):
            raise ValueError("another mask, please")
        if (mask.dtype == bool) != (means != "additive"):
            raise TypeError("another kind, please")
        seen = mask == 0 if means == "additive" else mask == (means == "visible")
        whole = {"B1TS": lambda: seen[:, 0], "BS": lambda: seen[:, None]}
        seen = whole.get(axes, lambda: seen)()
        return attends(x, np.broadcast_to(seen, (len(x), x.shape[1], x.shape[1])))

    facts = discovered(subject_of(block, WIDE))
    assert (facts.mask, facts.mask_means, facts.mask_axes) == ("mask", means, axes)
    assert (facts.causal, facts.placement) == (False, None)
    assert audit(block).holds


def test_a_mask_that_the_block_refuses_in_every_form_is_none():
    def block(x, mask=None):
        if mask is not None:
            raise ValueError("no masks here")
        return x * 2

    assert discovered(subject_of(block, WIDE)).mask == ""
    assert audit(block)["padding"].sentence == "it takes no mask"


def test_a_mask_whose_meaning_was_said_is_held_to_it():
    def block(x, mask=None):
        return attends(x, mask)

    facts = Facts(d_model=8, framework="numpy", mask_means="hidden", mask_axes="BTS")
    report = audit(block, facts)
    assert "mask meaning" in [row.contract for row in report.broken]
    assert [fault.name for fault in report.faults] == ["mask_inverted"]
    added = Facts(d_model=8, framework="numpy", mask_means="additive")
    assert not audit(block, added)["padding"].sentence.startswith("no ")


def test_a_caller_may_say_how_the_block_is_called():
    def block(tokens, length, hide):
        return [attends(tokens, None if hide is None else ~hide), "more"]

    def call(block, x, visible):
        return block(x, x.shape[1], None if visible is None else ~visible)

    report = audit(block, Facts(d_model=8, framework="numpy", call=call))
    assert report.holds, str(report)
    assert report["padding"].state == "held"


def test_a_function_of_tensors_is_asked_with_tensors():
    mix = torch.randn(8, 8)

    def block(x, visible=None):
        return x + (x @ mix.to(x.dtype) @ x.mT).softmax(-1) @ x

    report = audit(block, Facts(d_model=8, framework="torch", mask=""))
    assert report.holds, str(report)
    assert report["gradients"].state == "held"
    assert report["state"].sentence == "it is a function, and has no state of its own"
    assert "it is a function" in report["zeroed branches"].sentence


def test_a_block_that_cuts_the_gradient_has_none():
    report = audit(lambda x: x.detach() * 2, Facts(d_model=8, framework="torch"))
    assert report["gradients"].sentence == "its output has no way back to its input"


def test_added_positions_are_not_taken_for_a_fault():
    places = RNG.normal(size=(64, 8))
    places[0] = 0

    def block(x):
        return x + places[: x.shape[1]]

    assert audit(block).holds
    assert "positions seem to be added inside" in audit(block)["average"].sentence
    said = audit(block, Facts(d_model=8, framework="numpy", positions="added"))
    assert said["average"].sentence.startswith("positions are added to its tokens")
    denied = audit(block, Facts(d_model=8, framework="numpy", positions="none", causal=False))
    assert [row.contract for row in denied.broken] == ["average", "permutation"]


class Plain:
    """A NumPy block with parameters that can be read, and no norm."""

    def __init__(self):
        self.parameters = {"up.weight": MIX.copy(), "up.bias": np.ones(8), "gain": np.ones(8)}

    def __call__(self, x):
        p = self.parameters
        return x + p["gain"] * np.tanh(x @ p["up.weight"].T + p["up.bias"])


def test_a_numpy_block_with_parameters_is_asked_in_other_dtypes_and_states():
    report = audit(Plain(), Facts())
    assert report.holds, str(report)
    for contract in ("zeroed branches", "state", "float16", "far from 0"):
        assert report[contract].state == "held", contract
    assert report["bfloat16"].sentence == "NumPy has no bfloat16"
    anew = audit(Plain(), Facts(fresh=Plain))
    assert "a block made anew" in anew["state"].sentence


class Dead(nn.Module):
    """One parameter is never read, and one gradient is infinite at 0."""

    def __init__(self):
        super().__init__()
        self.d_model = 8
        self.read = nn.Parameter(torch.ones(8))
        self.unread = nn.Parameter(torch.ones(8))
        self.wild = nn.Parameter(torch.ones(8))

    def forward(self, x):
        return x * self.read + (self.wild * 0).sqrt()


def test_gradients_that_are_missing_or_wild_are_named():
    report = audit(Dead(), Facts())
    assert report["gradients"].sentence == "unread received none; not finite for wild"
    assert report["gradients"].number == 2
    assert "parameter_unused" in [fault.name for fault in report.faults]


class Narrow(nn.Module):
    """It squares: 300² leaves the range of float16."""

    def __init__(self):
        super().__init__()
        self.d_model = 8
        self.gain = nn.Parameter(torch.ones(8))

    def forward(self, x):
        return x + self.gain * x.square()


def test_what_leaves_the_range_of_float16_is_broken_there_alone():
    report = audit(Narrow(), Facts())
    assert report["float16"].sentence == "NaN or infinite on tokens of size 300"
    assert report["bfloat16"].state == "held"
    assert "not_finite_in_half" in [fault.name for fault in report.faults]


def test_a_position_that_says_it_hides_is_held_to_it():
    assert subject_of(Block(), Facts()).facts.mask == "visible"
    assert discovered(subject_of(Block(), Facts())).causal is True
    assert discovered(subject_of(lambda x: np.cumsum(x, 1), WIDE)).causal is True
    assert discovered(subject_of(lambda x: x + x.mean(1, keepdims=True), WIDE)).causal is False


def test_a_block_that_lost_its_causal_mask_is_told_from_an_encoder_when_it_is_said_to_be_causal():
    unsaid = audit(attends)["causal"]
    assert unsaid.state == "not applicable"
    assert unsaid.sentence == (
        "positions hear later ones: it is not causal, or has lost its mask; "
        "Facts(causal=True) would make it a contract"
    )
    said = audit(attends, Facts(d_model=8, framework="numpy", causal=True))
    assert [fault.name for fault in said.faults] == ["causal_mask_missing"]


def test_additive_masks_hide_with_the_lowest_number_of_float32():
    assert np.finfo(np.float32).min == LOWEST
