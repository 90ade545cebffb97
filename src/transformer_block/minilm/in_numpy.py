"""The sentence encoder in NumPy: embeddings, a stack of blocks, a mean, length 1."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from transformer_block import joins
from transformer_block.in_numpy.layer_norm import layer_norm
from transformer_block.in_numpy.masks import padding_mask
from transformer_block.in_numpy.stack import Stack
from transformer_block.minilm._invariants import require_tokens
from transformer_block.minilm.files import Trained


class SentenceEncoder:
    """Sentences to vectors of length 1, by named stages; forward alone.

    x = LN(tokens[ids] + positions + segments[0]),  v = mean(stack(x)),  y = v / ‖v‖

    Raises: ValueError or TypeError that names each parameter at fault.
    """

    def __init__(self, trained: Trained) -> None:
        self.config = trained.config
        self.embeddings = trained.embeddings
        self.stack = Stack(trained.config, trained.stack)

    def __call__(
        self, ids: Int[np.ndarray, "B T"], lengths: Int[np.ndarray, "B"]
    ) -> Float[np.ndarray, "B D"]:
        """Run all stages and return the last; errors as in `stages`."""
        return joins.last(self.stages(ids, lengths))

    def stages(
        self,
        ids: Int[np.ndarray, "B T"],
        lengths: Int[np.ndarray, "B"],
        saved: dict[str, Any] | None = None,
    ) -> Iterator[tuple[str, Float[np.ndarray, "..."]]]:
        """Yield each stage's name and value.

        embeddings, blocks.0 … blocks.5 (B, T, D); mean and unit (B, D). What stands
        behind a sentence's length is hidden from attention and left out of the mean.
        saved is that of a stack.

        Raises: ValueError for ids that are not (B, T) or too long, or for lengths that
        do not fit them; TypeError for ids or lengths that are not integers.
        """
        tables = (len(self.embeddings[name]) for name in ("tokens", "positions"))
        require_tokens(ids, ids.tolist(), lengths.tolist(), *tables)
        visible = padding_mask(lengths, ids.shape[-1])
        return self._run(ids, visible, saved)

    def _run(
        self,
        ids: np.ndarray,
        visible: np.ndarray,
        saved: dict[str, Any] | None,
    ) -> Iterator[tuple[str, np.ndarray]]:
        x = embed(ids, self.embeddings, self.config.eps)
        yield "embeddings", x
        for name, x in self.stack.stages(x, visible, saved=saved):  # noqa: B020
            yield name, x
        mean = mean_of(x, visible[:, 0])
        yield "mean", mean
        yield "unit", mean / np.linalg.norm(mean, axis=-1, keepdims=True)


def embed(
    ids: Int[np.ndarray, "*B T"], tables: dict[str, np.ndarray], eps: float
) -> Float[np.ndarray, "*B T D"]:
    """One vector for each token: what it is, where it stands, its segment, normed.

    x = LN(tokens[ids] + positions + segments[0])
    """
    places = tables["positions"][: ids.shape[-1]]
    x = tables["tokens"][ids] + places + tables["segments"][0]
    return layer_norm(x, tables["norm.weight"], tables["norm.bias"], eps)


def mean_of(
    x: Float[np.ndarray, "*B T D"], visible: Bool[np.ndarray, "*B T"]
) -> Float[np.ndarray, "*B D"]:
    """Average the tokens that are there.

    v = Σ x · visible / Σ visible
    """
    kept = np.where(visible[..., None], x, 0).sum(axis=-2)
    return np.asarray(kept / visible.sum(axis=-1, keepdims=True), x.dtype)
