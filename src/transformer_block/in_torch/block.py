"""The block: branches beside a residual stream, by stages."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_block import joins
from transformer_block._block_invariants import require_inputs, require_stream
from transformer_block.config import BlockConfig
from transformer_block.in_torch import Saved
from transformer_block.in_torch._sublayers import modules
from transformer_block.in_torch.attention import Attention
from transformer_block.in_torch.cache import KVCache
from transformer_block.in_torch.feed_forward import FeedForward
from transformer_block.joins import Sublayer
from transformer_block.parameters import check


class Inputs(TypedDict, total=False):
    """What a block may read beside the stream and its mask.

    memory (*B S D) is what a decoder block attends to, through memory_visible
    (*#B #T #S). A cache holds the keys and values of earlier positions, and receives
    those of x. saved, an empty dict, receives what each branch has to show:
    saved["attention"]["weights"].
    """

    memory: Float[Tensor, "..."] | None
    memory_visible: Bool[Tensor, "..."] | None
    cache: KVCache | None
    saved: dict[str, Saved] | None


class Block(nn.Module):
    """A transformer block by its named stages, in the order of its placement.

    Pre-norm: h = x + attention(norm_1(x)),  y = h + feed_forward(norm_2(h)), by the
    stages norm_1, attention, add_1, norm_2, feed_forward, add_2. `joins` has the other
    placements; a decoder block has cross-attention as its second branch of three.

    The arrays of parameters are copied into nn.Parameters of the same names and dtypes,
    so that state_dict() has exactly their keys. Like every module it starts in training
    mode, in which a configuration with dropout draws from torch's global generator.

    Raises: ValueError or TypeError that names each parameter at fault.
    """

    attention: Attention
    feed_forward: FeedForward

    def __init__(
        self, config: BlockConfig, parameters: Mapping[str, np.ndarray]
    ) -> None:
        super().__init__()
        check(config, parameters)
        self.config = config
        # shapes without values, and without a draw from the global random state
        with torch.device("meta"):
            for name, module in modules(config):
                self.add_module(name, module)
        self.load_state_dict(
            {name: torch.tensor(value) for name, value in parameters.items()},
            assign=True,
        )

    def forward(
        self,
        x: Float[Tensor, "*B T D"],
        visible: Bool[Tensor, "*#B #T #S"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> Float[Tensor, "*B T D"]:
        """Run all stages and return the last; arguments and errors as in `stages`."""
        return joins.last(self.stages(x, visible, **inputs))

    def stages(
        self,
        x: Float[Tensor, "*B T D"],
        visible: Bool[Tensor, "*#B #T #S"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> Iterator[tuple[str, Float[Tensor, "*B T D"]]]:
        """Yield each stage's name and value, in order.

        visible is True where query t sees key s; a causal block hides the future as
        well. With a cache, the S keys are those that it holds and those of x.

        Raises: ValueError for an x that is not (..., T, d_model), for a mask that does
        not fit it, or for a memory that is missing or not read; TypeError for an x or
        memory whose dtype is not the parameters' (autocast aside), or a mask that is
        not boolean.
        """
        memory, config = inputs.get("memory"), self.config
        require_stream(x, config.d_model)
        mixed = torch.is_autocast_enabled(x.device.type)
        expected = x if mixed else self.attention.out.weight
        require_inputs(x, expected, memory, config.cross_attention)
        read: dict[str, dict[str, Any]] = {
            "attention": {"visible": visible, "cache": inputs.get("cache")},
            "cross_attention": {
                "memory": memory,
                "visible": inputs.get("memory_visible"),
            },
            "feed_forward": {},
        }
        return joins.JOINS[config.placement](x, self._sublayers(read, inputs))

    def _sublayers(
        self, read: Mapping[str, dict[str, Any]], inputs: Inputs
    ) -> list[Sublayer[Any, Any]]:
        part: dict[str, Any] = dict(self.named_children())
        saved = inputs.get("saved")
        return [
            Sublayer(
                name=name,
                norm=part.get(f"norm_{number}"),
                branch=partial(part[name], saved=_saved_in(saved, name), **read[name]),
                norm_out=part.get(f"norm_{number}_out"),
                add=part[f"residual_{number}"],
            )
            for number, name in enumerate(self.config.branches, start=1)
        ]


def _saved_in(saved: dict[str, Saved] | None, branch: str) -> Saved | None:
    return None if saved is None else saved.setdefault(branch, {})
