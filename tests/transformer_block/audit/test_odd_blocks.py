"""Blocks that answer oddly. Contracts run in this process here, so that what they do can be seen."""

import contextlib
import os
import sys
import time

import numpy as np
import pytest
import torch

from transformer_block.audit import Facts, audit, isolation, likeness, variants
from transformer_block.audit.discovery import subject_of
from transformer_block.audit.measures import distance
from transformer_block.audit.subject import Nonsense, Subject, Unable, tokens
from transformer_block.audit.torch_subject import TorchSubject
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block
from transformer_block.parameters import initialize

WIDE = Facts(d_model=6, framework="numpy")
CONFIGS = [
    BlockConfig(d_model=8, n_heads=2, d_ff=12),
    BlockConfig(d_model=8, n_heads=4, n_kv_heads=2, d_ff=12, placement="post", causal=True),
    BlockConfig(d_model=8, n_heads=2, d_ff=12, norm="rms_norm", qk_norm=True, causal=True),
    BlockConfig(
        d_model=8, n_heads=2, d_ff=12, attention_bias=False, feed_forward_bias=False, norm_bias=False
    ),
    BlockConfig(d_model=8, n_heads=2, d_ff=12, placement="parallel"),
]


def in_this_process(block, facts=WIDE, **choices):
    return audit(block, facts, isolate=False, **choices)


def test_a_subject_says_what_it_cannot_be_asked():
    x = np.ones((3, 7, 6))
    with pytest.raises(Unable, match=r"say Facts\(d_model=…\)"):
        Subject(lambda x: x, Facts()).width  # noqa: B018
    with pytest.raises(Unable, match="it takes no mask"):
        Subject(lambda x: x, WIDE)(x, np.ones((3, 7, 7), dtype=bool))


def test_a_mask_is_passed_by_place_where_it_has_no_name():
    received = []

    def block(x, mask, /):
        received.append(mask)
        return x

    visible = np.random.default_rng(0).random((3, 7, 7)) < 0.5
    Subject(block, Facts(d_model=6, mask="mask"))(np.ones((3, 7, 6)), visible)
    np.testing.assert_array_equal(received[0], visible)


def test_a_block_that_does_not_tell_its_arguments_is_audited_as_one_of_tokens():
    class Silent:
        @property
        def __signature__(self):
            raise ValueError("no signature")

        def __call__(self, x):
            return x

    assert in_this_process(Silent()).holds


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "returned None, not an array"),
        (np.ones((3, 7, 5)), r"returned shape \(3, 7, 5\) for an input of \(3, 7, 6\)"),
        (np.ones((3, 7, 6), dtype=np.int32), "returned int32, which is no floating dtype"),
    ],
)
def test_what_is_no_array_of_a_blocks_shape_is_nonsense(output, words):
    with pytest.raises(Nonsense, match=words):
        Subject(abs, WIDE).array(output, (3, 7, 6))


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (np.ones((3, 7, 6)), "returned ndarray, not a tensor"),
        (torch.ones(3, 7, 5), r"returned shape \(3, 7, 5\) for an input of \(3, 7, 6\)"),
        (torch.ones(3, 7, 6, dtype=torch.int64), "returned torch.int64, which is no floating dtype"),
    ],
)
def test_what_is_no_tensor_of_a_blocks_shape_is_nonsense(output, words):
    with pytest.raises(Nonsense, match=words):
        TorchSubject(torch.nn.Identity(), Facts(d_model=6)).array(output, (3, 7, 6))


def test_a_distance_to_what_is_not_finite_is_infinite():
    assert distance(np.array([1.0, np.nan]), np.ones(2)) == np.inf
    assert distance(np.ones(2), np.array([1.0, np.inf])) == np.inf
    assert distance(np.ones(2), np.ones(3)) == np.inf


def test_a_block_that_fails_after_a_while_has_rows_that_say_so_and_no_facts():
    calls = []

    def block(x):
        calls.append(len(x))
        if len(calls) > 6:
            raise RuntimeError("worn out")
        return x

    report = in_this_process(block)
    assert report["shape"].state == "held"
    for name in ("dtype", "determinism", "batch"):
        assert (report[name].state, report[name].measured) == ("broken", "")
        assert report[name].sentence == "RuntimeError: worn out"


def test_a_block_that_asks_to_exit_while_facts_are_found_is_audited_without_them():
    calls = []

    def block(x):
        calls.append(len(x))
        if len(calls) > 6:
            sys.exit(5)
        return x

    report = in_this_process(block)
    assert report["shape"].state == "held"
    assert report["batch"].sentence == "the block asked to exit with status 5"


