"""What the looks of a block tell: nothing is run here."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from transformer_block.audit.discovery import subject_of
from transformer_block.audit.facts import Facts
from transformer_block.audit.subject import Subject
from transformer_block.audit.torch_subject import TorchSubject

FOUND_NOWHERE = Facts(mask="")


class Block:
    """Something that is called with tokens, with attributes of any name."""

    def __init__(self, **attributes):
        vars(self).update(attributes)

    def __call__(self, x):
        raise AssertionError("nothing is to be run")


def seen(block, **said):
    return subject_of(block, Facts(**said)).facts


def function(arguments):
    """A block with these arguments, as its source would write them."""
    return eval(f"lambda {arguments}: x")


@pytest.mark.parametrize("block", [3, None, np.ones(2)])
def test_what_cannot_be_called_is_no_block(block):
    with pytest.raises(TypeError, match=rf"^a block is called with tokens; got {type(block).__name__}$"):
        subject_of(block, Facts())


@pytest.mark.parametrize("name", ["d_model", "hidden_size", "n_embd", "embed_dim"])
def test_a_width_is_told_by_a_block_or_its_configuration_under_several_names(name):
    assert seen(Block(**{name: 20})).d_model == 20
    assert seen(Block(config=SimpleNamespace(**{name: 20}))).d_model == 20
    assert seen(Block(**{name: 20}, config=SimpleNamespace(**{name: 30}))).d_model == 20


def test_a_width_that_is_said_by_name_stands_over_sizes_and_is_an_int():
    shaped = {"w": np.ones((8, 8))}
    assert seen(Block(parameters=shaped, config=SimpleNamespace(hidden_size=9))).d_model == 9
    assert seen(Block(parameters=shaped, d_model="wide")).d_model == 8
    assert seen(Block(d_model=8), d_model=9).d_model == 9


def test_the_width_is_else_the_most_frequent_size_of_the_parameters():
    sizes = {"w": np.ones((9, 5)), "out": np.ones((5, 7)), "b": np.ones(7), "gain": np.ones(5)}
    assert seen(Block(parameters=sizes)).d_model == 5
    assert seen(nn.Sequential(nn.Linear(5, 9), nn.Linear(9, 5, bias=False), nn.LayerNorm(5))).d_model == 5


@pytest.mark.parametrize("block", [function("x"), Block(parameters={}), Block(parameters=[1]), nn.Identity()])
def test_a_width_may_be_told_by_nothing(block):
    assert seen(block) == FOUND_NOWHERE


NAMES = ["visible", "mask", "attn_mask", "attention_mask", "src_mask", "tgt_mask"]


@pytest.mark.parametrize("name", [*NAMES, "key_padding_mask", "src_key_padding_mask"])
def test_a_mask_is_known_by_its_name(name):
    assert seen(function(f"x, memory=None, {name}=None")).mask == name


def test_the_first_of_several_masks_is_the_one_that_is_passed():
    assert seen(function("x, tgt_mask=None, src_mask=None")).mask == "tgt_mask"
    assert seen(function("x, *, src_mask=None, tgt_mask=None")).mask == "src_mask"


def test_other_arguments_are_no_masks():
    assert seen(function("x, masked=None, **more")) == FOUND_NOWHERE


def test_the_mask_of_a_module_is_an_argument_of_its_forward():
    class Masked(nn.Module):
        def forward(self, x, tgt_mask=None):
            return x

    assert seen(Masked()).mask == "tgt_mask"


def test_visible_is_a_name_that_says_what_true_means():
    assert seen(function("x, visible=None")) == Facts(mask="visible", mask_means="visible")
    assert seen(function("x, visible=None"), mask_means="hidden").mask_means == "hidden"
    assert seen(function("x, mask=None")).mask_means is None
    assert seen(function("x, visible=None"), mask="") == Facts(mask="", mask_means="visible")


def test_a_cache_is_made_by_the_block_and_passed_by_name():
    class Cached(Block):
        def new_cache(self):
            return ["new"]

        def __call__(self, x, cache=None):
            return x, cache

    block = Cached()
    facts = seen(block)
    cache = facts.new_cache()
    assert cache == ["new"]
    assert facts.call_cached(block, "x", cache) == ("x", cache)


@pytest.mark.parametrize("block", [Block(new_cache=dict), function("x, cache=None")])
def test_half_a_cache_is_none(block):
    assert seen(block) == FOUND_NOWHERE


def test_a_module_is_a_subject_of_torch_in_its_own_dtype():
    block = nn.Linear(5, 5, dtype=torch.bfloat16)
    assert subject_of(block, Facts(causal=True)) == TorchSubject(
        block, Facts(d_model=5, mask="", causal=True), dtype="bfloat16"
    )


def test_a_function_is_one_of_numpy_unless_it_is_said_to_be_one_of_torch():
    block = function("x")
    assert subject_of(block, Facts()) == Subject(block, FOUND_NOWHERE, dtype="float64")
    said = Facts(framework="torch", mask="")
    assert subject_of(block, said) == TorchSubject(block, said, dtype="float32")


def test_a_numpy_block_is_run_in_the_dtype_of_its_parameters():
    assert subject_of(Block(parameters={"w": np.ones(2, np.float16)}), Facts()).dtype == "float16"
    assert subject_of(Block(parameters={}), Facts()).dtype == "float64"
    assert subject_of(Block(parameters=None), Facts()).dtype == "float64"


def test_numpy_blocks_do_without_torch(monkeypatch):
    block = Block(parameters={"w": np.ones(2, np.float32)})
    monkeypatch.delitem(sys.modules, "torch")
    assert subject_of(block, Facts()).framework == "numpy"
    assert "torch" not in sys.modules
