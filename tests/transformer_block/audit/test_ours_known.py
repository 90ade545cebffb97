"""What is known of our own blocks and stacks, without a word from who audits them."""

import dataclasses

import numpy as np
import pytest
import torch

from tests.transformer_block.numerics import D, normal, random_parameters, small_config
from transformer_block.audit.facts import Facts
from transformer_block.audit.layers import known
from transformer_block.audit.subject import Subject
from transformer_block.audit.torch_subject import TorchSubject
from transformer_block.in_numpy.block import Block as NumpyBlock
from transformer_block.in_numpy.cache import KVCache as NumpyCache
from transformer_block.in_numpy.stack import Stack as NumpyStack
from transformer_block.in_torch.block import Block as TorchBlock
from transformer_block.in_torch.cache import KVCache as TorchCache
from transformer_block.in_torch.stack import Stack as TorchStack
from transformer_block.parameters import initialize_stack

X = normal(1, 2, 7, D)
SUBJECTS = {"numpy": Subject, "torch": TorchSubject}
BLOCKS = {"numpy": NumpyBlock, "torch": TorchBlock}
STACKS = {"numpy": NumpyStack, "torch": TorchStack}
CACHES = {"numpy": NumpyCache, "torch": TorchCache}
LAYERS = 3
every_framework = pytest.mark.parametrize("framework", SUBJECTS)
both_kinds = pytest.mark.parametrize("stack", [False, True], ids=["block", "stack"])


def made(framework, stack=False, **choices):
    """A block of ours, or a stack of them, in float64."""
    if stack:
        config = small_config(n_layers=LAYERS, **choices)
        return STACKS[framework](config, initialize_stack(config, 0))
    config = small_config(**choices)
    return BLOCKS[framework](config, random_parameters(config))


def said(facts):
    """What can be compared: all but the functions."""
    return dataclasses.replace(facts, new_cache=None, call_cached=None, remake=None)


def functions(facts):
    names = ("call", "new_cache", "call_cached", "fresh", "remake")
    return {name for name in names if getattr(facts, name) is not None}


@every_framework
def test_of_a_block_all_is_known(framework):
    facts = known(made(framework))
    assert facts == Facts(
        d_model=D,
        framework=framework,
        causal=False,
        placement="pre",
        positions="none",
        mask="visible",
        mask_means="visible",
        mask_axes="BTS",
        memory=False,
    )


@every_framework
@both_kinds
def test_a_block_that_is_causal_has_a_cache(framework, stack):
    block = made(framework, stack, causal=True, cross_attention=True, positions="rotary")
    facts = known(block)
    assert functions(facts) == {"new_cache", "call_cached"} | ({"remake"} if stack else set())
    assert (facts.causal, facts.memory, facts.positions) == (True, True, "relative")
    assert (facts.mask, facts.framework, facts.d_model) == ("visible", framework, D)
    caches = facts.new_cache() if stack else [facts.new_cache()]
    assert len({id(cache) for cache in caches}) == (LAYERS if stack else 1)
    assert {type(cache) for cache in caches} == {CACHES[framework]}


@every_framework
@both_kinds
@pytest.mark.parametrize("memory", [False, True], ids=["alone", "with a memory"])
def test_behind_a_cache_the_tokens_and_the_memory_are_those_of_the_whole(framework, stack, memory):
    block = made(framework, stack, causal=True, cross_attention=memory, positions="rotary")
    facts = known(block)
    subject = SUBJECTS[framework](block, facts, dtype="float64")
    cache, parts = facts.new_cache(), []
    for piece in (X[:, :3], X[:, 3:4], X[:, 4:]):
        given = subject.native(piece)
        with torch.no_grad():
            parts.append(subject.array(facts.call_cached(block, given, cache), piece.shape))
    np.testing.assert_allclose(np.concatenate(parts, axis=1), subject(X), atol=1e-12)


@every_framework
def test_the_memory_behind_a_cache_has_the_dtype_of_the_tokens(framework):
    config = small_config(causal=True, cross_attention=True)
    facts = known(made(framework, causal=True, cross_attention=True))
    received = []

    def block(x, memory, **more):
        received.append(memory)
        return x

    x = X.astype(np.float32) if framework == "numpy" else torch.tensor(X, dtype=torch.float32)
    facts.call_cached(block, x, None)
    assert received[0].dtype == x.dtype
    assert type(received[0]) is type(x)
    assert received[0].shape == (2, 5, config.d_model)


@every_framework
@pytest.mark.parametrize(
    ("positions", "known_as"), [("sinusoidal", "added"), ("rotary", "relative"), ("none", "none")]
)
def test_a_stack_adds_positions_where_it_begins_and_ends_in_a_norm(framework, positions, known_as):
    facts = known(made(framework, stack=True, positions=positions))
    block = known(made(framework, positions=positions))
    assert (facts.positions, facts.placement) == (known_as, "post")
    assert said(facts) == dataclasses.replace(block, positions=known_as, placement="post")
    assert functions(facts) == {"remake"}


@every_framework
def test_a_stack_is_remade_from_parameters(framework):
    stack = made(framework, stack=True)
    other = initialize_stack(stack.config, 1)
    remade, expected = known(stack).remake(other), type(stack)(stack.config, other)
    assert (type(remade), remade.config) == (type(stack), stack.config)
    subjects = [SUBJECTS[framework](each, known(each), dtype="float64") for each in (remade, expected)]
    np.testing.assert_array_equal(subjects[0](X), subjects[1](X))


@every_framework
def test_what_is_made_from_a_block_of_ours_is_known_as_one(framework):
    class Mine(BLOCKS[framework]):
        pass

    block = made(framework)
    assert known(Mine(block.config, random_parameters(block.config))) == known(block)


def test_what_has_no_configuration_or_is_of_others_is_not_known():
    class Stack:
        config = small_config()

    for block in (NumpyCache(4), Stack(), abs, torch.nn.Linear(2, 2)):
        assert known(block) == Facts()
