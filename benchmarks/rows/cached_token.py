"""One token more, with the keys and values of the others at hand, beside the whole prefix once again."""

import torch

from benchmarks.contenders import Evaluation, in_torch, tokens
from benchmarks.timing import Contest, Row, sample_of, seconds_of
from transformer_block.in_torch.cache import KVCache

LENGTH = 1024
STEPS = 8  # timed together, around position 1024: one alone is too short to time


class CachedToken:
    """The seconds of one step, from the mean of a few; the cache is filled anew outside the clock."""

    def __init__(self) -> None:
        self.block = in_torch().eval()
        x = torch.tensor(tokens(LENGTH + STEPS // 2))
        self.prefix, rest = x[:, :-STEPS], x[:, -STEPS:]
        self.steps = torch.chunk(rest, STEPS, dim=1)
        self.cache = KVCache(capacity=x.shape[1])

    @torch.inference_mode()
    def __call__(self) -> float:
        """Fill the cache, then time a few tokens one after another."""
        self.cache.reset()
        self.block(self.prefix, cache=self.cache)
        return seconds_of(self._step) / STEPS

    def _step(self) -> None:
        for token in self.steps:
            self.block(token, cache=self.cache)


def contest() -> Contest:
    """Make the contenders."""
    return Contest(CachedToken(), sample_of(Evaluation(in_torch(), LENGTH)))


ROW = Row("one cached token at T = 1024, torch / recomputing the prefix", 0.015, contest)
