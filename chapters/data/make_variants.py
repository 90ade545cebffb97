"""Makes variants.json: the training runs of the chapter on variants.

    python chapters/data/make_variants.py [--processes N]

Each variant of the stack, at nearly equal parameters, learns the reversal at
three rates from four seeds. Kept is the step at which its loss, a mean of
four steps, has fallen below that of one who knows half of the places, and
its accuracy at the end.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from transformer_block.config import BlockConfig
from transformer_block.parameters import stack_shapes
from transformer_block.training import learn_reversal

BASE = BlockConfig(
    d_model=32, n_heads=4, d_ff=64, n_layers=6, positions="sinusoidal"
)
VARIANTS: dict[str, dict[str, Any]] = {
    "pre-norm": {},
    "RMSNorm": {"norm": "rms_norm"},
    "SwiGLU": {"activation": "swiglu", "d_ff": 43},
    "one KV head": {"n_kv_heads": 1, "d_ff": 88},
    "rotary": {"positions": "rotary"},
    "QK-norm": {"qk_norm": True},
    "parallel": {"placement": "parallel"},
    "ReZero": {"residual_scaling": "rezero"},
    "LayerScale": {"residual_scaling": "layer_scale"},
    "DeepNorm": {"placement": "post", "residual_scaling": "deep_norm"},
}
RATES = (0.002, 0.008, 0.032)
SEEDS = range(4)
EVERY, FOUND = 4, 0.7
"""Steps to a mean loss; nats below which a run has found out."""


class Setting(NamedTuple):
    """What is varied."""

    variant: str
    rate: float
    seed: int


def train(setting: Setting) -> dict[str, Any]:
    """One run: its setting, when it found out (None: never), accuracy."""
    torch.set_num_threads(1)
    config = replace(BASE, **VARIANTS[setting.variant])
    run = learn_reversal(config, setting.rate, 0, setting.seed)
    means = np.reshape(run.losses, (-1, EVERY)).mean(axis=1)
    low = np.flatnonzero(means < FOUND)
    kept = {"found": EVERY * int(low[0]) if len(low) else None}
    return setting._asdict() | kept | {"accuracy": round(run.accuracy, 3)}


def parameters(variant: str) -> int:
    """Parameters of the stack; embedding and readout are alike in all."""
    shapes = stack_shapes(replace(BASE, **VARIANTS[variant])).values()
    return sum(int(np.prod(shape)) for shape in shapes)


def main() -> None:
    """Run the sweep, say where it is, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    processes = parser.parse_args().processes
    settings = [
        Setting(variant, rate, seed)
        for seed, rate, variant in product(SEEDS, RATES, VARIANTS)
    ]
    runs: list[dict[str, Any]] = []
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for run in pool.map(train, settings):
            runs.append(run)
            write(runs)  # what is done is kept, should the rest be stopped
            said = f"{len(runs)} of {len(settings)}: {run['variant']}"
            sys.stderr.write(f"{said}, accuracy {run['accuracy']:.3f}\n")


def write(runs: list[dict[str, Any]]) -> None:
    """Put sizes and runs into the file, a line each run."""
    counts = json.dumps({each: parameters(each) for each in VARIANTS})
    lines = ",\n".join(json.dumps(run) for run in runs)
    text = f'{{"parameters": {counts},\n"runs": [\n{lines}\n]}}\n'
    Path(__file__).with_name("variants.json").write_text(
        text, encoding="utf-8"
    )


if __name__ == "__main__":
    main()
