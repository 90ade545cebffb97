"""What the stepper knows of a block is what the block computed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from transformer_block import in_python
from transformer_block._stage_knowledge import of_block, of_python, run
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.block import Block
from transformer_block.in_torch.block import Block as TorchBlock
from transformer_block.parameters import initialize, perturb

CONFIG = BlockConfig(d_model=6, n_heads=3, d_ff=7, eps=0.01)
PARAMETERS = perturb(initialize(CONFIG, seed=1), seed=2)
X = np.random.default_rng(3).normal(size=(5, 6))
TOKENS = list("abcde")


class Linear(torch.nn.Module):
    """A learner's block: parameters of its own, and no configuration."""

    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Linear(6, 6, dtype=torch.float64)

    def stages(self, x: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
        yield "up", self.up(x)


@pytest.mark.parametrize("causal", [False, True])
def test_the_parts_of_the_python_block_make_its_stages(causal: bool) -> None:
    known, found = of_python({"causal": causal}), dict(in_python.stages(causal=causal))

    assert known.values is not None
    assert known.inner is not None
    np.testing.assert_allclose(known.weights["attention"][0] @ known.values, found["attention"])
    down, bias = (known.parameters[f"feed_forward.down.{kind}"] for kind in ("weight", "bias"))
    np.testing.assert_allclose(known.inner @ down.T + bias, found["feed_forward"])


def test_the_twins_tell_the_same() -> None:
    told = []
    for block, x in ((Block(CONFIG, PARAMETERS), X), (TorchBlock(CONFIG, PARAMETERS), torch.from_numpy(X))):
        saved: dict[str, Any] = {}
        pairs = run(block, x, {}, saved)
        told.append(of_block(block, pairs, TOKENS, saved))

    ours, theirs = told
    assert ours.eps == theirs.eps == 0.01
    assert ours.reads == theirs.reads == {"attention": "norm_1", "feed_forward": "norm_2"}
    assert ours.weights["attention"].shape == (3, 5, 5)
    np.testing.assert_allclose(ours.weights["attention"], theirs.weights["attention"])
    np.testing.assert_allclose(ours.inner, theirs.inner)
    assert ours.parameters.keys() == theirs.parameters.keys() == PARAMETERS.keys()


def test_a_learners_block_tells_its_parameters_alone() -> None:
    block = Linear()

    known = of_block(block, run(block, torch.from_numpy(X), {}, {}), TOKENS, {})

    assert list(known.parameters) == ["up.weight", "up.bias"]
    assert (known.weights, known.inner, known.reads) == ({}, None, {})


def test_a_half_precision_block_is_read_in_double() -> None:
    pairs = run([("x", torch.ones(2, 3, dtype=torch.bfloat16))], None, {}, {})

    assert pairs[0][1].dtype == np.float64
