"""Training, as small as it gets: a classifier of tokens, a warm-up, a loop of Adam."""

from collections.abc import Iterable
from typing import NamedTuple, Unpack

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from transformer_block._invariants import require_at_least
from transformer_block.config import BlockConfig
from transformer_block.in_torch.stack import Inputs, Stack
from transformer_block.initialization import stream_of
from transformer_block.parameters import initialize_stack
from transformer_block.tasks import Batch, reversal

SYMBOLS, LENGTH, BATCH, STEPS = 10, 6, 64, 300
"""Sizes of the reversal: ten digits, six a sequence; how many are seen, how often."""


class TokenClassifier(nn.Module):
    """A stack between an embedding and a readout: a score for each symbol.

    scores = stack(embedding[tokens]) · readoutᵀ

    Embeddings are drawn from normal(0, 1), the readout as `xavier` has it, the stack as
    its configuration says; all of them from the seed, in float32.

    Raises: ValueError for fewer than 1 symbols.
    """

    def __init__(self, config: BlockConfig, symbols: int, seed: int) -> None:
        super().__init__()
        require_at_least("symbols", symbols, 1)
        shape = symbols, config.d_model
        bound = (6 / sum(shape)) ** 0.5
        self.embedding = _parameter(stream_of("embedding", seed).normal(size=shape))
        self.stack = Stack(
            config,
            {
                name: value.astype(np.float32)
                for name, value in initialize_stack(config, seed).items()
            },
        )
        self.readout = _parameter(
            stream_of("readout", seed).uniform(-bound, bound, shape)
        )

    def forward(
        self,
        tokens: Int[Tensor, "*B T"],
        visible: Bool[Tensor, "*#B #T #S"] | None = None,
        **inputs: Unpack[Inputs],
    ) -> Float[Tensor, "*B T V"]:
        """Score each of the V symbols at each position; arguments as a stack's."""
        x = self.embedding[tokens]
        return functional.linear(self.stack(x, visible, **inputs), self.readout)


def linear_warmup(steps: int, peak: float, warmup: int = 0) -> Float[np.ndarray, "N"]:
    """Learning rates of N = steps steps: up to the peak in even steps, then constant.

    rate_n = peak · min(1, n / warmup),  n = 1 … N;  without a warm-up it is the peak

    Raises: ValueError for fewer than 0 steps.
    """
    require_at_least("steps", steps, 0)
    require_at_least("warmup", warmup, 0)
    return peak * np.minimum(1, np.arange(1, steps + 1) / max(warmup, 1))


def train(
    model: nn.Module, batches: Iterable[Batch], rates: Iterable[float]
) -> list[float]:
    """Take one step of Adam for each batch at its rate; return each step's loss.

    The loss is the cross-entropy of scores and answers, in nats, a mean over positions.

    Raises: ValueError for batches and rates that are not as many.
    Source: Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015,
    arXiv:1412.6980; decay 0.9 and 0.999.
    """
    adam = torch.optim.Adam(model.parameters(), fused=True)
    losses = []
    for batch, rate in zip(batches, rates, strict=True):
        adam.param_groups[0]["lr"] = float(rate)
        tokens, answers = map(torch.from_numpy, batch)
        scores = model(tokens)
        loss = functional.cross_entropy(scores.flatten(0, 1), answers.flatten())
        adam.zero_grad()
        torch.autograd.backward(loss)
        adam.step()
        losses.append(loss.item())
    return losses


def accuracy(model: nn.Module, batch: Batch) -> float:
    """Share of positions whose highest score is the answer's, in evaluation mode."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        best = model(torch.from_numpy(batch.tokens)).argmax(dim=-1)
    model.train(was_training)
    return float((best.numpy() == batch.answers).mean())


class Run(NamedTuple):
    """A trained model, its loss at each step, its accuracy on sequences not seen."""

    model: TokenClassifier
    losses: list[float]
    accuracy: float


def learn_reversal(
    config: BlockConfig, rate: float, warmup: int, seed: int, steps: int = STEPS
) -> Run:
    """Train a stack from scratch to give sequences back in reverse; then examine it.

    Parameters, training sequences and examination each have a random stream of the
    seed, so that runs of one seed differ by nothing but what they are given.
    """
    model = TokenClassifier(config, SYMBOLS, seed)
    lessons = stream_of("lessons", seed)
    batches = (reversal(BATCH, LENGTH, SYMBOLS, lessons) for _ in range(steps))
    losses = train(model, batches, linear_warmup(steps, rate, warmup))
    examination = reversal(8 * BATCH, LENGTH, SYMBOLS, stream_of("examination", seed))
    return Run(model, losses, accuracy(model, examination))


def _parameter(value: np.ndarray) -> nn.Parameter:
    return nn.Parameter(torch.tensor(value, dtype=torch.float32))
