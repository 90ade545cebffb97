"""The block: attention and feed-forward beside a residual stream."""

from collections.abc import Iterator, Mapping

import numpy as np
from jaxtyping import Bool, Float

from transformer_block import joins
from transformer_block._invariants import require_same_dtype, require_stream
from transformer_block.config import BlockConfig
from transformer_block.in_numpy.attention import attention
from transformer_block.in_numpy.feed_forward import feed_forward
from transformer_block.in_numpy.layer_norm import layer_norm
from transformer_block.in_numpy.masks import causal_mask
from transformer_block.parameters import check


class Block:
    """A transformer block by its named stages.

    h = x + attention(norm_1(x)),  y = h + feed_forward(norm_2(h))

    The arrays of parameters are used as they are, not copied; their dtype is the dtype
    of the block.

    Raises: ValueError or TypeError that names each parameter at fault.
    """

    def __init__(
        self, config: BlockConfig, parameters: Mapping[str, np.ndarray]
    ) -> None:
        check(config, parameters)
        self.config = config
        self.parameters = dict(parameters)

    def __call__(
        self,
        x: Float[np.ndarray, "*B T D"],
        visible: Bool[np.ndarray, "*#B #T #T"] | None = None,
    ) -> Float[np.ndarray, "*B T D"]:
        """Run all stages and return the last; arguments and errors as in `stages`."""
        return joins.last(self.stages(x, visible))

    def stages(
        self,
        x: Float[np.ndarray, "*B T D"],
        visible: Bool[np.ndarray, "*#B #T #T"] | None = None,
    ) -> Iterator[tuple[str, Float[np.ndarray, "*B T D"]]]:
        """Yield each stage's name and value, in order.

        visible is True where query t sees key s; a causal block hides the future as
        well.

        Raises: ValueError for an x that is not (..., T, d_model) or a mask that does
        not fit it; TypeError for an x whose dtype is not the parameters', or a mask
        that is not boolean.
        """
        config = self.config
        require_stream(x, config.d_model)
        require_same_dtype(x, self.parameters["norm_1.weight"])
        if config.causal:
            causal = causal_mask(x.shape[-2])
            visible = causal if visible is None else causal & visible
        norm_1, norm_2 = self._linear("norm_1"), self._linear("norm_2")
        qkv, out = self._linear("attention.qkv"), self._linear("attention.out")
        up, down = self._linear("feed_forward.up"), self._linear("feed_forward.down")
        return joins.pre_norm(
            x,
            norm_1=lambda x: layer_norm(x, *norm_1, config.eps),
            attention=lambda x: attention(x, *qkv, *out, config.n_heads, visible),
            norm_2=lambda x: layer_norm(x, *norm_2, config.eps),
            feed_forward=lambda x: feed_forward(x, *up, *down, config.activation),
        )

    def _linear(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        return self.parameters[f"{name}.weight"], self.parameters[f"{name}.bias"]
