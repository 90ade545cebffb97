"""What the stepper can learn of a block beside the values of its stages."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from transformer_block import in_python
from transformer_block.config import BlockConfig

Vector = Float[np.ndarray, "_"]
Pairs = list[tuple[str, np.ndarray]]


@dataclass(frozen=True)
class Knowledge:
    """What is known of a block beside its stages; any of it may be missing.

    reads names the stage that a branch reads. weights (H, T, S), by branch, are those
    of attention, and values (S, D) what a single head without an output matrix gathers.
    inner (T, F) are the feed-forward part's inner features. parameters have the
    package's names.
    """

    tokens: Sequence[str]
    reads: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, Float[np.ndarray, "H T S"]] = field(default_factory=dict)
    values: Float[np.ndarray, "S D"] | None = None
    inner: Float[np.ndarray, "T F"] | None = None
    parameters: Mapping[str, np.ndarray] = field(default_factory=dict)
    eps: float = 1e-5


def run(block: Any, x: Any, inputs: Mapping[str, Any], saved: dict[str, Any]) -> Pairs:
    """Run a block: name and (T, D) value of each stage, the input among them.

    A block that takes `saved` leaves there what else it has to show.
    """
    given = None if x is None else x[None] if getattr(x, "ndim", 2) == 1 else x
    stages = getattr(block, "stages", None)
    if stages is None:
        if not isinstance(block, Iterable):
            raise TypeError(f"a block has stages(x); {type(block).__name__} has none")
        found = block
    else:
        show = {"saved": saved} if _takes_saved(stages) else {}
        arguments = [] if given is None else [given]
        found = stages(*arguments, **{**show, **inputs})
    pairs = [(name, _tokens_of(name, value)) for name, value in found]
    if given is not None and (not pairs or pairs[0][0] != "x"):
        pairs.insert(0, ("x", _tokens_of("x", given)))
    if not pairs:
        raise ValueError("the block has no stages: nothing was yielded")
    return pairs


def of_python(inputs: Mapping[str, Any]) -> Knowledge:
    """All of the block of `in_python`, whose parts are plain functions."""
    found = dict(in_python.stages(**inputs))
    read = "add_position" if inputs.get("positions_in_attention") else "embedding"
    weights = in_python.attention_weights(found[read], inputs.get("causal", False))
    values = [in_python.linear(in_python.VALUE, each) for each in found[read]]
    up = np.array(found["norm_1"]) @ np.transpose(in_python.UP) + in_python.UP_BIAS
    return Knowledge(
        in_python.TOKENS,
        reads={"attention": read, "feed_forward": "norm_1"},
        weights={"attention": np.array([weights])},
        values=np.array(values),
        inner=np.maximum(up, 0),
        parameters={
            "feed_forward.down.weight": np.array(in_python.DOWN),
            "feed_forward.down.bias": np.array(in_python.DOWN_BIAS),
        },
    )


def of_block(
    block: Any, pairs: Pairs, tokens: Sequence[str], saved: Mapping[str, Any]
) -> Knowledge:
    """What a block of the package tells; of another, its parameters by their names."""
    held = (
        block.state_dict()
        if hasattr(block, "state_dict")
        else getattr(block, "parameters", None)
    )
    parameters = (
        {name: _array(value) for name, value in held.items()}
        if isinstance(held, Mapping)
        else {}
    )
    config = getattr(block, "config", None)
    if not isinstance(config, BlockConfig) or not saved:
        return Knowledge(tokens, parameters=parameters)
    names = [name for name, _ in pairs]
    parallel = config.placement == "parallel"
    inner = _array(saved["feed_forward"]["inner"])
    return Knowledge(
        tokens,
        reads={
            branch: "norm_1" if parallel else names[names.index(branch) - 1]
            for branch in config.branches
        },
        weights={
            name: _array(each["weights"]).reshape(-1, *each["weights"].shape[-2:])
            for name, each in saved.items()
            if "weights" in each
        },
        inner=inner.reshape(-1, inner.shape[-1]),
        parameters=parameters,
        eps=config.eps,
    )


def _takes_saved(stages: Callable[..., Any]) -> bool:
    parameters = inspect.signature(stages).parameters.values()
    return any(
        each.name == "saved" or each.kind is each.VAR_KEYWORD for each in parameters
    )


def _array(value: Any) -> np.ndarray:
    if hasattr(value, "detach"):
        value = value.detach().cpu().double().numpy()
    return np.asarray(value, dtype=np.float64)


def _tokens_of(name: str, value: Any) -> np.ndarray:
    array = _array(value)
    if array.ndim < 1 or any(size != 1 for size in array.shape[:-2]):
        raise ValueError(
            f"one sequence (T, D) is walked; {name!r} has shape {array.shape}"
        )
    return array.reshape(-1, array.shape[-1])
