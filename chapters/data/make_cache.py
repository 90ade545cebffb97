"""Makes cache.json: how long one more token takes, with a cache and without.

    python chapters/data/make_cache.py

A stack of four blocks holds 64 to 2,048 tokens. With the cache the next
token is one step; without it all tokens are read again. The two take turns,
and the best of several tries counts. Only ratios are kept, in units of the
shortest step, because the times themselves belong to one machine.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_block.config import BlockConfig
from transformer_block.in_torch.cache import KVCache
from transformer_block.in_torch.stack import Stack
from transformer_block.parameters import initialize_stack

CONFIG = BlockConfig(
    d_model=256,
    n_heads=8,
    d_ff=1024,
    n_layers=4,
    causal=True,
    positions="rotary",
)
HELD = (64, 128, 256, 512, 1024, 2048)
TRIES = 12


def seconds(act: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def best_of(stack: Stack, tokens: Tensor, held: int) -> tuple[float, float]:
    """One more token behind so many: by a step, and by reading all again."""
    caches = [KVCache(held + TRIES) for _ in stack.blocks]
    stack(tokens[:held], caches=caches)
    times = []
    for each in range(held, held + TRIES):
        step = tokens[each : each + 1]
        by_step = seconds(lambda step=step: stack(step, caches=caches))
        again = tokens[: held + 1]
        times.append((by_step, seconds(lambda again=again: stack(again))))
    by_step, by_reading = np.min(times, axis=0)
    return float(by_step), float(by_reading)


def made() -> dict[str, Any]:
    """What the file holds."""
    torch.set_num_threads(1)
    parameters = {
        name: value.astype(np.float32)
        for name, value in initialize_stack(CONFIG, seed=0).items()
    }
    stack = Stack(CONFIG, parameters).eval()
    drawn = np.random.default_rng(1)
    rows = drawn.normal(size=(max(HELD) + TRIES, CONFIG.d_model))
    tokens = torch.from_numpy(rows.astype(np.float32))
    with torch.inference_mode():
        best_of(stack, tokens, HELD[0])  # the first call of all is slower
        times = np.array([best_of(stack, tokens, held) for held in HELD])
    ratios = times / times.min()
    return {
        "held": HELD,
        "step": ratios[:, 0].round(2).tolist(),
        "again": ratios[:, 1].round(1).tolist(),
    }


def main() -> None:
    """Write the file."""
    path = Path(__file__).with_name("cache.json")
    path.write_text(json.dumps(made()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
