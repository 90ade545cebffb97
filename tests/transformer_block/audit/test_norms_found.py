"""Which modules are taken for norms that can be judged alone, and with which eps and gains they are."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.transformer_block.audit.normed import Calls, D, Norm, layer, rms
from transformer_block.audit import Facts, Row
from transformer_block.audit.discovery import subject_of
from transformer_block.audit.norms import norms

NOTHING = Row("norms", "not applicable", "it has no norms that could be called alone")


def judged(block, **facts):
    return norms(subject_of(block, Facts(d_model=D, **facts)))


def kinds(**given):
    return judged(Calls(**given)).evidence.get("kinds")


class Standardize(Norm):
    """A norm whose class doesn't say so."""


class Around(nn.Module):
    def __init__(self, **inner):
        super().__init__()
        for name, module in inner.items():
            self.add_module(name, module)

    def forward(self, x):
        for module in self.children():
            x = module(x)
        return x


class NormAround(Around):
    """It has a norm inside; what it computes by itself is one, too."""


@pytest.mark.parametrize(
    ("block", "framework"),
    [(np.abs, "numpy"), (torch.abs, "torch"), (Calls(up=nn.Linear(D, D)), "torch")],
    ids=["NumPy", "function", "no norms"],
)
def test_a_block_without_norms_of_its_own_has_none_to_judge(block, framework):
    assert judged(block, framework=framework) == NOTHING


@pytest.mark.parametrize(
    ("name", "module", "taken"),
    [
        ("first", Norm(), True),
        ("first", Standardize(), False),
        ("ln_1", Standardize(), True),
        ("LN", Standardize(), True),
        ("final_norm", Standardize(), True),
        ("PreNorm", Standardize(), True),
        ("sln", Standardize(), False),
        ("norm", Norm(width=1), False),
        ("norm", NormAround(within=Standardize()), False),
    ],
)
def test_norms_are_known_by_their_names_and_their_width(name, module, taken):
    assert kinds(**{name: module}) == ({name: "layer norm"} if taken else None)


def test_norms_are_found_wherever_they_stand():
    found = kinds(ln_0=Around(ln_1=Standardize(), up=Standardize()), norm_0=Around(a=Norm(rms)))
    assert found == {"ln_0.ln_1": "layer norm", "norm_0.a": "RMS norm"}


def test_a_block_that_is_a_norm_has_none_inside():
    assert judged(nn.LayerNorm(D)) == NOTHING


class OneWide(Norm):
    """All of its parameters but one are as wide as the stream."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))


def test_a_norm_with_a_parameter_of_another_width_is_left_aside():
    assert judged(Calls(norm=OneWide())) == NOTHING


def unasked(x, w, b, eps):
    return None


def nowhere(x, w, b, eps):
    return x * np.nan


def nothing(x, w, b, eps):
    return 0 * x


def doubled(x, w, b, eps):
    return layer(x, w, b, eps) * (1 + 3e-5)


def ahead(x, w, b, eps):
    return layer(x, w, b, eps)[None]


@pytest.mark.parametrize("formula", [unasked, nowhere, nothing, doubled, ahead])
def test_what_computes_no_known_norm_is_left_aside(formula):
    """Whatever it does to the block: others are judged still."""
    spare = {"norm_1": Norm(rms), "norm_2": Norm(formula)}
    row = judged(Calls(["norm_1"], **spare))
    assert (row.state, row.evidence["kinds"]) == ("held", {"norm_1": "RMS norm"})
    assert judged(Calls([], norm=Norm(formula))) == NOTHING


def test_a_norm_that_is_off_by_less_than_rounding_in_float32_is_the_one_that_it_is():
    def careless(x, w, b, eps):
        return layer(x, w, b, eps) * (1 + 3e-6)

    row = judged(Calls(norm=Norm(careless)))
    assert (row.state, row.evidence["kinds"]) == ("held", {"norm": "layer norm"})
    assert row.number == pytest.approx(3e-6, rel=1e-3)


@pytest.mark.parametrize("name", ["eps", "epsilon", "variance_epsilon"])
@pytest.mark.parametrize("eps", [0.5, 1e-3, 1e-12])
def test_an_eps_is_read_by_each_of_its_names(name, eps):
    assert kinds(norm=Norm(eps=eps, said_as=name)) == {"norm": "layer norm"}


def test_an_eps_that_is_not_told_is_a_hundred_thousandth():
    assert kinds(norm=Norm(eps=1e-5, said_as="hidden")) == {"norm": "layer norm"}
    assert kinds(norm=Norm(eps=1e-4, said_as="hidden")) is None


def test_an_eps_that_is_no_number_is_looked_for_under_other_names():
    norm = Norm(eps=0.02, said_as="epsilon")
    norm.eps = "small"
    assert kinds(norm=norm) == {"norm": "layer norm"}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("affine", [True, False])
def test_norms_of_pytorch_are_known_with_and_without_what_they_learn(affine, bias):
    norm = nn.LayerNorm(D, eps=0.02, elementwise_affine=affine, bias=bias)
    row = judged(Calls(norm=norm))
    assert (row.state, row.evidence["kinds"]) == ("held", {"norm": "layer norm"})


@pytest.mark.parametrize("eps", [None, 1e-6])
def test_the_rms_norm_of_pytorch_is_known_with_an_eps_and_with_none(eps):
    row = judged(Calls(norm=nn.RMSNorm(D, eps=eps)))
    assert (row.state, row.evidence["kinds"]) == ("held", {"norm": "RMS norm"})


def test_a_norm_without_parameters_in_a_block_without_any_is_asked_at_the_width_of_the_stream():
    assert kinds(norm=nn.LayerNorm(D, elementwise_affine=False)) == {"norm": "layer norm"}


def test_norms_are_judged_as_they_are_in_evaluation():
    class Lazy(Norm):
        def forward(self, x):
            return x if self.training else super().forward(x)

    assert kinds(norm=Lazy()) == {"norm": "layer norm"}


def test_a_block_is_left_as_it_was():
    block = Calls(norm=Norm().float())
    judged(block)
    assert block.norm.weight.dtype == torch.float32
    assert block.training
    assert not block.norm._forward_hooks


def test_the_same_block_is_judged_by_the_same_numbers():
    block = Calls(norm=Norm(rms))
    assert judged(block) == judged(block)
