"""The key-value cache: what was read stays, so that new tokens cost little."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_block._attention_invariants import (
    require_cached,
    require_room,
    require_window_fits,
)
from transformer_block._invariants import require_at_least


class KVCache:
    """Room for the keys and values of one block, for `capacity` positions.

    Each step appends its keys and values and attends to all that is held. Heads that
    share their keys store them once, and keys are stored as they are compared: turned
    by their global position. The room is made at the first append and written in place,
    so that no gradient can flow through it.

    With a window W, query p sees the keys p − W < s ≤ p. Older ones make room, so that
    a cache of a fixed capacity serves a sequence of any length.

    Raises: ValueError for a capacity below 1, or a window that is below 1 or does not
    fit in.
    Source: Shazeer, Fast Transformer Decoding, 2019, arXiv:1911.02150; for the window,
    Beltagy et al., Longformer, 2020, arXiv:2004.05150.
    """

    def __init__(self, capacity: int, window: int | None = None) -> None:
        require_at_least("capacity", capacity, 1)
        require_window_fits(window, capacity)
        self.capacity = capacity
        self.window = window
        self.reset()

    def reset(self) -> None:
        """Forget everything: the next token stands at position 0, in any batch."""
        self.offset = 0
        self._end = 0
        self._room: tuple[Tensor, Tensor] | None = None

    @property
    def length(self) -> int:
        """Positions that the next token sees beside itself."""
        return self.offset if self.window is None else min(self.offset, self.window - 1)

    def require_room(self, T: int) -> None:
        """Refuse T more positions if they do not fit.

        Raises: ValueError that names what is held and what is asked for.
        """
        require_room(self.length, self.capacity, T)

    def append(
        self, k: Float[Tensor, "*B G T K"], v: Float[Tensor, "*B G T K"]
    ) -> tuple[Float[Tensor, "*B G S K"], Float[Tensor, "*B G S K"]]:
        """Store keys and values of T new tokens; hand out all that these tokens see.

        S = length + T, the new ones last

        What is returned are views of the cache: the next append may write over them.

        Raises: ValueError for keys and values that do not fit each other or the cache,
        or for want of room; TypeError for another dtype; RuntimeError where gradients
        would be lost. The cache is then as before.
        """
        require_cached(k, v, None if self._room is None else self._room[0])
        if torch.is_grad_enabled() and (k.requires_grad or v.requires_grad):
            raise RuntimeError("a cache keeps no gradients: call it in torch.no_grad()")
        new = k.shape[-2]
        self.require_room(new)
        room = self._made(k)
        start = self._end - self.length
        if self._end + new > self.capacity:
            for each in room:
                each[..., : self.length, :] = each[..., start : self._end, :].clone()
            start = 0
        self._end = start + self.length + new
        for each, given in zip(room, (k, v), strict=True):
            each[..., self._end - new : self._end, :] = given
        self.offset += new
        keys, values = (each[..., start : self._end, :] for each in room)
        return keys, values

    def _made(self, k: Tensor) -> tuple[Tensor, Tensor]:
        if self._room is None:
            shape = (*k.shape[:-2], self.capacity, k.shape[-1])
            with torch.inference_mode(False):  # else it could not be written outside
                self._room = (
                    torch.empty(shape, dtype=k.dtype, device=k.device),
                    torch.empty(shape, dtype=k.dtype, device=k.device),
                )
        return self._room
