"""A block is held against the package's own on the same parameters, and against each known fault."""

from dataclasses import replace

import numpy as np
import pytest

from transformer_block.audit import Facts, Row
from transformer_block.audit.likeness import alike
from transformer_block.audit.measures import hidden_keys, mask_of
from transformer_block.audit.subject import Subject, tokens
from transformer_block.audit.torch_subject import TorchSubject
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block
from transformer_block.in_torch.block import Block as InTorch
from transformer_block.parameters import initialize, perturb

# every kind of wrong block is run on several inputs; that shapes are right is what other tests show
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("unchecked")]

CONFIG = BlockConfig(d_model=8, n_heads=2, d_ff=12, eps=1e-3)
NAME = "like the package"
GOOD = "on the same parameters it gave what the package's block gives"
BAD = "on the same parameters it did not give what the package's block gives"


class Other:
    """A block of ours whose output is changed, and which keeps what it was called with."""

    def __init__(self, config=CONFIG, change=lambda y: y):
        self.parameters = perturb(initialize(config, seed=0), 0, scale=0.3)
        self.config, self.change, self.calls = config, change, []

    def __call__(self, x, visible=None, **memory):
        self.calls.append((x, visible))
        return self.change(Block(self.config, self.parameters)(x, visible, **memory))


def row_of(block, config=CONFIG, **said):
    return alike(config)(Subject(block, Facts(d_model=8, **{"mask": "visible", **said})))


def test_a_block_of_ours_is_like_the_package():
    assert row_of(Other()) == Row(NAME, "held", GOOD, 0.0, 1e-5, {"matches": []})


def test_it_is_asked_on_ordinary_tokens_on_some_as_small_as_eps_and_behind_a_mask():
    block = Other()
    row_of(block)
    subject = Subject(block, Facts(d_model=8))
    (x, bare), (small, also_bare), (masked, visible) = block.calls
    assert bare is also_bare is None
    np.testing.assert_array_equal(x, tokens(subject))
    assert np.std(small) == pytest.approx(np.sqrt(CONFIG.eps), rel=0.2)
    np.testing.assert_array_equal(visible, mask_of(hidden_keys(subject)))
    others = [small / np.sqrt(CONFIG.eps), masked]
    assert len({each.tobytes() for each in (x, *others)}) == 3


def test_it_is_asked_the_same_each_time():
    block = Other()
    row_of(block), row_of(block)
    for first, again in zip(block.calls[:3], block.calls[3:], strict=True):
        np.testing.assert_array_equal(again[0], first[0])


def test_a_module_in_float32_that_drops_is_compared_in_float64_and_drops_nothing():
    config = replace(CONFIG, attention_dropout=0.5)
    drawn = perturb(initialize(config, seed=0), 0, scale=0.3)
    block = InTorch(config, {name: value.astype(np.float32) for name, value in drawn.items()})
    row = alike(config)(TorchSubject(block.train(), Facts(d_model=8, mask="visible")))
    assert (row.state, row.sentence) == ("held", GOOD)
    assert row.number == pytest.approx(0, abs=1e-12)


def test_where_no_mask_can_be_passed_none_is():
    block = Other()
    assert row_of(block, mask="").state == "held"
    assert len(block.calls) == 2


@pytest.mark.parametrize("share", [9e-6, 1.1e-5, 0.5])
def test_a_difference_is_relative_to_the_largest_output(share):
    def nudged(y):
        y = y.copy()
        y[1, 2, 3] += share * np.abs(y).max()
        return y

    row = row_of(Other(change=nudged))
    assert row.number == pytest.approx(share, rel=share + 1e-6)
    assert (row.state == "held") == (share < 1e-5)
    assert row.sentence == (GOOD if share < 1e-5 else BAD)
    assert row.evidence == {"matches": []}


def test_the_fault_that_it_agrees_with_is_named():
    other = replace(CONFIG, eps=1e-6)
    row = row_of(Other(other))
    assert (row.state, row.sentence) == ("broken", f"{BAD}: it agrees with the fault another_eps")
    assert row.evidence == {"matches": ["another_eps"]}
    assert row.number is not None
    assert row.number > 1e-3


def test_a_causal_mask_that_is_missing_is_no_other_fault_of_masks():
    config = replace(CONFIG, causal=True)
    matches = row_of(Other(replace(config, causal=False)), config).evidence["matches"]
    assert matches == ["causal_mask_missing"]


def test_a_memory_is_passed_to_both():
    config = replace(CONFIG, cross_attention=True)
    assert row_of(Other(config), config, memory=True).state == "held"


def test_parameters_of_another_shape_or_that_can_not_be_read_are_set_aside():
    row = row_of(Other(), replace(CONFIG, d_ff=13))
    assert (row.contract, row.state) == (NAME, "not applicable")
    assert row.sentence.startswith("its parameters are not named or shaped so: ")
    assert "(12, 8)" in row.sentence
    why = "its parameters cannot be read and set from outside"
    assert row_of(abs) == Row(NAME, "not applicable", why)
