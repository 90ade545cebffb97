"""One call of a block, and parts that remember what they were called with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from transformer_block.config import BlockConfig
from transformer_block.in_numpy import Saved
from transformer_block.in_numpy.cache import KVCache
from transformer_block.in_numpy.dropout import DropMask, draw_mask
from transformer_block.in_numpy.residual import residual, residual_backward


@dataclass
class Call:
    """One call of a block: what its parts read, and the gradients that they leave.

    shape is that of the stream. rng draws what is dropped; without it nothing is. saved
    receives one dict for each branch; it is None where no backward will follow.
    """

    config: BlockConfig
    parameters: Mapping[str, np.ndarray]
    shape: tuple[int, ...]
    visible: np.ndarray | None = None
    memory: np.ndarray | None = None
    memory_visible: np.ndarray | None = None
    cache: KVCache | None = None
    rng: np.random.Generator | None = None
    saved: dict[str, Saved] | None = None
    gradients: dict[str, np.ndarray] = field(default_factory=dict)

    def arrays(self, part: str, names: Mapping[str, str]) -> dict[str, Any]:
        """A part's tensors by the names of its arguments; None where it has none."""
        return {
            argument: self.parameters.get(f"{part}.{tensor}")
            for argument, tensor in names.items()
        }

    def saved_in(self, branch: str) -> Saved | None:
        """The dict in which a branch leaves what its backward would compute again."""
        return None if self.saved is None else self.saved.setdefault(branch, {})

    def drop(self, shape: tuple[int, ...], rate: float) -> DropMask | None:
        """Draw what is dropped in training; None in evaluation."""
        return None if self.rng is None else draw_mask(shape, rate, self.rng)

    def leave(
        self, part: str, names: Mapping[str, str], gradients: Mapping[str, Any]
    ) -> None:
        """Note the gradients of those tensors of a part that the block has."""
        for argument, tensor in names.items():
            if f"{part}.{tensor}" in self.parameters:
                self.gradients[f"{part}.{tensor}"] = gradients[argument]


@dataclass
class Bound:
    """A function of the stream and its backward, with every other argument given."""

    call: Call
    name: str
    function: Callable[..., np.ndarray]
    function_backward: Callable[..., Any]
    names: Mapping[str, str]
    given: dict[str, Any]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Run the function, and keep x for the way back."""
        self.x = x
        return self.function(x, **self.given)

    def backward(self, dy: np.ndarray) -> np.ndarray:
        """Leave the gradients of the tensors with the call; return that of x."""
        gradients = self.function_backward(dy, self.x, **self.given)._asdict()
        self.call.leave(self.name, self.names, gradients)
        if "memory" in gradients:
            self.call.gradients["memory"] = gradients["memory"]
        return gradients["x"]


@dataclass
class BoundResidual:
    """residual with the scale of one place in the block, where it has one."""

    call: Call
    name: str
    given: dict[str, Any]

    def __call__(self, x: np.ndarray, update: np.ndarray) -> np.ndarray:
        """Join the two, and keep them for the way back."""
        self.streams = x, update
        return residual(x, update, **self.given)

    def backward(self, dy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Leave the scale's gradient with the call; return those of x and update."""
        gradients = residual_backward(dy, *self.streams, **self.given)
        self.call.leave(self.name, {"weight": "weight"}, gradients._asdict())
        return gradients.x, gradients.update
