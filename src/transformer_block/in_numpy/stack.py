"""The stack: blocks on one stream, between the positions and the final norm."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np
from jaxtyping import Bool, Float

from transformer_block import joins
from transformer_block._block_invariants import (
    require_caches,
    require_gradient,
    require_inputs,
    require_stream,
)
from transformer_block.config import BlockConfig
from transformer_block.in_numpy._call import Bound, Call
from transformer_block.in_numpy._sublayers import norm
from transformer_block.in_numpy.block import Backward, Block
from transformer_block.in_numpy.block import Inputs as BlockInputs
from transformer_block.in_numpy.cache import KVCache
from transformer_block.in_numpy.positions import sinusoidal
from transformer_block.parameters import Parameters, check_stack, within


class Inputs(TypedDict, total=False):
    """What a stack may read beside the stream and its mask: as a block's Inputs.

    Each block has a cache of its own. saved receives one dict for each block:
    saved["blocks.0"]["attention"]["weights"].
    """

    memory: Float[np.ndarray, "..."] | None
    memory_visible: Bool[np.ndarray, "..."] | None
    caches: Sequence[KVCache] | None
    rng: np.random.Generator | None
    saved: dict[str, Any] | None


class Stack:
    """A stack of config.n_layers blocks, each with parameters of its own.

    y = norm(block_L(… block_1(x + positions)))

    Sinusoidal positions are added to x where the configuration has them; rotary ones
    act inside attention. A post-norm stack has no final norm: its last block ends in
    one. The arrays of parameters are used as they are, not copied.

    Raises: ValueError or TypeError that names each parameter at fault.
    """

    def __init__(
        self, config: BlockConfig, parameters: Mapping[str, np.ndarray]
    ) -> None:
        check_stack(config, parameters)
        self.config = config
        self.parameters = dict(parameters)
        self.blocks = [
            Block(config, within(parameters, f"blocks.{i}"))
            for i in range(config.n_layers)
        ]

    def __call__(
        self,
        x: Float[np.ndarray, "*B T D"],
        visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> Float[np.ndarray, "*B T D"]:
        """Run all blocks; arguments and errors as in `stages`."""
        return joins.last(self.stages(x, visible, **inputs))

    def stages(
        self,
        x: Float[np.ndarray, "*B T D"],
        visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> Iterator[tuple[str, Float[np.ndarray, "*B T D"]]]:
        """Yield the stream after the positions, after each block and after the norm.

        By name: positions, blocks.0, blocks.1, …, norm. All blocks share one mask.

        Raises: as a block's stages; ValueError for caches that are not one for each
        block, or that lack room for x, before any of them has changed.
        """
        self._require(x, inputs)
        return self._run(x, visible, inputs)

    def vjp(
        self,
        x: Float[np.ndarray, "*B T D"],
        visible: Bool[np.ndarray, "*#B #T #T"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> tuple[Float[np.ndarray, "*B T D"], Backward]:
        """Run the stack; return its value and its backward, as a block's vjp does.

        The gradient of a memory is the sum of those that the blocks send back.

        Raises: as stages; ValueError for caches, or a dy that is not shaped as x.
        """
        self._require(x, inputs)
        if self.config.positions == "sinusoidal":
            x = x + self._positions(x, inputs)
        backwards = []
        for i, block in enumerate(self.blocks):
            x, backward = block.vjp(x, visible, **_of_block(i, inputs))
            backwards.append(backward)
        if self.config.placement == "post":
            return x, partial(self._backward, backwards, None)
        final = self._final_norm(x)
        return final(x), partial(self._backward, backwards, final)

    def gradients(
        self,
        x: Float[np.ndarray, "*B T D"],
        dy: Float[np.ndarray, "*B T D"],
        visible: Bool[np.ndarray, "*#B #T #T"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> tuple[Float[np.ndarray, "*B T D"], Parameters]:
        """Gradients of a loss by x and by each parameter, from dy, its gradient by y.

        dx, {name: gradient}; arguments and errors as in `vjp`
        """
        _, backward = self.vjp(x, visible, **inputs)
        return backward(dy)

    def _run(
        self, x: np.ndarray, visible: np.ndarray | None, inputs: Inputs
    ) -> Iterator[tuple[str, np.ndarray]]:
        if self.config.positions == "sinusoidal":
            x = x + self._positions(x, inputs)
            yield "positions", x
        for i, block in enumerate(self.blocks):
            x = block(x, visible, **_of_block(i, inputs))
            yield f"blocks.{i}", x
        if self.config.placement != "post":
            yield "norm", self._final_norm(x)(x)

    def _backward(
        self, backwards: list[Backward], final: Bound | None, dy: np.ndarray
    ) -> tuple[np.ndarray, Parameters]:
        gradients: Parameters = {}
        dx = dy
        if final is not None:
            require_gradient(dy, final.x)
            dx = final.backward(dy)
            gradients |= final.call.gradients
        for i, backward in reversed([*enumerate(backwards)]):
            dx, of_block = backward(dx)
            if "memory" in of_block:
                sent_back = of_block.pop("memory")
                gradients["memory"] = gradients.get("memory", 0) + sent_back
            gradients |= {f"blocks.{i}.{name}": g for name, g in of_block.items()}
        order = {name: i for i, name in enumerate((*self.parameters, "memory"))}
        return dx, dict(sorted(gradients.items(), key=lambda item: order[item[0]]))

    def _final_norm(self, x: np.ndarray) -> Bound:
        call = Call(config=self.config, parameters=self.parameters, shape=x.shape)
        return norm(call, "norm")

    def _positions(self, x: np.ndarray, inputs: Inputs) -> np.ndarray:
        caches = inputs.get("caches")
        offset = 0 if caches is None else caches[0].offset
        return sinusoidal(x.shape[-2], x.shape[-1], offset, dtype=x.dtype)

    def _require(self, x: np.ndarray, inputs: Inputs) -> None:
        require_stream(x, self.config.d_model)
        attention = self.parameters["blocks.0.attention.out.weight"]
        memory = inputs.get("memory")
        require_inputs(x, attention, memory, self.config.cross_attention)
        caches = inputs.get("caches")
        require_caches(caches, self.config.n_layers)
        for cache in caches or ():
            cache.require_room(x.shape[-2])


def _of_block(i: int, inputs: Inputs) -> BlockInputs:
    """What block i reads: its own cache, a place of its own in saved, and the rest."""
    caches, saved = inputs.get("caches"), inputs.get("saved")
    return {
        "memory": inputs.get("memory"),
        "memory_visible": inputs.get("memory_visible"),
        "rng": inputs.get("rng"),
        "cache": None if caches is None else caches[i],
        "saved": None if saved is None else saved.setdefault(f"blocks.{i}", {}),
    }
