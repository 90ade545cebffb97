"""Makes doubling.json: how long the block of the package takes, as ratios.

    python chapters/data/make_doubling.py [--rounds N]

One thread, float32. A round times every setting once, in turns, in seconds of
the processor, so that what else the machine does meets all of them; what is
stored is the median over the rounds of each setting's ratio to the first of
its kind. It takes about three minutes.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint

from transformer_block.config import BlockConfig
from transformer_block.in_torch.block import Block
from transformer_block.parameters import initialize

WIDTHS = (128, 256, 512, 1024)
LENGTH = 256
"""Of the sequences that the widths are timed with."""
LENGTHS = (128, 256, 512, 1024, 2048, 4096)
WIDTH = 128
"""Of the block that the lengths are timed with."""
TRAINED = (256, 256)
"""Width and length of the block whose backward is timed."""
TRAINING = ("forward", "with backward", "with checkpoint")

Timed = dict[str, Callable[[], object]]


def block(width: int) -> Block:
    """A block with GELU, heads of 64 features and F = 4 D."""
    config = BlockConfig(
        d_model=width, n_heads=width // 64, d_ff=4 * width, activation="gelu"
    )
    drawn = initialize(config, seed=0)
    return Block(
        config, {n: each.astype("float32") for n, each in drawn.items()}
    )


def tokens(length: int, width: int) -> torch.Tensor:
    """One sequence of random tokens that asks for gradients."""
    drawn = np.random.default_rng(0).normal(size=(1, length, width))
    return torch.tensor(drawn, dtype=torch.float32, requires_grad=True)


def forward(work: torch.nn.Module, x: torch.Tensor) -> Callable[[], object]:
    """A call that keeps nothing for a backward."""

    def run() -> object:
        with torch.no_grad():
            return work(x)

    return run


def by_width() -> Timed:
    """The whole block at one length, for each width."""
    return {str(D): forward(block(D), tokens(LENGTH, D)) for D in WIDTHS}


def by_length(part: str | None = None) -> Timed:
    """A block, or one of its branches, at one width for each length."""
    whole = block(WIDTH)
    work = whole if part is None else whole.get_submodule(part)
    return {str(T): forward(work, tokens(T, WIDTH)) for T in LENGTHS}


def training() -> Timed:
    """A forward alone, one with its backward, and one that is run again."""
    width, length = TRAINED
    work, x = block(width), tokens(length, width)
    calls = (
        forward(work, x),
        lambda: work(x).sum().backward(),
        lambda: checkpoint(work, x, use_reentrant=False).sum().backward(),
    )
    return dict(zip(TRAINING, calls, strict=True))


def seconds(work: Callable[[], object], least: float) -> float:
    """The processor's seconds of one call, of as many as fill the time."""
    calls, spent, start = 0, 0.0, time.process_time()
    while not calls or spent < least:
        work()
        calls, spent = calls + 1, time.process_time() - start
    return spent / calls


def ratios(timed: Timed, rounds: int, least: float = 0.05) -> dict[str, float]:
    """The median ratio of each setting's time to that of the first."""
    for work in timed.values():
        work()
    found = []
    for _ in range(rounds):
        taken = [seconds(work, least) for work in timed.values()]
        found.append([each / taken[0] for each in taken])
    medians = map(statistics.median, zip(*found, strict=True))
    return {
        name: float(f"{m:.3g}") for name, m in zip(timed, medians, strict=True)
    }


def beside(
    parts: dict[str, Timed], rounds: int
) -> dict[str, dict[str, float]]:
    """Ratios of several parts to the first setting of the first part."""
    flat = {
        f"{part} {name}": work
        for part, timed in parts.items()
        for name, work in timed.items()
    }
    found = ratios(flat, rounds)
    return {
        part: {name: found[f"{part} {name}"] for name in timed}
        for part, timed in parts.items()
    }


def main() -> None:
    """Time everything and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    branches = {
        part: by_length(part) for part in ("feed_forward", "attention")
    }
    stored = {
        "by_width": ratios(by_width(), rounds),
        "by_length": ratios(by_length(), rounds),
        "branches": beside(branches, rounds),
        "training": ratios(training(), rounds),
    }
    text = json.dumps(stored, indent=1) + "\n"
    Path(__file__).with_name("doubling.json").write_text(
        text, encoding="utf-8"
    )


if __name__ == "__main__":
    main()
