"""What the forward of a block must keep for its backward, module by module."""

from collections.abc import Iterator
from typing import NamedTuple

from transformer_block.config import BlockConfig

MASK_BYTES = 1  # of an entry that says whether it was dropped
STATISTIC_BYTES = 4  # at least: softmax is summed in float32 or better


class Kept(NamedTuple):
    """A block that trains on `batch` sequences, with entries of `entry` bytes.

    In training, the rates of dropout count. stored_weights says whether attention
    keeps its T · S weights, or makes them again.
    """

    config: BlockConfig
    batch: int
    tokens: int
    memory_tokens: int
    entry: int
    stored_weights: bool

    def by_module(self) -> Iterator[tuple[str, int]]:
        """Yield the bytes that each module keeps, in the order of the parameters."""
        config = self.config
        for number, branch in enumerate(config.branches, start=1):
            if number == 1 or config.placement != "parallel":
                yield f"norm_{number}", self._of_norm()
            yield branch, self._of_branch(branch)
            if config.placement == "sandwich":
                yield f"norm_{number}_out", self._of_norm()
            yield f"residual_{number}", self._of_residual()
        if config.cross_attention:
            yield "memory", self.batch * self.memory_tokens * self._d_model_bytes

    @property
    def _positions(self) -> int:
        return self.batch * self.tokens

    @property
    def _d_model_bytes(self) -> int:
        return self.config.d_model * self.entry

    def _of_norm(self) -> int:
        """What is normalized, and each token's spread, and mean if it is taken away."""
        statistics = 2 if self.config.norm == "layer_norm" else 1
        return self._positions * (self.config.d_model + statistics) * self.entry

    def _of_branch(self, branch: str) -> int:
        """What the branch reads, unless it is kept already, and what it makes of it."""
        if branch == "feed_forward":
            shared = self.config.placement == "parallel"
            return (
                self._of_inner() + (not shared) * self._positions * self._d_model_bytes
            )
        length = self.tokens if branch == "attention" else self.memory_tokens
        read = gathered = self._positions * self._d_model_bytes
        return (
            read + self._of_heads(branch, length) + self._of_weights(length) + gathered
        )

    def _of_heads(self, branch: str, length: int) -> int:
        """Queries, keys and values as compared, and as they were before their norm."""
        config, entry = self.config, self.entry
        keys = config.kv_heads * config.head_width
        kept = self._positions * config.d_model + 2 * self.batch * length * keys
        if config.qk_norm:
            kept += self._positions * (config.d_model + config.n_heads)
            kept += self.batch * length * (keys + config.kv_heads)
        if config.positions == "rotary" and branch == "attention":
            kept += 2 * self.tokens * config.head_width  # sines, cosines; twice
        return kept * entry

    def _of_weights(self, length: int) -> int:
        """The weights, and those that dropout left; or one sum for each row of them."""
        rows = self._positions * self.config.n_heads
        if not self.stored_weights:
            return rows * max(self.entry, STATISTIC_BYTES)
        copies = self.entry
        if self.config.attention_dropout:
            copies += MASK_BYTES + self.entry
        return rows * length * copies

    def _of_inner(self) -> int:
        """The inner features before and after they are bent, and the gate's."""
        config = self.config
        copies = 4 if config.gated else 2
        if config.activation == "relu" and not config.feed_forward_dropout:
            copies = 1  # its slope is read off its output, which the next matrix keeps
        dropped = MASK_BYTES if config.feed_forward_dropout else 0
        return self._positions * config.d_ff * (copies * self.entry + dropped)

    def _of_residual(self) -> int:
        """The update that a learned scale weighs, and what dropout kept of it."""
        config = self.config
        scaled = config.residual_scaling in ("rezero", "layer_scale")
        entry = scaled * self.entry + bool(config.residual_dropout) * MASK_BYTES
        return self._positions * config.d_model * entry
