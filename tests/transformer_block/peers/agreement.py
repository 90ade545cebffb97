"""A block and a layer that others wrote: run both on the same numbers, forward and backward, and compare."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from transformer_block.config import BlockConfig
from transformer_block.in_numpy import block as numpy_block
from transformer_block.in_torch import block as torch_block
from transformer_block.parameters import Parameters

# Relative to each entry, and absolute where an entry is near 0.
TOLERANCE = {np.float64: 1e-9, np.float32: 1e-5}


class Run(NamedTuple):
    """An output y; the gradients of Σ dy · y by the input, and by each parameter and the memory."""

    y: np.ndarray
    dx: np.ndarray
    gradients: dict[str, np.ndarray]


def of_numpy(
    config: BlockConfig, parameters: Parameters, x: np.ndarray, dy: np.ndarray, **inputs: np.ndarray | None
) -> Run:
    block = numpy_block.Block(config, parameters)
    return Run(block(x, **inputs), *block.gradients(x, dy, **inputs))


def of_torch(
    config: BlockConfig, parameters: Parameters, x: np.ndarray, dy: np.ndarray, **inputs: np.ndarray | None
) -> Run:
    memory = inputs.pop("memory", None)
    masks = {name: None if mask is None else torch.tensor(mask) for name, mask in inputs.items()}
    block = torch_block.Block(config, parameters)

    def call(x: Tensor, memory: Tensor | None = None) -> Tensor:
        return block(x, memory=memory, **masks)

    return of_module(block, call, x, dy, memory)


OF_TWIN = {"in_numpy": of_numpy, "in_torch": of_torch}


def of_module(
    module: nn.Module,
    call: Callable[..., Tensor],
    x: np.ndarray,
    dy: np.ndarray,
    memory: np.ndarray | None = None,
) -> Run:
    """Run call(x), or call(x, memory), which goes through the module."""
    tokens = {"x": torch.tensor(x, requires_grad=True)}
    if memory is not None:
        tokens["memory"] = torch.tensor(memory, requires_grad=True)
    y = call(*tokens.values())
    y.backward(torch.tensor(dy))
    learned = {name: each.grad.numpy() for name, each in module.named_parameters()}
    if memory is not None:
        learned["memory"] = tokens["memory"].grad.numpy()
    return Run(y.detach().numpy(), tokens["x"].grad.numpy(), learned)


def load(module: nn.Module, arrays: Mapping[str, np.ndarray]) -> nn.Module:
    """Fill a layer with these weights, no more and no fewer than it has."""
    module.load_state_dict({name: torch.tensor(value) for name, value in arrays.items()})
    return module


def assert_agree(ours: Run, theirs: Run, layout: Callable[[dict[str, np.ndarray]], dict]) -> None:
    """Output and every gradient, in the dtype of the output."""
    dtype = ours.y.dtype.type
    assert theirs.y.dtype == dtype
    in_their_layout = layout(ours.gradients)
    assert in_their_layout.keys() == theirs.gradients.keys()
    pairs = {"y": (ours.y, theirs.y), "dx": (ours.dx, theirs.dx)}
    pairs |= {name: (in_their_layout[name], theirs.gradients[name]) for name in in_their_layout}
    for name, (actual, expected) in pairs.items():
        np.testing.assert_allclose(
            actual, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], err_msg=name
        )
