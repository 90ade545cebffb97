"""Makes training.json: what the chapter on training shows but doesn't run.

    python chapters/data/make_training.py [--processes N]

A sweep of learning rates, placements, warm-ups and seeds; and, of the four
runs that the chapter repeats, the losses and an attention map. A run takes
about four seconds of one core that has nothing else to do.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from transformer_block import training
from transformer_block.config import BlockConfig
from transformer_block.tasks import reversal
from transformer_block.training import TokenClassifier, learn_reversal

RATES = (0.004, 0.008, 0.016, 0.032, 0.064)
LIVE_RATE = 0.008
WARMUPS = (0, 100)
PLACEMENTS = ("pre", "post")
SEEDS = range(4)
EVERY = 4
"""A stored loss is the mean of so many steps."""


class Setting(NamedTuple):
    """What is varied."""

    placement: str
    warmup: int
    rate: float
    seed: int


def config(placement: Any) -> BlockConfig:
    """Six blocks of the teaching model's size that see all positions."""
    return BlockConfig(
        d_model=32,
        n_heads=4,
        d_ff=64,
        n_layers=6,
        placement=placement,
        positions="sinusoidal",
    )


def train(setting: Setting) -> dict[str, Any]:
    """One run: its setting, its accuracy, and more where it is repeated."""
    torch.set_num_threads(1)
    placement, warmup, rate, seed = setting
    run = learn_reversal(config(placement), rate, warmup, seed)
    kept = {**setting._asdict(), "accuracy": round(run.accuracy, 3)}
    if (rate, seed) == (LIVE_RATE, 0):
        means = np.reshape(run.losses, (-1, EVERY)).mean(axis=1)
        kept["losses"] = means.round(3).tolist()
        attention = mirror_head(run.model).astype(float)
        kept["attention"] = attention.round(2).tolist()
    return kept


def mirror_head(model: TokenClassifier) -> np.ndarray:
    """Mean weights of the head that looks most at mirrored positions."""
    drawn = np.random.default_rng(0)
    batch = reversal(512, training.LENGTH, training.SYMBOLS, drawn)
    saved: dict[str, Any] = {}
    with torch.no_grad():
        model(torch.from_numpy(batch.tokens), saved=saved)
    blocks = (block["attention"]["weights"] for block in saved.values())
    maps = torch.cat([weights.mean(dim=0) for weights in blocks]).numpy()
    mirrored = np.trace(maps[:, :, ::-1], axis1=1, axis2=2)
    return maps[mirrored.argmax()]


def main() -> None:
    """Run the sweep, say where it is, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    processes = parser.parse_args().processes
    settings = [
        Setting(placement, warmup, rate, seed)
        for seed, rate, placement, warmup in product(
            SEEDS, RATES, PLACEMENTS, WARMUPS
        )
    ]
    runs: list[dict[str, Any]] = []
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for run in pool.map(train, settings):
            runs.append(run)
            write(runs)  # what is done is kept, should the rest be stopped
            said = f"{len(runs)} of {len(settings)}: {run['placement']}-norm"
            said += f", warm-up {run['warmup']}, rate {run['rate']}"
            sys.stderr.write(f"{said}, accuracy {run['accuracy']:.3f}\n")


def write(runs: list[dict[str, Any]]) -> None:
    """Put the runs into the file, a line each."""
    lines = ",\n".join(json.dumps(run) for run in runs)
    text = f'{{"every": {EVERY}, "runs": [\n{lines}\n]}}\n'
    Path(__file__).with_name("training.json").write_text(
        text, encoding="utf-8"
    )


if __name__ == "__main__":
    main()
