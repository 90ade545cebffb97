"""The block: branches beside a residual stream, forward by stages, and backward."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypedDict, Unpack

import numpy as np
from jaxtyping import Bool, Float

from transformer_block import joins
from transformer_block._block_invariants import (
    require_evaluation,
    require_gradient,
    require_inputs,
    require_no_cache,
    require_stream,
)
from transformer_block.config import BlockConfig
from transformer_block.in_numpy import Saved
from transformer_block.in_numpy._call import Call
from transformer_block.in_numpy._sublayers import sublayers
from transformer_block.in_numpy.cache import KVCache
from transformer_block.joins import Add, Part, Sublayer
from transformer_block.parameters import Parameters, check

Backward = Callable[[np.ndarray], tuple[np.ndarray, Parameters]]


class Inputs(TypedDict, total=False):
    """What a block may read beside the stream and its mask.

    memory (*B S D) is what a decoder block attends to, through memory_visible
    (*#B #T #S). A cache holds the keys and values of earlier positions, and receives
    those of x. An rng puts the block in training: it draws what is dropped. saved, an
    empty dict, receives what each branch has to show: saved["attention"]["weights"].
    """

    memory: Float[np.ndarray, "..."] | None
    memory_visible: Bool[np.ndarray, "..."] | None
    cache: KVCache | None
    rng: np.random.Generator | None
    saved: dict[str, Saved] | None


class Block:
    """A transformer block by its named stages, in the order of its placement.

    Pre-norm: h = x + attention(norm_1(x)),  y = h + feed_forward(norm_2(h)), by the
    stages norm_1, attention, add_1, norm_2, feed_forward, add_2. `joins` has the other
    placements; a decoder block has cross-attention as its second branch of three.

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
        visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> Float[np.ndarray, "*B T D"]:
        """Run all stages and return the last; arguments and errors as in `stages`."""
        return joins.last(self.stages(x, visible, **inputs))

    def stages(
        self,
        x: Float[np.ndarray, "*B T D"],
        visible: Bool[np.ndarray, "*#B #T #S"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> Iterator[tuple[str, Float[np.ndarray, "*B T D"]]]:
        """Yield each stage's name and value, in order.

        visible is True where query t sees key s; a causal block hides the future as
        well. With a cache, the S keys are those that it holds and those of x.

        Raises: ValueError for an x that is not (..., T, d_model), for a mask that does
        not fit it, or for a memory that is missing or not read; TypeError for an x or
        memory whose dtype is not the parameters', or a mask that is not boolean.
        """
        call = self._call(x, visible, inputs)
        return joins.JOINS[self.config.placement](x, sublayers(call))

    def vjp(
        self,
        x: Float[np.ndarray, "*B T D"],
        visible: Bool[np.ndarray, "*#B #T #T"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> tuple[Float[np.ndarray, "*B T D"], Backward]:
        """Run the block; return its value and its backward, a vector–Jacobian product.

        backward(dy) = dx, {name: gradient}

        dy is the gradient of a loss with respect to the value. The gradients have the
        names of the parameters, and `memory` for that of a memory. Backward may run
        once for each dy.

        Raises: as stages; ValueError for a cache, or a dy that is not shaped as x.
        """
        call, parts = self._remembering(x, visible, inputs)
        y = joins.last(joins.JOINS[self.config.placement](x, parts))

        def backward(dy: np.ndarray) -> tuple[np.ndarray, Parameters]:
            call.gradients = {}
            dx = joins.last(self._walk_back(y, dy, parts))
            g = call.gradients
            order = (*self.parameters, "memory")
            return dx, {name: g[name] for name in order if name in g}

        return y, backward

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

    def backward_stages(
        self,
        x: Float[np.ndarray, "*B T D"],
        dy: Float[np.ndarray, "*B T D"],
        visible: Bool[np.ndarray, "*#B #T #T"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> Iterator[tuple[str, Float[np.ndarray, "*B T D"]]]:
        """Yield each stage's name and the gradient of a loss by its value.

        From the last stage, whose gradient is dy, to the first, and `x` at the end.

        Raises: as vjp.
        """
        _, parts = self._remembering(x, visible, inputs)
        y = joins.last(joins.JOINS[self.config.placement](x, parts))
        return self._walk_back(y, dy, parts)

    def _remembering(
        self, x: np.ndarray, visible: np.ndarray | None, inputs: Inputs
    ) -> tuple[Call, list[Sublayer[Part, Add]]]:
        require_no_cache(inputs.get("cache"))
        saved = inputs.get("saved")
        call = self._call(
            x, visible, {**inputs, "saved": {} if saved is None else saved}
        )
        return call, sublayers(call)

    def _walk_back(
        self, y: np.ndarray, dy: np.ndarray, parts: list[Sublayer[Part, Add]]
    ) -> Iterator[tuple[str, np.ndarray]]:
        require_gradient(dy, y)
        return joins.BACKWARD[self.config.placement](dy, parts)

    def _call(self, x: np.ndarray, visible: np.ndarray | None, inputs: Inputs) -> Call:
        config, memory = self.config, inputs.get("memory")
        require_stream(x, config.d_model)
        require_inputs(
            x, self.parameters["attention.out.weight"], memory, config.cross_attention
        )
        require_evaluation(inputs.get("cache"), inputs.get("rng"))
        return Call(
            config=config,
            parameters=self.parameters,
            shape=x.shape,
            visible=visible,
            **inputs,
        )
