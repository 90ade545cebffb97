"""Which block each contract gets, how many run at once, and what becomes of what they say."""

import inspect
import os

import numpy as np
import pytest
import torch

from transformer_block.audit import Facts, Row, audit, running
from transformer_block.audit.discovery import subject_of
from transformer_block.audit.measures import judged
from transformer_block.audit.running import NAMES
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block
from transformer_block.parameters import initialize

D = 6
WIDE = Facts(d_model=D, framework="numpy")


def beside(block, facts=WIDE, **choices):
    return audit(block, facts, isolate=False, **choices)


@pytest.mark.parametrize("contract", NAMES, ids=NAMES.values())
def test_a_contract_calls_its_row_by_the_name_that_it_is_known_by(contract):
    assert contract(subject_of(lambda x: x, WIDE)).contract == NAMES[contract]


class Scales:
    def __init__(self):
        self.parameters = {"gain": np.ones(D)}

    def __call__(self, x):
        return x * self.parameters["gain"]


def test_some_contracts_get_the_block_as_it_is_and_the_others_one_with_parameters_that_moved(monkeypatch):
    given = {}

    def asks(name):
        def contract(subject):
            given[name] = subject.parameters()["gain"].tolist()
            return Row(name, "held", "")

        return contract

    monkeypatch.setattr(running, "NAMES", {asks(name): name for name in NAMES.values()})
    beside(Scales())
    as_it_is = {name for name, gain in given.items() if gain == [1.0] * D}
    assert as_it_is == {"shape", "input kept", "output kept", "state", "zeroed branches"}
    moved = {tuple(gain) for name, gain in given.items() if name not in as_it_is}
    assert len(moved) == 1


def test_without_an_output_the_others_are_set_aside_for_that():
    report = beside(lambda x: None)
    why = "without finite outputs on ordinary tokens it cannot be asked"
    assert report.rows[1] == Row("input kept", "not applicable", why)
    assert [row.contract for row in report] == [*NAMES.values()]
    assert report["shape"].evidence == {"raised": True}


def test_a_configuration_adds_a_row_and_says_what_is_known_of_the_block():
    config = BlockConfig(d_model=8, n_heads=2, d_ff=12, placement="post", causal=True)
    block = Block(config, initialize(config, 0))
    report = beside(lambda x, visible=None: block(x, visible), Facts(framework="numpy"), like=config)
    assert [*report][-1].contract == "like the package"
    assert report["causal"].state == "held"
    assert report["shape"].sentence.startswith("(3, 7, 8) in")


def test_what_goes_wrong_in_a_likeness_is_in_its_row(monkeypatch):
    asked = []

    def alike(config):
        def contract(subject):
            asked.append(config)
            raise OSError("no disk")

        return contract

    config = BlockConfig(d_model=D, n_heads=2, d_ff=4)
    monkeypatch.setattr(running, "NAMES", {next(iter(NAMES)): "shape"})
    monkeypatch.setattr(running.likeness, "alike", alike)
    report = beside(lambda x: x, like=config)
    assert report["like the package"].sentence == "OSError: no disk"
    assert asked == [config]


def test_a_layer_that_many_know_need_not_be_described():
    layer = torch.nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)
    assert running._prepared(layer, Facts(), None).facts.call is not None


def test_a_block_is_prepared_once_before_any_contract(monkeypatch):
    prepared = []
    monkeypatch.setattr(running.Subject, "prepare", lambda self: prepared.append(self.block))
    block = Scales()
    beside(block)
    assert prepared == [block]


def test_an_unknown_width_is_refused_in_these_words():
    words = r"^nothing tells the width of the block's stream: say Facts\(d_model=…\)$"
    with pytest.raises(ValueError, match=words):
        audit(lambda x: x)


def test_a_contract_has_a_minute_where_nothing_is_said():
    assert inspect.signature(audit).parameters["seconds"].default == 60


@pytest.mark.parametrize(("processors", "at_once"), [(None, 2), (1, 2), (2, 3), (4, 5), (64, 5)])
def test_one_more_run_at_once_than_there_are_processors_and_never_more_than_five(
    monkeypatch, processors, at_once
):
    asked = []
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    monkeypatch.setattr(running, "side_by_side", lambda *given: asked.append(given) or iter(()))
    works = [print]
    running._answers(True, 7.5, works)
    assert asked == [(works, 7.5, at_once)]


def row_of(contract):
    return Row(**running._judged(subject_of(abs, WIDE), contract, "shape"))


def test_numbers_of_numpy_come_back_as_pythons_all_the_way_down():
    def contract(subject):
        ways = {1: (np.float32(0.5), [np.int64(3)]), "b": np.True_}
        return judged("shape", np.float64(0.25), 1.0, good="", bad="", ways=ways, none=None)

    found = row_of(contract)
    assert found.evidence == {"ways": {"1": [0.5, [3]], "b": True}, "none": None}
    half, (three,) = found.evidence["ways"]["1"]
    assert [type(each) for each in (found.number, half, three, found.evidence["ways"]["b"])] == [
        *(float, float, int, bool)
    ]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("no disk\nand more", "no disk"),
        ("a\x1b[2J\ud800é", "a\\x1b[2J\\ud800é"),
        ("x" * 200 + "y", "x" * 200),
        ("", ""),
    ],
)
def test_an_error_is_told_by_its_kind_and_its_first_line(message, words):
    def contract(subject):
        raise OSError(message)

    assert row_of(contract) == Row("shape", "broken", f"OSError: {words}", evidence={"raised": True})


@pytest.mark.filterwarnings("error")
def test_what_numpy_would_warn_of_is_a_finding_and_no_noise():
    def divides(subject):
        np.ones(1) / np.zeros(1)
        np.log(np.zeros(1))
        np.float16([60_000]) * 2
        return judged("shape", 0.0, 0.0, good="quiet", bad="")

    assert row_of(divides).sentence == "quiet"


def test_a_block_that_ends_its_process_has_said_nothing_that_was_measured():
    def leaves(x):
        raise SystemExit(7)

    row = beside(leaves)["shape"]
    assert row == Row("shape", "broken", "the block asked to exit with status 7", evidence={"ended": True})
