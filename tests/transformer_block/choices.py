"""Configurations that together hold every valid pair of a block's choices."""

from itertools import combinations, product

import numpy as np

from tests.transformer_block.numerics import normal
from transformer_block.config import BlockConfig

# Pairwise distinct, so that no two axes can be swapped unseen: B, T, S, D, H, G, K, F. The numbers are not
# the defaults, so that none can be left out unseen.
SIZES = {"d_model": 24, "n_heads": 6, "d_ff": 7, "n_layers": 3, "eps": 1e-3, "rotary_base": 100.0}
B, T, S, D, G = 2, 5, 9, 24, 3

FACTORS = {
    "placement": ("pre", "post", "sandwich", "parallel"),
    "activation": ("relu", "gelu", "gelu_tanh", "silu", "swiglu", "geglu"),
    "residual_scaling": ("none", "rezero", "layer_scale", "deep_norm"),
    "positions": ("none", "sinusoidal", "rotary"),
    "n_kv_heads": (None, G, 1),
    "norm_bias": (None, False, True),
    "norm": ("layer_norm", "rms_norm"),
    "norm_weight": (True, False),
    "attention_bias": (True, False),
    "feed_forward_bias": (True, False),
    "qk_norm": (False, True),
    "causal": (False, True),
    "cross_attention": (False, True),
}
Choice = tuple[str, object]
EXCLUDED = {
    frozenset({("placement", "parallel"), ("cross_attention", True)}),
    frozenset({("norm", "rms_norm"), ("norm_bias", True)}),
    *(
        frozenset({("residual_scaling", "deep_norm"), ("placement", other)})
        for other in FACTORS["placement"]
        if other != "post"
    ),
}


def pairs() -> set[frozenset[Choice]]:
    """Every pair of values of two different choices that can stand together."""
    every = {
        frozenset({(one, value), (other, another)})
        for one, other in combinations(FACTORS, 2)
        for value, another in product(FACTORS[one], FACTORS[other])
    }
    return every - EXCLUDED


def covering() -> list[dict[str, object]]:
    """Few sets of choices that hold every pair: each starts from a pair that none holds yet."""
    missing = pairs()
    rows = []
    while missing:
        row: dict[str, object] = dict(sorted(min(missing, key=repr_of), key=repr))
        for factor in FACTORS:
            if factor not in row:
                row[factor] = max(
                    (value for value in FACTORS[factor] if allowed(row, factor, value)),
                    key=lambda value: len(missing & pairs_of(row, factor, value)),
                )
        missing -= {frozenset(pair) for pair in combinations(row.items(), 2)}
        rows.append(row)
    return rows


def inputs_of(config: BlockConfig, dtype: type = np.float64) -> dict[str, np.ndarray]:
    """What a block or stack reads: a stream, a mask that hides at random, and a memory for a decoder."""
    masks = np.random.default_rng(3)
    inputs = {"x": normal(1, B, T, D, dtype=dtype), "visible": masks.random((B, T, T)) < 0.7}
    if config.cross_attention:
        inputs["memory"] = normal(2, B, S, D, dtype=dtype)
        inputs["memory_visible"] = masks.random((B, T, S)) < 0.7
    return inputs


def config_of(row: dict[str, object]) -> BlockConfig:
    return BlockConfig(**SIZES | row)


def name_of(row: dict[str, object]) -> str:
    """What is chosen, less the first word of each list: a readable id of a test."""
    chosen = [f"{factor}={row[factor]}" for factor in FACTORS if row[factor] != FACTORS[factor][0]]
    return " ".join(chosen)


def pairs_of(row: dict[str, object], factor: str, value: object) -> set[frozenset[Choice]]:
    return {frozenset({chosen, (factor, value)}) for chosen in row.items()}


def allowed(row: dict[str, object], factor: str, value: object) -> bool:
    return not pairs_of(row, factor, value) & EXCLUDED


def repr_of(pair: frozenset[Choice]) -> str:
    return repr(sorted(pair, key=repr))


COVERING = covering()
