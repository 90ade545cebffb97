import sys

import numpy as np
import pytest
import torch

from tests.transformer_block.audit import hostile
from transformer_block.audit import Facts, audit
from transformer_block.audit.broken import CONFIG, Block
from transformer_block.audit.running import NAMES

WIDE = Facts(d_model=8, framework="numpy")


@pytest.mark.needs("fork")
@pytest.mark.parametrize("block", hostile.SAYS, ids=lambda block: block.__name__)
def test_a_hostile_block_gets_a_row_and_no_traceback(block):
    report = audit(block, WIDE, seconds=0.5 if block is hostile.sleeps else 30)
    assert report["shape"].state == "broken"
    assert report["shape"].sentence == hostile.SAYS[block]
    assert [fault.name for fault in report.faults] == ["no_usable_output"]
    assert not report.holds
    assert {row.state for row in report.rows[1:]} == {"not applicable"}
    assert [row.contract for row in report] == [*NAMES.values()]


@pytest.mark.needs("fork")
def test_a_flood_of_print_stays_inside(capfd):
    report = audit(hostile.floods, WIDE, seconds=600)
    assert report.holds
    assert capfd.readouterr() == ("", "")


@pytest.mark.needs("fork")
def test_a_row_that_harms_its_process_leaves_the_next_ones_alone():
    calls = np.zeros(1)

    def block(x):
        calls[0] += 1
        if x.shape[1] > 1 and (x == x[:, :1]).all():  # the contract of averages alone passes equal tokens
            sys.exit(3)
        return x

    report = audit(block, WIDE)
    assert [row.contract for row in report.broken] == ["average"]
    assert report["average"].sentence == "the block ended its process with status 3"
    assert calls[0] == 0


def test_without_forks_rows_run_beside_and_late_ones_are_left():
    assert audit(hostile.sleeps, WIDE, seconds=0.2, isolate=False)["shape"].sentence == (
        "the block gave no answer in 0.2 s"
    )
    exits = audit(hostile.exits, WIDE, isolate=False)["shape"]
    assert exits.sentence == "the block asked to exit with status 7"


def test_a_right_block_holds_every_contract_that_applies_and_leaves_its_own_weights_alone():
    block = Block()
    before = {name: value.clone() for name, value in block.state_dict().items()}
    rows = []
    report = audit(block, Facts(fresh=Block), like=CONFIG, isolate=False, progress=rows.append)
    assert report.holds
    assert report.faults == ()
    assert tuple(rows) == report.rows
    assert [row.contract for row in report if row.state != "held"] == ["permutation"]
    assert block.training
    for name, value in block.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


@pytest.mark.needs("fork")
def test_rows_from_forks_say_what_rows_from_threads_say():
    block = Block()
    apart, beside = (audit(block, like=CONFIG, isolate=isolate) for isolate in (True, False))
    assert str(apart) == str(beside)


def test_a_block_that_cannot_be_called_is_refused(unchecked):
    with pytest.raises(TypeError, match="a block is called with tokens; got int"):
        audit(3)


def test_a_block_of_unknown_width_is_refused():
    with pytest.raises(ValueError, match=r"nothing tells the width .* Facts\(d_model=…\)"):
        audit(lambda x: x)


def test_what_cannot_be_discovered_is_left_unknown():
    """It fails on all tokens but those of the contract of shape."""

    def block(x, visible=None):
        if visible is not None or not np.isclose(x, np.round(x * 64) / 64).all():
            raise RuntimeError("not these")
        return x

    report = audit(block, WIDE, isolate=False)
    assert report["shape"].state == "held"
    assert report["causal"].sentence == "RuntimeError: not these"
    assert report["padding"].state == "not applicable"
