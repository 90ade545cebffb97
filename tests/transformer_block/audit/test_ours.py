import numpy as np
import pytest

from tests.transformer_block.choices import COVERING, config_of, name_of
from transformer_block.audit import audit
from transformer_block.in_numpy.block import Block as NumpyBlock
from transformer_block.in_numpy.stack import Stack as NumpyStack
from transformer_block.in_torch.block import Block as TorchBlock
from transformer_block.in_torch.stack import Stack as TorchStack
from transformer_block.parameters import initialize, initialize_stack

# an audit calls a block a thousand times; that the shapes are right is what other tests show
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("unchecked")]

every_choice = pytest.mark.parametrize("row", COVERING, ids=name_of)
# what a block may have no answer to: a mode, a cache, a dtype, norms that can be asked alone
MAY_NOT_APPLY = {
    "train and eval",
    "causal",
    "average",
    "permutation",
    "zeroed branches",
    "norms",
    "cache",
    "bfloat16",
}


def assert_holds(report):
    assert report.holds, str(report)
    assert report.faults == ()
    aside = {row.contract for row in report if row.state == "not applicable"}
    assert aside <= MAY_NOT_APPLY


@every_choice
@pytest.mark.parametrize(("block", "dtype"), [(NumpyBlock, np.float64), (TorchBlock, np.float32)])
def test_a_block_holds_every_contract_with_whatever_choices(block, dtype, row):
    config = config_of(row)
    parameters = {name: value.astype(dtype) for name, value in initialize(config, 0).items()}
    report = audit(block(config, parameters), like=config, isolate=False, seconds=600)
    assert_holds(report)
    assert report["like the package"].state == "held"
    assert (report["causal"].state == "held") == config.causal
    assert (report["cache"].state == "held") == config.causal


@pytest.mark.parametrize("row", COVERING[::6], ids=name_of)
@pytest.mark.parametrize("stack", [NumpyStack, TorchStack])
def test_a_stack_holds_every_contract(stack, row):
    config = config_of(row)
    initial = initialize_stack(config, 0)
    parameters = {name: value.astype(np.float32) for name, value in initial.items()}
    assert_holds(audit(stack(config, parameters), isolate=False, seconds=600))