def test_a_block_that_is_not_finite_without_biases_does_not_return_its_input():
    class Dividing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bias = torch.nn.Parameter(torch.full((6,), 0.5))

        def forward(self, x):
            return x * (self.bias / self.bias)

    row = in_this_process(Dividing(), Facts(d_model=6))["zeroed branches"]
    assert (row.state, row.evidence["ends_in_norm"]) == ("broken", False)


def test_a_module_that_raises_in_half_breaks_that_row_alone():
    class NotInHalf(torch.nn.Module):
        def forward(self, x):
            if x.dtype == torch.float16:
                raise RuntimeError("half was not thought of")
            return x

    report = in_this_process(NotInHalf(), Facts(d_model=6))
    assert {row.contract for row in report.broken} == {"dtype", "float16"}


def test_an_order_that_the_block_may_know_is_no_contract():
    table = np.random.default_rng(0).normal(size=(64, 6))

    report = in_this_process(
        lambda x: x + table[: x.shape[1]].astype(x.dtype), Facts(d_model=6, causal=False)
    )
    assert report["permutation"].state == "not applicable"
    assert "Facts(positions='none') would make it a contract" in report["permutation"].sentence


def test_a_block_that_does_not_hear_its_input_gives_it_no_gradient():
    class Deaf(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.answer = torch.nn.Parameter(torch.ones(6))

        def forward(self, x):
            return x * 0 + self.answer

    row = in_this_process(Deaf(), Facts(d_model=6))["gradients"]
    assert row.state == "broken"
    assert "the input received none" in row.sentence


class Norms(torch.nn.Module):
    """A block of residual norms that are called by a name, whatever they do."""

    def __init__(self, *norms):
        super().__init__()
        for number, norm in enumerate(norms):
            self.add_module(f"norm_{number}", norm)

    def forward(self, x):
        for norm in self.children():
            x = x + norm(x)
        return x


class Doubling(torch.nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) ** 2


class Fussy(torch.nn.LayerNorm):
    """It is used in float32 alone, and in batches of other sizes than an audit tries it on."""

    def forward(self, x):
        if x.dtype == torch.float64:
            raise TypeError("float32 alone")
        return super().forward(x)


class Unstable(torch.nn.LayerNorm):
    def forward(self, x):
        if x.abs().max() > 1000 and x.dtype == torch.float32:
            raise RuntimeError("too far")
        return super().forward(x)


def test_norms_of_no_known_formula_are_left_unjudged():
    report = in_this_process(Norms(Doubling(6)), Facts(d_model=6))
    assert report["norms"].state == "not applicable"
    report = in_this_process(Norms(Fussy(6)), Facts(d_model=6))
    assert report["norms"].state == "not applicable"


def test_a_norm_that_fails_far_from_0_is_judged_near_it():
    report = in_this_process(Norms(Unstable(6)), Facts(d_model=6))
    assert report["norms"].evidence["kinds"] == {"norm_0": "layer norm"}
    assert report["norms"].evidence["canceled"] == {}


@pytest.mark.parametrize("config", CONFIGS, ids=["plain", "post", "rms", "no biases", "parallel"])
def test_every_wrong_variant_runs_and_differs_from_the_right_one(config):
    rng = np.random.default_rng(3)
    parameters = {
        name: value + 0.3 * rng.normal(size=value.shape) for name, value in initialize(config, seed=0).items()
    }
    x = rng.normal(size=(3, 7, config.d_model)) * 0.01
    visible = np.ones((3, 7, 7), dtype=bool)
    visible[:, :, 5:] = False
    right = variants.right(config, parameters)(x, visible)

    for name, block in variants.wrong(config, parameters):
        assert distance(block(x, visible), right) > 0, name
        assert block(x).shape == x.shape, name


def test_likeness_needs_parameters_that_can_be_read():
    row = likeness.alike(CONFIGS[0])(subject_of(lambda x: x, Facts(d_model=8, framework="numpy")))
    assert row.state == "not applicable"


def test_likeness_is_judged_without_a_mask_where_none_can_be_passed():
    ours = Block(CONFIGS[0], initialize(CONFIGS[0], seed=0))

    class Maskless:
        def __init__(self):
            self.parameters = dict(ours.parameters)

        def __call__(self, x):
            return Block(CONFIGS[0], self.parameters)(x)

    subject = subject_of(Maskless(), Facts(d_model=8, framework="numpy"))
    assert not subject.takes_mask
    assert likeness.alike(CONFIGS[0])(subject).state == "held"
    assert tokens(subject).shape[-1] == 8


@pytest.mark.needs("fork")
def test_a_process_that_leads_no_group_is_ended_all_the_same():
    child = os.fork()
    if not child:  # pragma: no cover
        with contextlib.suppress(BaseException):
            time.sleep(3600)
        os._exit(0)
    isolation._end(child)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
