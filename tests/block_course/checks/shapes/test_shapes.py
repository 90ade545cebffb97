"""The exercises on shapes: their tables are those of the package's own blocks."""

from itertools import permutations

import numpy as np
import pytest

from block_course.checks.shapes.right import branches, row, trace, wires
from transformer_block.config import BlockConfig
from transformer_block.graph import graph
from transformer_block.in_numpy.block import Block
from transformer_block.parameters import initialize, shapes

B, T, D, H, F = 2, 5, 6, 3, 11
CONFIG = BlockConfig(d_model=D, n_heads=H, d_ff=F)
BLOCKS = [Block(CONFIG, initialize(CONFIG, seed)) for seed in range(3)]


def values():
    saved = {}
    stages = dict(BLOCKS[0].stages(np.ones((B, T, D)), saved=saved))
    return stages, saved


def test_the_ends_of_the_branches_are_those_of_a_block_that_runs() -> None:
    stages, saved = values()
    expected = branches(B, T, D, F)

    for name, stage in {"attention": "attention", "feed_forward": "feed_forward", "y": "add_2"}.items():
        assert stages[stage].shape == expected[name]
    assert saved["feed_forward"]["inner"].shape == expected["inner"]
    for name in ("up", "down"):
        assert shapes(CONFIG)[f"feed_forward.{name}.weight"] == expected[name]


def test_every_stage_is_traced_as_a_block_computes_it() -> None:
    stages, saved = values()
    expected = trace(B, T, D, H, F)

    assert {name: value.shape for name, value in stages.items()}.items() <= expected.items()
    assert saved["attention"]["heads"][0].shape == expected["queries"] == expected["heads"]
    assert saved["attention"]["weights"].shape == expected["weights"]


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_the_wires_are_those_of_the_packages_graph(placement) -> None:
    drawn = graph(BlockConfig(d_model=D, n_heads=H, d_ff=F, placement=placement))
    expected = wires(placement, "x")

    assert {box: {edge.source for edge in drawn.into(box)} for box in expected} == expected


def test_a_row_of_blocks_does_what_is_predicted() -> None:
    expected = row(B, T, D, 3)
    offered = {
        "longer": (B, 2 * T, D),
        "wider": (B, T, 2 * D),
        "more items": (2 * B, T, D),
        "turned": (B, D, T),
        "one token": (B, 1, D),
        "narrow": (B, T, 1),
    }

    def run(shape, order=BLOCKS):
        x = np.ones(shape)
        for block in order:
            x = block(x)
        return x.shape

    orders = [run((B, T, D), order) for order in permutations(BLOCKS)]
    assert (set(orders), len(orders)) == ({expected["stream"]}, expected["orders"])
    for name, shape in offered.items():
        if name in expected["takes"]:
            assert run(shape) == shape
        else:
            with pytest.raises(ValueError, match=r"shape \(\.\.\., T, 6\)"):
                run(shape)
