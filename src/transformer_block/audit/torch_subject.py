"""A PyTorch block as contracts see it. Loaded only where PyTorch already is."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from transformer_block.audit.subject import Arrays, Nonsense, Subject, Unable, kind


@dataclass(frozen=True)
class TorchSubject(Subject):
    """A PyTorch module, or a function of tensors."""

    dtype: str = "float32"

    framework = "torch"

    def raw(self, x: Any, visible: np.ndarray | None = None) -> Any:
        """Run the block without gradients; its first output, as it is."""
        with torch.no_grad():
            return super().raw(x, visible)

    def prepare(self) -> None:
        """Load what PyTorch loads at the first backward from a dy: a second a fork."""
        start = torch.ones(1, requires_grad=True)
        torch.autograd.grad(start, start, torch.ones(1))

    def native(self, array: np.ndarray) -> Tensor:
        """A tensor on the block's device; numbers in the block's own dtype."""
        tensor = torch.tensor(np.ascontiguousarray(array), device=self.device)
        return tensor if array.dtype == bool else tensor.to(getattr(torch, self.dtype))

    def array(self, output: Any, shape: tuple[int, ...]) -> np.ndarray:
        """An output as float64 numbers; errors as for an array."""
        if not isinstance(output, Tensor):
            raise Nonsense(f"returned {kind(output)}, not a tensor")
        if output.shape != shape:
            raise Nonsense(
                f"returned shape {tuple(output.shape)} for an input of {shape}"
            )
        if not output.dtype.is_floating_point:
            raise Nonsense(f"returned {output.dtype}, which is no floating dtype")
        return _numbers(output)

    @property
    def device(self) -> torch.device:
        """Where the block's parameters lie."""
        held = next(iter(_tensors(self.block)), None)
        return torch.device("cpu") if held is None else held.device

    @property
    def unit(self) -> float:
        """ε: the distance from 1 to the next number of the block's dtype."""
        return float(torch.finfo(getattr(torch, self.dtype)).eps)

    def seed(self, seed: int) -> None:
        """Start every global random stream that the block may draw from anew."""
        super().seed(seed)
        torch.manual_seed(seed)

    def parameters(self) -> Arrays:
        """The parameters by name, in float64; errors as for a NumPy block."""
        return {name: _numbers(each) for name, each in self.module.named_parameters()}

    @property
    def module(self) -> nn.Module:
        """The block, which is a module.

        Raises: Unable for a function, whose parameters and modes are its own.
        """
        if not isinstance(self.block, nn.Module):
            raise Unable("it is a function: its parameters and modes are its own")
        return self.block

    def with_parameters(self, parameters: Mapping[str, np.ndarray]) -> "TorchSubject":
        """A copy of the block with other parameters of the same names and shapes."""
        block = copy.deepcopy(self.module)
        with torch.no_grad():
            for name, held in block.named_parameters():
                held.copy_(torch.tensor(parameters[name]))
        return replace(self, block=block)

    def to(self, dtype: str) -> "TorchSubject":
        """A copy of the block in another dtype; errors as for a NumPy block."""
        block = copy.deepcopy(self.module).to(getattr(torch, dtype))
        return replace(self, block=block, dtype=dtype)

    def mode(self, training: bool) -> "TorchSubject":
        """A copy in training or in evaluation; a function has no modes to be in."""
        if not isinstance(self.block, nn.Module) and not training:
            return self
        return replace(self, block=copy.deepcopy(self.module).train(training))

    def calm(self) -> "TorchSubject":
        """A copy in training that drops nothing: every rate of dropout is 0."""
        quiet = self.mode(training=True)
        for module in quiet.module.modules():
            is_dropout = "dropout" in type(module).__name__.lower()
            for name, value in list(vars(module).items()):
                rate = "dropout" in name or (is_dropout and name in ("p", "rate"))
                if rate and isinstance(value, float):
                    setattr(module, name, 0.0)
        return quiet

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that the block can be in."""
        return ("eval", "train") if isinstance(self.block, nn.Module) else ("eval",)

    def gradients(
        self, x: np.ndarray, dy: np.ndarray, visible: np.ndarray | None = None
    ) -> tuple[np.ndarray, dict[str, np.ndarray | None]]:
        """dx, {name: gradient}, by autograd; None for a parameter that it misses."""
        given = self.native(x).requires_grad_()
        with torch.enable_grad():
            y = Subject.raw(self, given.clone(), visible)
            if not y.requires_grad:
                raise Unable("its output has no way back to its input")
            learned = dict(_named(self.block))
            found = torch.autograd.grad(
                y, [given, *learned.values()], self.native(dy), allow_unused=True
            )
        dx, *rest = (None if each is None else _numbers(each) for each in found)
        return np.zeros(x.shape) if dx is None else dx, dict(
            zip(learned, rest, strict=True)
        )


def dtype_of(block: Any) -> str:
    """The dtype in which a block is to be run: that of its parameters, or float32."""
    held = next((each for each in _tensors(block) if each.is_floating_point()), None)
    return "float32" if held is None else str(held.dtype).removeprefix("torch.")


def _tensors(block: Any) -> list[Tensor]:
    if not isinstance(block, nn.Module):
        return []
    return [*block.parameters(), *block.buffers()]


def _named(block: Any) -> list[tuple[str, nn.Parameter]]:
    if not isinstance(block, nn.Module):
        return []
    return [(n, p) for n, p in block.named_parameters() if p.requires_grad]


def _numbers(tensor: Tensor) -> np.ndarray:
    numbers: np.ndarray = tensor.detach().cpu().to(torch.float64, copy=True).numpy()
    return numbers
