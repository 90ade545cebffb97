import json
import sys
import types

import numpy as np
import pytest
import torch
from torch.nn import functional

from block_course.calling import observe
from block_course.exercise import Case, Manner
from block_course.grading.stand_in import Withheld
from block_course.withholding import watching
from transformer_block.in_numpy import layer_norm as ours

LAYER_NORM = "torch.nn.functional.layer_norm"
X = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
CASE = Case(name="a case", arguments={"x": X})


def used(call, *withheld):
    with watching(withheld) as noticed:
        call()
    return noticed


alias = functional.layer_norm


@pytest.mark.parametrize(
    "call",
    [
        lambda: functional.layer_norm(torch.ones(2, 3), (3,)),
        lambda: alias(torch.ones(2, 3), (3,)),
        lambda: torch.nn.LayerNorm(3)(torch.ones(2, 3)),
    ],
)
def test_a_function_of_python_is_noticed_under_any_alias(call) -> None:
    assert used(call, LAYER_NORM) == [LAYER_NORM]


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.softmax(torch.ones(2, 3), -1),
        lambda: torch._C._VariableFunctions.softmax(torch.ones(2, 3), -1),
    ],
)
def test_a_function_of_c_is_noticed(call) -> None:
    assert used(call, "torch.softmax") == ["torch.softmax"]


def test_anything_in_a_package_is_noticed() -> None:
    call = lambda: [ours.layer_norm(X, np.ones(3), np.zeros(3)) for _ in range(3)]  # noqa: E731

    assert used(call, "transformer_block", LAYER_NORM) == ["transformer_block"]


def test_what_is_not_withheld_is_not_noticed() -> None:
    assert (
        used(lambda: functional.softmax(torch.ones(2, 3), -1), LAYER_NORM, "transformer_block_of_yours") == []
    )


def test_a_name_of_a_module_that_is_not_loaded_is_passed_over() -> None:
    assert used(lambda: None, "no_such_library.layer_norm") == []


def test_a_module_that_is_not_loaded_is_passed_over_though_its_package_is(monkeypatch) -> None:
    unloaded = "json.tool"
    monkeypatch.delitem(sys.modules, unloaded, raising=False)
    monkeypatch.delattr(json, "tool", raising=False)

    assert used(lambda: None, unloaded) == []


def test_a_module_that_may_not_be_looked_for_is_passed_over(monkeypatch) -> None:
    hollow = types.ModuleType("hollow")
    hollow.__path__ = []
    monkeypatch.setitem(sys.modules, "hollow", hollow)
    monkeypatch.setattr(sys, "meta_path", [Withheld("08_block", ["hollow"]), *sys.meta_path])

    assert used(lambda: None, "hollow.room") == []


def test_a_name_that_a_module_lacks_is_an_error() -> None:
    with pytest.raises(AttributeError, match="layer_nrom"), watching(["torch.nn.functional.layer_nrom"]):
        pass


def test_a_profiler_of_before_is_there_again_after() -> None:
    def profiler(*given: object) -> None:
        return None

    sys.setprofile(profiler)
    try:
        used(lambda: None, LAYER_NORM)
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)


def test_an_answer_that_calls_what_is_withheld_is_forbidden() -> None:
    manner = Manner("torch", withheld=(LAYER_NORM, "transformer_block"))

    observed = observe(lambda x: functional.layer_norm(x, x.shape[-1:]), CASE, manner)

    assert (observed.status, observed.message) == ("forbidden", f"calls {LAYER_NORM}")
    assert observed.outputs == ()


def test_an_answer_that_does_without_is_what_it_was() -> None:
    manner = Manner("torch", withheld=(LAYER_NORM, "transformer_block"))

    observed = observe(lambda x: (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True), CASE, manner)

    assert observed.status == "returned"
