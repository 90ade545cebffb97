"""The values at which training starts: drawn tensor by tensor from one seed."""

import math
import zlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from transformer_block._invariants import Shape
from transformer_block.config import BlockConfig

NORMAL_STD = 0.02
"""The spread of GPT-2 and BERT, whatever the width."""


class DeepNorm(NamedTuple):
    """What DeepNorm multiplies: the stream by alpha, matrices at the start by beta."""

    alpha: float
    beta: float


def deep_norm(config: BlockConfig) -> DeepNorm:
    """DeepNorm's two factors for a stack of L = n_layers blocks.

    α = (2L)^(1/4), β = (8L)^(−1/4);  decoder blocks: α = (3L)^(1/4), β = (12L)^(−1/4)

    The deeper the stack, the more the stream outweighs what one branch adds, and the
    smaller the values, output and feed-forward matrices are at first. L counts the
    blocks of the stack itself; the encoder beside a decoder has factors that depend on
    both depths and are not computed here.

    Source: Wang et al., DeepNet: Scaling Transformers to 1,000 Layers, 2022,
    arXiv:2203.00555, figure 2.
    """
    adds = len(config.branches) * config.n_layers
    return DeepNorm(alpha=adds**0.25, beta=(4 * adds) ** -0.25)


def stream_scale(config: BlockConfig) -> float:
    """How much smaller the matrices start that write to the stream.

    1 / √(branches · n_layers), or 1 without scaled_initialization

    The stream is a sum of branches · n_layers independent updates; so scaled, their sum
    has the variance of one.

    Source: Radford et al., Language Models are Unsupervised Multitask Learners, 2019,
    section 2.3.
    """
    if not config.scaled_initialization:
        return 1.0
    return 1 / math.sqrt(len(config.branches) * config.n_layers)


def initial_value(
    config: BlockConfig, name: str, shapes: Mapping[str, Shape], seed: int
) -> Float[np.ndarray, "..."]:
    """One tensor at the start of training, in float64, from a stream of its own.

    xavier: W ~ uniform(−a, a), a = √(6 / (in + out));  pytorch: W, b ~ uniform(−a, a),
    a = 1 / √in;  normal: W ~ normal(0, 0.02)

    Other biases start at 0, norm weights at 1, ReZero's scalars at 0, LayerScale's
    vectors at layer_scale_init. A stacked matrix counts as one: attention.qkv has
    in = D and out = D + 2GK. shapes holds every tensor of the model by its name.

    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward
    networks, 2010; nn.Linear; Radford et al., 2019; Bachlechner et al., ReZero, 2020,
    arXiv:2003.04887; Touvron et al., CaiT, 2021, arXiv:2103.17239.
    """
    shape = shapes[name]
    part, _, kind = name.rpartition(".")
    if kind == "bias":
        return _bias(config, name, shape, shapes.get(f"{part}.weight"), seed)
    if len(shape) == 2:
        return _matrix(config, name, shape, seed)
    if not part.rpartition(".")[2].startswith("residual"):
        return np.ones(shape)
    start = 0.0 if config.residual_scaling == "rezero" else config.layer_scale_init
    return np.full(shape, start)


def stream_of(purpose: str, seed: int) -> np.random.Generator:
    """A random stream for one purpose: no draw depends on how many others were made."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


def _bias(
    config: BlockConfig, name: str, shape: Shape, weight: Shape | None, seed: int
) -> Float[np.ndarray, "_"]:
    if config.initialization != "pytorch" or weight is None or len(weight) == 1:
        return np.zeros(shape)
    bound = 1 / math.sqrt(weight[1])
    return stream_of(name, seed).uniform(-bound, bound, shape)


def _matrix(
    config: BlockConfig, name: str, shape: Shape, seed: int
) -> Float[np.ndarray, "_ _"]:
    rows, columns = shape
    stream = stream_of(name, seed)
    if config.initialization == "normal":
        matrix = stream.normal(0, NORMAL_STD, shape)
    else:
        xavier = config.initialization == "xavier"
        bound = math.sqrt(6 / (rows + columns) if xavier else 1 / columns)
        matrix = stream.uniform(-bound, bound, shape)
    projection = name.rpartition(".")[0]
    if projection.endswith((".out", ".down")):
        matrix *= stream_scale(config)
    if config.residual_scaling == "deep_norm":
        matrix[_scaled_rows(config, projection, rows)] *= deep_norm(config).beta
    return matrix


def _scaled_rows(config: BlockConfig, projection: str, rows: int) -> slice:
    """Rows that DeepNorm scales: all but those that make queries and keys."""
    if projection.endswith((".qkv", ".kv")):
        return slice(rows - config.kv_heads * config.head_width, None)
    return slice(0) if projection.endswith(".q") else slice(None)
