"""The block: attention and feed-forward beside a residual stream."""

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_block import joins
from transformer_block._invariants import require_same_dtype, require_stream
from transformer_block.config import BlockConfig
from transformer_block.in_torch.attention import Attention
from transformer_block.in_torch.feed_forward import FeedForward
from transformer_block.in_torch.layer_norm import LayerNorm
from transformer_block.in_torch.masks import causal_mask
from transformer_block.parameters import check


class Block(nn.Module):
    """A transformer block by its named stages.

    h = x + attention(norm_1(x)),  y = h + feed_forward(norm_2(h))

    The arrays of parameters are copied into nn.Parameters of the same names and dtypes,
    so that state_dict() has exactly their keys.

    Raises: ValueError or TypeError that names each parameter at fault.
    """

    def __init__(
        self, config: BlockConfig, parameters: Mapping[str, np.ndarray]
    ) -> None:
        super().__init__()
        check(config, parameters)
        self.config = config
        # shapes without values, and without a draw from the global random state
        with torch.device("meta"):
            self.norm_1 = LayerNorm(config.d_model, config.eps)
            self.attention = Attention(config.d_model, config.n_heads)
            self.norm_2 = LayerNorm(config.d_model, config.eps)
            self.feed_forward = FeedForward(
                config.d_model, config.d_ff, config.activation
            )
        self.load_state_dict(
            {name: torch.tensor(value) for name, value in parameters.items()},
            assign=True,
        )

    def forward(
        self,
        x: Float[Tensor, "*B T D"],
        visible: Bool[Tensor, "*#B #T #T"] | None = None,
    ) -> Float[Tensor, "*B T D"]:
        """Run all stages and return the last; arguments and errors as in `stages`."""
        return joins.last(self.stages(x, visible))

    def stages(
        self,
        x: Float[Tensor, "*B T D"],
        visible: Bool[Tensor, "*#B #T #T"] | None = None,
    ) -> Iterator[tuple[str, Float[Tensor, "*B T D"]]]:
        """Yield each stage's name and value, in order.

        visible is True where query t sees key s; a causal block hides the future as
        well.

        Raises: ValueError for an x that is not (..., T, d_model) or a mask that does
        not fit it; TypeError for an x whose dtype is not the parameters' (autocast
        aside), or a mask that is not boolean.
        """
        require_stream(x, self.config.d_model)
        if not torch.is_autocast_enabled(x.device.type):
            require_same_dtype(x, self.norm_1.weight)
        if self.config.causal:
            causal = causal_mask(x.shape[-2], device=x.device)
            visible = causal if visible is None else causal & visible
        return joins.pre_norm(
            x,
            norm_1=self.norm_1,
            attention=lambda x: self.attention(x, visible),
            norm_2=self.norm_2,
            feed_forward=self.feed_forward,
        )
