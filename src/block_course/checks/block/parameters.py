"""Tokens and parameters of small blocks: drawn so that no gain is 1, no bias is 0 and all sizes differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from block_course.checks.wording import two_numbers
from block_course.exercise import Argument, Array, Case, Outputs

Parameters = dict[str, Array]

BATCH_ITEMS = 2
CONDITION = 20.0
"""Two norms of tokens with a spread near 1, and a softmax of scores near 1, magnify no error by more."""

HEADS_AND_WIDTHS = ((3, 4), (4, 3), (3, 5))


@dataclass(frozen=True)
class Sizes:
    """T positions, D features, H heads, F inner features: pairwise distinct, and none of them B."""

    T: int
    D: int
    H: int
    F: int


def sizes(rng: np.random.Generator) -> Sizes:
    """Draw sizes; the head width D / H differs from all of them too."""
    heads, width = HEADS_AND_WIDTHS[rng.integers(len(HEADS_AND_WIDTHS))]
    return Sizes(T=int(rng.integers(6, 8)), D=heads * width, H=heads, F=int(rng.integers(17, 21)))


def shapes(D: int, F: int) -> dict[str, tuple[int, ...]]:
    """The twelve tensors of a block in the order of its stages, with their shapes."""
    return {
        "norm_1.weight": (D,),
        "norm_1.bias": (D,),
        "attention.qkv.weight": (3 * D, D),
        "attention.qkv.bias": (3 * D,),
        "attention.out.weight": (D, D),
        "attention.out.bias": (D,),
        "norm_2.weight": (D,),
        "norm_2.bias": (D,),
        "feed_forward.up.weight": (F, D),
        "feed_forward.up.bias": (F,),
        "feed_forward.down.weight": (D, F),
        "feed_forward.down.bias": (D,),
    }


def parameters(rng: np.random.Generator, size: Sizes, dtype: DTypeLike = np.float64) -> Parameters:
    """Parameters as they may be after training."""
    return {name: _drawn(rng, name, shape).astype(dtype) for name, shape in shapes(size.D, size.F).items()}


def _drawn(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> Array:
    if len(shape) == 2:
        return np.asarray(rng.normal(0.0, shape[1] ** -0.5, shape))
    if name.endswith(".bias"):
        return np.asarray(rng.uniform(0.3, 0.8, shape) * rng.choice([-1.0, 1.0], shape))
    return np.asarray(rng.uniform(0.5, 1.8, shape))


def at_the_start(drawn: Parameters) -> Parameters:
    """The same matrices, with every gain at 1 and every bias at 0, as training finds them."""
    return {
        name: np.zeros_like(value)
        if name.endswith(".bias")
        else np.ones_like(value)
        if value.ndim == 1
        else value.copy()
        for name, value in drawn.items()
    }


def without(drawn: Parameters, *parts: str) -> Parameters:
    """The same parameters with those of the named parts at 0."""
    return {
        name: np.zeros_like(value) if name.rpartition(".")[0] in parts or name in parts else value.copy()
        for name, value in drawn.items()
    }


def tokens(rng: np.random.Generator, size: Sizes, dtype: DTypeLike = np.float64) -> Array:
    """A batch of tokens, each with a mean of its own."""
    x = rng.normal(size=(BATCH_ITEMS, size.T, size.D)) + rng.uniform(-1.5, 1.5, (BATCH_ITEMS, size.T, 1))
    return np.asarray(x, dtype)


def split_arguments(arguments: Mapping[str, Argument]) -> tuple[Array, int, Parameters]:
    """Take x, n_heads and the parameters apart."""
    x, n_heads = arguments["x"], arguments["n_heads"]
    drawn = {name: np.asarray(value) for name, value in arguments.items() if "." in name}
    return np.asarray(x), int(n_heads), drawn  # type: ignore[arg-type]


def first_numbers(case: Case, outputs: Outputs, right: Array) -> str:
    """Where the learner's output first departs from the right one, in a leading digit, with both numbers."""
    got = outputs[0]
    apart = np.argwhere(np.abs(got - right) > 0.01)
    index = tuple(apart[0]) if len(apart) else (0,) * right.ndim
    is_now, should_be = two_numbers(got[index], right[index])
    where = ", ".join(str(int(each)) for each in index)
    return f"entry [{where}] is {is_now} and should be {should_be}"
