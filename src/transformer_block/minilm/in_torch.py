"""The sentence encoder in PyTorch: embeddings, a stack of blocks, a mean, length 1."""

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from transformer_block import joins
from transformer_block.in_torch.layer_norm import layer_norm
from transformer_block.in_torch.masks import padding_mask
from transformer_block.in_torch.stack import Stack
from transformer_block.minilm._invariants import require_tokens
from transformer_block.minilm.files import EMBEDDINGS, Trained


class SentenceEncoder(nn.Module):
    """Sentences to vectors of length 1, by named stages.

    x = LN(tokens[ids] + positions + segments[0]),  v = mean(stack(x)),  y = v / ‖v‖

    It is trained, so it starts in evaluation mode; train() turns its dropout on.

    Raises: ValueError or TypeError that names each parameter at fault.
    """

    def __init__(self, trained: Trained) -> None:
        super().__init__()
        self.config = trained.config
        self.tokens, self.positions, self.segments, self.gamma, self.beta = (
            nn.Parameter(torch.tensor(trained.embeddings[name])) for name in EMBEDDINGS
        )
        self.stack = Stack(trained.config, trained.stack)
        self.eval()

    def forward(
        self, ids: Int[Tensor, "B T"], lengths: Int[Tensor, "B"]
    ) -> Float[Tensor, "B D"]:
        """Run all stages and return the last; errors as in `stages`."""
        return joins.last(self.stages(ids, lengths))

    def stages(
        self,
        ids: Int[Tensor, "B T"],
        lengths: Int[Tensor, "B"],
        saved: dict[str, Any] | None = None,
    ) -> Iterator[tuple[str, Float[Tensor, "..."]]]:
        """Yield each stage's name and value.

        embeddings, blocks.0 … blocks.5 (B, T, D); mean and unit (B, D). What stands
        behind a sentence's length is hidden from attention and left out of the mean.
        saved is that of a stack.

        Raises: ValueError for ids that are not (B, T) or too long, or for lengths that
        do not fit them; TypeError for ids or lengths that are not integers.
        """
        tables = (len(self.tokens), len(self.positions))
        require_tokens(ids, ids.tolist(), lengths.tolist(), *tables)
        visible = padding_mask(lengths, ids.shape[-1])
        return self._run(ids, visible, saved)

    def _run(
        self, ids: Tensor, visible: Tensor, saved: dict[str, Any] | None
    ) -> Iterator[tuple[str, Tensor]]:
        x = self.embed(ids)
        yield "embeddings", x
        for name, x in self.stack.stages(x, visible, saved=saved):  # noqa: B020
            yield name, x
        mean = mean_of(x, visible[:, 0])
        yield "mean", mean
        yield "unit", functional.normalize(mean, dim=-1)

    def embed(self, ids: Int[Tensor, "*B T"]) -> Float[Tensor, "*B T D"]:
        """One vector for each token: what it is, where it stands, its segment, normed.

        x = LN(tokens[ids] + positions + segments[0])
        """
        places = self.positions[: ids.shape[-1]]
        x = self.tokens[ids] + places + self.segments[0]
        return layer_norm(x, self.gamma, self.beta, self.config.eps)


def mean_of(
    x: Float[Tensor, "*B T D"], visible: Bool[Tensor, "*B T"]
) -> Float[Tensor, "*B D"]:
    """Average the tokens that are there.

    v = Σ x · visible / Σ visible
    """
    kept = torch.where(visible[..., None], x, 0).sum(dim=-2)
    return kept / visible.sum(dim=-1, keepdim=True)
