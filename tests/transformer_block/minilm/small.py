"""A BERT of few features with random weights: everything about the encoder but what it learned."""

import numpy as np

from tests.transformer_block.numerics import normal
from transformer_block.config import BlockConfig
from transformer_block.minilm.files import Trained, embeddings_of, stack_of

# Pairwise distinct: vocabulary, positions, segments, layers, D, heads, F, B, T.
V, PLACES, SEGMENTS, L, D, H, F, B, T = 23, 11, 2, 3, 20, 4, 13, 5, 7
CONFIG = BlockConfig(
    d_model=D,
    n_heads=H,
    d_ff=F,
    n_layers=L,
    placement="post",
    eps=1e-3,
    activation="gelu",
    residual_dropout=0.5,
    attention_dropout=0.5,
)
IDS = np.random.default_rng(0).integers(0, V, (B, T))
LENGTHS = np.array([7, 1, 4, 6, 2])


def bert(dtype: type = np.float64) -> dict[str, np.ndarray]:
    """Weights by BERT's names."""
    shapes = {
        "embeddings.word_embeddings.weight": (V, D),
        "embeddings.position_embeddings.weight": (PLACES, D),
        "embeddings.token_type_embeddings.weight": (SEGMENTS, D),
        "embeddings.LayerNorm.weight": (D,),
        "embeddings.LayerNorm.bias": (D,),
    }
    for i in range(L):
        layer = f"encoder.layer.{i}"
        for name, out, width in (
            *((f"attention.self.{each}", D, D) for each in ("query", "key", "value")),
            ("attention.output.dense", D, D),
            ("intermediate.dense", F, D),
            ("output.dense", D, F),
        ):
            shapes |= {f"{layer}.{name}.weight": (out, width), f"{layer}.{name}.bias": (out,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{layer}.{name}.weight": (D,), f"{layer}.{name}.bias": (D,)}
    return {name: normal(i, *shape, dtype=dtype) for i, (name, shape) in enumerate(shapes.items())}


def trained(dtype: type = np.float64) -> Trained:
    """The same weights by our names."""
    weights = bert(dtype)
    return Trained(CONFIG, stack_of(weights, L), embeddings_of(weights))
