"""Reading on from a cache gives what reading everything gives, in whatever chunks."""

import sys

import numpy as np
import pytest
import torch

from transformer_block.audit import Facts, Row
from transformer_block.audit.caching import CHUNKS, cached
from transformer_block.audit.subject import Subject, T, tokens
from transformer_block.audit.torch_subject import TorchSubject

D = 6
X = tokens(Subject(abs, Facts(d_model=D)))
GOOD = "one by one, in chunks and at once, behind a cache, gave the full pass"


class Sums:
    """Each token becomes the sum of those up to it; behind a cache, of those held there, too."""

    def __call__(self, x):
        return x.cumsum(1)

    def empty(self):
        return {"sum": 0.0, "length": 0, "pieces": []}

    def read(self, x, cache):
        y = cache["sum"] + x.cumsum(1)
        cache["sum"], cache["length"] = y[:, -1:], cache["length"] + x.shape[1]
        cache["pieces"].append(x)
        return y


def row_of(block, kind=Subject, **said):
    made = []

    def new_cache():
        made.append(block.empty())
        return made[-1]

    facts = Facts(d_model=D, new_cache=new_cache, call_cached=lambda b, x, cache: b.read(x, cache), **said)
    return cached(kind(block, facts)), made


def test_a_cache_is_read_behind_in_three_ways_and_each_time_a_new_one():
    row, made = row_of(Sums())
    assert (row.contract, row.state, row.sentence) == ("cache", "held", GOOD)
    errors = {"one_by_one", "in_chunks", "at_once"}
    assert {*row.evidence} == {*errors, "first_right", "hears_all"}
    assert row.number == max(row.evidence[way] for way in errors) <= row.threshold
    assert (row.evidence["first_right"], row.evidence["hears_all"]) == (True, True)
    assert [[piece.shape[1] for piece in cache["pieces"]] for cache in made] == [[1] * T, [3, 1, 2, 1], [T]]
    for cache in made:
        np.testing.assert_array_equal(np.concatenate(cache["pieces"], 1), X)
    assert row.threshold == Subject(abs, Facts(d_model=D)).rounding(X.cumsum(1))


def test_the_ways_cut_the_whole_of_a_sequence():
    assert {sum(chunks) for chunks in CHUNKS.values()} == {T}


class WrongIn(Sums):
    """It adds a number to each chunk of one length that stands behind another chunk."""

    def __init__(self, length, first=False):
        self.length, self.first = length, first

    def read(self, x, cache):
        behind = cache["length"] > 0 or self.first
        return super().read(x, cache) + 0.5 * (behind and x.shape[1] == self.length)


@pytest.mark.parametrize(
    ("block", "way", "wrong"),
    [
        (WrongIn(2), "in chunks", {"in_chunks"}),
        (WrongIn(T, first=True), "at once", {"at_once"}),
        (WrongIn(1), "one by one", {"one_by_one", "in_chunks"}),
    ],
)
def test_the_way_that_is_furthest_off_is_named(block, way, wrong):
    row, _ = row_of(block)
    assert (row.contract, row.state, row.number) == ("cache", "broken", pytest.approx(0.5))
    assert row.sentence == f"tokens read {way} behind a cache did not give the full pass"
    assert {name for name, error in row.evidence.items() if error > 0.4 and error is not True} == wrong
    assert row.evidence["hears_all"] is True
    assert row.evidence["first_right"] is True


class Forgets(Sums):
    """Of the tokens that it holds it forgets the one at a place."""

    def __init__(self, place):
        self.place = place

    def read(self, x, cache):
        y = super().read(x, cache)
        if cache["length"] - 1 == self.place and x.shape[1] == 1:
            cache["sum"] = cache["sum"] - x[:, -1:]
        return y


@pytest.mark.parametrize("place", range(T - 1))
def test_a_token_that_is_not_heard_behind_the_cache_is_noticed(place):
    row, _ = row_of(Forgets(place))
    assert row.evidence["first_right"] is True
    assert row.evidence["hears_all"] is False


class Directions(Sums):
    """It reads which way tokens point, as behind a norm; its first token is off."""

    def __call__(self, x):
        return (x / np.linalg.norm(x, axis=-1, keepdims=True)).cumsum(1)

    def read(self, x, cache):
        return super().read(x / np.linalg.norm(x, axis=-1, keepdims=True), cache) + 0.5


def test_tokens_that_are_heard_by_their_direction_alone_are_heard():
    assert row_of(Directions())[0].evidence["hears_all"] is True


class HearsByRounding(Sums):
    """Its last token moves by what rounding explains when an earlier one changes; its first token is off."""

    allowed = Subject(abs, Facts(d_model=D)).rounding(np.zeros(1))

    def __call__(self, x):
        return x * 0

    def read(self, x, cache):
        super().read(x, cache)
        held = np.concatenate(cache["pieces"], 1)
        moved = np.any(held[:, :-1] != X[:, : held.shape[1] - 1])
        return x * 0 + (0.5 if held.shape[1] == 1 else moved * self.allowed)


def test_a_move_that_rounding_explains_is_not_heard():
    assert row_of(HearsByRounding())[0].evidence["hears_all"] is False


def test_a_cache_that_was_not_empty_puts_the_first_token_off():
    class Stale(Sums):
        def empty(self):
            return {"sum": 1.0, "length": 0, "pieces": []}

    row, _ = row_of(Stale())
    assert (row.number, row.evidence["first_right"]) == (pytest.approx(1), False)


def test_what_rounding_explains_is_right():
    allowed = HearsByRounding.allowed

    class AtTheEdge(HearsByRounding):
        def read(self, x, cache):
            return x * 0 + allowed

    row, made = row_of(AtTheEdge())
    assert (row.state, row.number, row.threshold) == ("held", allowed, allowed)
    assert (row.evidence["first_right"], row.evidence["hears_all"]) == (True, True)
    assert len(made) == 3  # who hears whom is asked only of a cache that is wrong


def test_without_a_cache_there_is_nothing_to_ask():
    why = "no cache was said to exist: Facts(new_cache=…, call_cached=…)"
    assert cached(Subject(Sums(), Facts(d_model=D))) == Row("cache", "not applicable", why)


class InTorch(torch.nn.Module, Sums):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(D))

    def forward(self, x):
        assert not self.training
        return (x * self.gain).cumsum(1)

    def read(self, x, cache):
        assert not self.training
        assert isinstance(x, torch.Tensor)
        assert not torch.is_grad_enabled()
        return Sums.read(self, x * self.gain, cache), "more"


def test_arrays_are_read_where_there_is_no_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert row_of(Sums())[0].state == "held"


def test_a_module_reads_tensors_in_evaluation_and_without_gradients():
    row, _ = row_of(InTorch().train(), TorchSubject)
    assert row.state == "held", row.sentence
