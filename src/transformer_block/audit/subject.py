"""A block as contracts see it: float64 arrays in and out, whatever stands behind."""

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from transformer_block.audit.facts import Facts, in_their_form

Arrays = dict[str, np.ndarray]
B, T, S = 3, 7, 5
"""Sequences and positions of an audit's inputs, and positions of a memory."""
_SAFETY = 32.0


class Nonsense(Exception):
    """A block's output cannot be that of a block; the message says why."""


class Unable(Exception):
    """The block cannot be asked for this: the contract is not applicable."""


@dataclass(frozen=True)
class Subject:
    """A NumPy block, or any callable of arrays, with the facts that are known of it."""

    block: Any
    facts: Facts
    dtype: str = "float64"
    framework = "numpy"

    @property
    def width(self) -> int:
        """D, the features of a token.

        Raises: Unable where nothing tells it.
        """
        if self.facts.d_model is None:
            raise Unable("nothing tells the width of its stream: say Facts(d_model=…)")
        return self.facts.d_model

    def __call__(self, x: np.ndarray, visible: np.ndarray | None = None) -> np.ndarray:
        """Run the block on (B, T, D) numbers and a mask that is True where visible.

        Raises: Nonsense for an output that is no array of x's shape; what the block
        raises.
        """
        return self.array(self.raw(self.native(x), visible), x.shape)

    def raw(self, x: Any, visible: np.ndarray | None = None) -> Any:
        """Run the block on an array of its own kind; its first output, as it is."""
        facts = self.facts
        if facts.call is not None:
            mask = None if visible is None else self.native(visible)
            return first(facts.call(self.block, x, mask))
        args, extra = self.beside(len(x), visible)
        return first(self.block(x, *args, **extra))

    def beside(
        self, batch: int, visible: np.ndarray | None = None
    ) -> tuple[list[Any], dict[str, Any]]:
        """What is passed beside the tokens: by place, and by name.

        Raises: Unable for a mask, if the block takes none.
        """
        facts = self.facts
        extra: dict[str, Any] = {}
        if facts.memory:
            drawn = np.random.default_rng(5).normal(size=(1, S, self.width))
            extra["memory"] = self.native(np.repeat(drawn, batch, axis=0))
        if visible is None:
            return [], extra
        if not facts.mask:
            raise Unable("it takes no mask")
        means, axes = facts.mask_means or "visible", facts.mask_axes or "BTS"
        mask = self.native(in_their_form(visible, means, axes))
        if accepts_keyword(self.block, facts.mask):
            return [], extra | {facts.mask: mask}
        return [mask], extra

    def prepare(self) -> None:
        """Load once what every contract would load on its own."""

    def native(self, array: np.ndarray) -> Any:
        """An array of the block's own framework; numbers in the block's own dtype."""
        return np.array(array, bool if array.dtype == bool else self.dtype)

    def array(self, output: Any, shape: tuple[int, ...]) -> np.ndarray:
        """An output as float64 numbers.

        Raises: Nonsense for an output that is no array of this shape.
        """
        if not isinstance(output, np.ndarray):
            raise Nonsense(f"returned {kind(output)}, not an array")
        if output.shape != shape:
            raise Nonsense(f"returned shape {output.shape} for an input of {shape}")
        if output.dtype.kind != "f":
            raise Nonsense(f"returned {output.dtype}, which is no floating dtype")
        return np.array(output, np.float64)

    @property
    def takes_mask(self) -> bool:
        """Whether a mask can be passed."""
        return self.facts.call is not None or bool(self.facts.mask)

    @property
    def unit(self) -> float:
        """ε: the distance from 1 to the next number of the block's dtype."""
        return float(np.finfo(self.dtype).eps)

    def rounding(self, *values: np.ndarray) -> float:
        """What rounding alone may move in these values: 32 · ε · √D · max(1, |y|)."""
        largest = max(float(np.abs(value).max(initial=0)) for value in values)
        return _SAFETY * self.unit * float(np.sqrt(self.width)) * max(1.0, largest)

    def seed(self, seed: int) -> None:
        """Start every global random stream that the block may draw from anew."""
        np.random.seed(seed)

    def parameters(self) -> Arrays:
        """Its parameters by name, in float64.

        Raises: Unable where they cannot be read.
        """
        held = getattr(self.block, "parameters", None)
        if not isinstance(held, Mapping):
            raise Unable("its parameters cannot be read and set from outside")
        return {name: np.asarray(value, np.float64) for name, value in held.items()}

    def with_parameters(self, parameters: Mapping[str, np.ndarray]) -> "Subject":
        """A copy of the block with other parameters of the same names and shapes."""
        dtypes = {name: value.dtype for name, value in self.block.parameters.items()}
        typed = {n: np.asarray(value, dtypes[n]) for n, value in parameters.items()}
        return replace(self, block=self._remade(typed))

    def _remade(self, parameters: Arrays) -> Any:
        if self.facts.remake is not None:
            return self.facts.remake(parameters)
        block = copy.copy(self.block)
        block.parameters = parameters
        return block

    def to(self, dtype: str) -> "Subject":
        """A copy of the block in another dtype.

        Raises: Unable where that cannot be.
        """
        if dtype == "bfloat16":
            raise Unable("NumPy has no bfloat16")
        self.parameters()
        held = self.block.parameters.items()
        block = self._remade({name: value.astype(dtype) for name, value in held})
        return replace(self, block=block, dtype=dtype)

    def mode(self, training: bool) -> "Subject":
        """A copy in training or in evaluation.

        Raises: Unable for a block that knows no training.
        """
        if training:
            raise Unable("it knows no training mode")
        return self

    def calm(self) -> "Subject":
        """A copy in training that drops nothing.

        Raises: Unable for a block that knows no training.
        """
        return self.mode(training=True)

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that the block can be in."""
        return ("eval",)

    def in_mode(self, name: str) -> "Subject":
        """A copy in the mode of that name; in training, nothing is dropped."""
        return self.calm() if name == "train" else self.mode(training=False)

    def gradients(
        self, x: np.ndarray, dy: np.ndarray, visible: np.ndarray | None = None
    ) -> tuple[np.ndarray, dict[str, np.ndarray | None]]:
        """dx, {name: gradient}: of a loss by x and by each parameter, from dy.

        Raises: Unable for a block that has no way back.
        """
        if not callable(getattr(self.block, "gradients", None)):
            raise Unable("it has no gradients")
        args, extra = self.beside(len(x), visible)
        given = self.native(x), self.native(dy)
        dx, learned = self.block.gradients(*given, *args, **extra)
        return dx, dict(learned)

    def stirred(self, seed: int = 0) -> "Subject":
        """A copy whose parameters have all been moved, so that no 0 hides a fault.

        W + ε / (2 √in),  b + ε / 10  with ε ~ normal(0, 1)

        Where parameters cannot be set, the block as it is.
        """
        try:
            parameters = self.parameters()
        except Unable:
            return self
        rng = np.random.default_rng(seed)
        return self.with_parameters(
            {
                name: value + rng.normal(size=value.shape) * _stir(value)
                for name, value in parameters.items()
            }
        )


def first(output: Any) -> Any:
    """The stream among what a block returns: the first of a tuple, or all of it."""
    return output[0] if isinstance(output, tuple | list) and output else output


def kind(value: Any) -> str:
    """What a value is, in a word."""
    return "None" if value is None else type(value).__name__


def accepts_keyword(block: Any, name: str) -> bool:
    """Whether an argument of this name can be passed by it."""
    parameter = arguments(block).get(name)
    return parameter is not None and parameter.kind is not parameter.POSITIONAL_ONLY


def arguments(block: Any) -> Mapping[str, inspect.Parameter]:
    """The arguments of a callable by name; none where it doesn't tell them."""
    try:
        return inspect.signature(getattr(block, "forward", block)).parameters
    except (TypeError, ValueError):
        return {}


def tokens(subject: Subject, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    """Random tokens (B, T, D) that hardly any dtype rounds: multiples of 1/64."""
    rng = np.random.default_rng(seed)
    drawn = np.round(rng.normal(size=(B, T, subject.width)) * 64) / 64
    return cast(np.ndarray, drawn * scale)


def _stir(value: np.ndarray) -> float:
    return 0.1 if value.ndim < 2 else 0.5 / float(np.sqrt(value.shape[-1]))
