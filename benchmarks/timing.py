"""Two contenders, timed in turns: what else the machine does at a moment meets both."""

import gc
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

Sample = Callable[[], float]


class Contest(NamedTuple):
    """Ours and a reference; each call takes one sample, in seconds. `per` divides the ratio."""

    ours: Sample
    reference: Sample
    per: float = 1.0


class Row(NamedTuple):
    """One line of the table: a claim, its bound, and how the two contenders are made."""

    name: str
    at_most: float
    contest: Callable[[], Contest]


class Result(NamedTuple):
    """The medians in milliseconds, and their ratio beside its bound."""

    name: str
    ours_ms: float
    reference_ms: float
    ratio: float
    at_most: float

    @property
    def holds(self) -> bool:
        """Whether the ratio keeps its bound."""
        return self.ratio <= self.at_most


def sample_of(work: Callable[[], object]) -> Sample:
    """A sample is the seconds that one call takes."""
    return partial(seconds_of, work)


def seconds_of(work: Callable[[], object]) -> float:
    """The processor's seconds: with one thread they are the clock's, less what other programs took."""
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(row: Row, rounds: int) -> Result:
    """Sample ours, the reference, ours, the reference …, after two rounds that don't count."""
    ours, reference, per = row.contest()
    samples: list[tuple[float, float]] = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds + 2):
            samples.append((ours(), reference()))
    finally:
        gc.enable()
    mine, theirs = (statistics.median(side) for side in zip(*samples[2:], strict=True))
    return Result(row.name, 1000 * mine, 1000 * theirs, mine / theirs / per, row.at_most)
