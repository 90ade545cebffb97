"""The stack: blocks on one stream, between the positions and the final norm."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict, Unpack

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_block import joins
from transformer_block._block_invariants import require_caches, require_stream
from transformer_block.config import BlockConfig
from transformer_block.in_torch._sublayers import norm
from transformer_block.in_torch.block import Block
from transformer_block.in_torch.block import Inputs as BlockInputs
from transformer_block.in_torch.cache import KVCache
from transformer_block.in_torch.positions import sinusoidal
from transformer_block.parameters import check_stack, within


class Inputs(TypedDict, total=False):
    """What a stack may read beside the stream and its mask: as a block's Inputs.

    Each block has a cache of its own. saved receives one dict for each block:
    saved["blocks.0"]["attention"]["weights"].
    """

    memory: Float[Tensor, "..."] | None
    memory_visible: Bool[Tensor, "..."] | None
    caches: Sequence[KVCache] | None
    saved: dict[str, Any] | None


class Stack(nn.Module):
    """A stack of config.n_layers blocks, each with parameters of its own.

    y = norm(block_L(… block_1(x + positions)))

    Sinusoidal positions are added to x where the configuration has them; rotary ones
    act inside attention. A post-norm stack has no final norm: its last block ends in
    one. The arrays of parameters are copied, and state_dict() has exactly their keys.

    Raises: ValueError or TypeError that names each parameter at fault.
    """

    def __init__(
        self, config: BlockConfig, parameters: Mapping[str, np.ndarray]
    ) -> None:
        super().__init__()
        check_stack(config, parameters)
        self.config = config
        self.blocks = nn.ModuleList(
            Block(config, within(parameters, f"blocks.{i}"))
            for i in range(config.n_layers)
        )
        if config.placement != "post":
            with torch.device("meta"):
                self.norm = norm(config)
            final = within(parameters, "norm")
            self.norm.load_state_dict(
                {name: torch.tensor(value) for name, value in final.items()},
                assign=True,
            )

    def forward(
        self,
        x: Float[Tensor, "*B T D"],
        visible: Bool[Tensor, "*#B #T #S"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> Float[Tensor, "*B T D"]:
        """Run all blocks; arguments and errors as in `stages`."""
        return joins.last(self.stages(x, visible, **inputs))

    def stages(
        self,
        x: Float[Tensor, "*B T D"],
        visible: Bool[Tensor, "*#B #T #S"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> Iterator[tuple[str, Float[Tensor, "*B T D"]]]:
        """Yield the stream after the positions, after each block and after the norm.

        By name: positions, blocks.0, blocks.1, …, norm. All blocks share one mask.

        Raises: as a block's stages; ValueError for caches that are not one for each
        block, or that lack room for x, before any of them has changed.
        """
        caches = inputs.get("caches")
        require_stream(x, self.config.d_model)
        require_caches(caches, self.config.n_layers)
        for cache in caches or ():
            cache.require_room(x.shape[-2])
        return self._run(x, visible, inputs)

    def _run(
        self, x: Tensor, visible: Tensor | None, inputs: Inputs
    ) -> Iterator[tuple[str, Tensor]]:
        if self.config.positions == "sinusoidal":
            x = x + self._positions(x, inputs)
            yield "positions", x
        for i, block in enumerate(self.blocks):
            x = block(x, visible, **_of_block(i, inputs))
            yield f"blocks.{i}", x
        if self.config.placement != "post":
            x = self.norm(x)
            yield "norm", x

    def _positions(self, x: Tensor, inputs: Inputs) -> Tensor:
        caches = inputs.get("caches")
        offset = 0 if caches is None else caches[0].offset
        return sinusoidal(
            x.shape[-2], x.shape[-1], offset, dtype=x.dtype, device=x.device
        )


def _of_block(i: int, inputs: Inputs) -> BlockInputs:
    """What block i reads: its own cache, a place of its own in saved, and the rest."""
    caches, saved = inputs.get("caches"), inputs.get("saved")
    return {
        "memory": inputs.get("memory"),
        "memory_visible": inputs.get("memory_visible"),
        "cache": None if caches is None else caches[i],
        "saved": None if saved is None else saved.setdefault(f"blocks.{i}", {}),
    }
