"""Blocks whose residual stream, modes or outputs are wrong."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from transformer_block.audit.broken.plain import Block

Cache = dict[str, Tensor] | None


class NormedXAdded(Block):
    """x is overwritten by its norm before it is added."""

    def forward(
        self, x: Tensor, visible: Tensor | None = None, cache: Cache = None
    ) -> Tensor:
        """Add the branches to what they have read."""
        x = self.norm_1(x)
        x = self.norm_2(x + self.attention(x, visible, cache))
        return x + self.feed_forward(x)  # type: ignore[no-any-return]


class NoResidual(Block):
    """The branches follow each other, and the input is gone."""

    def forward(
        self, x: Tensor, visible: Tensor | None = None, cache: Cache = None
    ) -> Tensor:
        """Hand on what the branches say."""
        h = self.attention(self.norm_1(x), visible, cache)
        return self.feed_forward(self.norm_2(h))  # type: ignore[no-any-return]


class PostNorm(Block):
    """The post-norm block: right in itself, and another one than was meant."""

    def forward(
        self, x: Tensor, visible: Tensor | None = None, cache: Cache = None
    ) -> Tensor:
        """Normalize behind each add."""
        h = self.norm_1(x + self.attention(x, visible, cache))
        return self.norm_2(h + self.feed_forward(h))  # type: ignore[no-any-return]


class DropoutLeftOn(Block):
    """functional.dropout drops in evaluation too, unless it is told of the mode."""

    def forward(
        self, x: Tensor, visible: Tensor | None = None, cache: Cache = None
    ) -> Tensor:
        """Drop what the feed-forward part says."""
        h = x + self.attention(self.norm_1(x), visible, cache)
        update = functional.dropout(self.feed_forward(self.norm_2(h)), 0.1)
        return h + update  # type: ignore[no-any-return]


class SequencesMixed(Block):
    """Its mean is that of the whole batch."""

    def forward(
        self, x: Tensor, visible: Tensor | None = None, cache: Cache = None
    ) -> Tensor:
        """Take the batch's mean away at each position."""
        return super().forward(x - x.mean(0, keepdim=True), visible, cache) + x.mean(0)


class InputWrittenOver(Block):
    """+= on a tensor that belongs to the caller."""

    def forward(
        self, x: Tensor, visible: Tensor | None = None, cache: Cache = None
    ) -> Tensor:
        """Add in place."""
        x += self.attention(self.norm_1(x), visible, cache)
        return x + self.feed_forward(self.norm_2(x))  # type: ignore[no-any-return]


class OutputBufferReused(Block):
    """Saves an allocation: all outputs of one shape lie in the same memory."""

    def __init__(self) -> None:
        super().__init__()
        self._room: dict[object, Tensor] = {}

    def forward(
        self, x: Tensor, visible: Tensor | None = None, cache: Cache = None
    ) -> Tensor:
        """Write the output where the last one was."""
        y = super().forward(x, visible, cache)
        if y.requires_grad:
            return y
        room = self._room.setdefault((y.shape, y.dtype), torch.empty_like(y))
        return room.copy_(y)


class StateIncomplete(Block):
    """A tensor that is computed with, and not registered."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = torch.rand(1)

    def forward(
        self, x: Tensor, visible: Tensor | None = None, cache: Cache = None
    ) -> Tensor:
        """Weigh what attention says with a gain that no state_dict holds."""
        update = self.attention(self.norm_1(x), visible, cache)
        h = x + self.gain.to(x.dtype) * update
        return h + self.feed_forward(self.norm_2(h))  # type: ignore[no-any-return]


class DtypeNotKept(Block):
    """Computes in float32 for safety, and forgets the way back."""

    def forward(
        self, x: Tensor, visible: Tensor | None = None, cache: Cache = None
    ) -> Tensor:
        """Hand out float32, whatever came in."""
        return super().forward(x, visible, cache).float()


class MaskLostAfterTheFirstLayer(nn.Module):
    """Two blocks, of which only the first is told of the mask."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Block(), Block()])

    def forward(self, x: Tensor, visible: Tensor | None = None) -> Tensor:
        """Pass the mask on once."""
        first, second = self.layers
        return second(first(x, visible))  # type: ignore[no-any-return]
