"""A block's parameters as one dict of arrays, in PyTorch's names and layout."""

import zlib
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from transformer_block._invariants import Shape, require_floating
from transformer_block.config import BlockConfig

Parameters = dict[str, Float[np.ndarray, "..."]]


def shapes(config: BlockConfig) -> dict[str, Shape]:
    """Name and shape of each tensor of a block, in the order in which stages use them.

    Matrices are (out, in): y = x · Wᵀ + b. attention.qkv stacks three (D, D) matrices:
    its rows 0 … D − 1 make the queries, D … 2D − 1 the keys and 2D … 3D − 1 the values.
    """
    d, f = config.d_model, config.d_ff
    return {
        "norm_1.weight": (d,),
        "norm_1.bias": (d,),
        "attention.qkv.weight": (3 * d, d),
        "attention.qkv.bias": (3 * d,),
        "attention.out.weight": (d, d),
        "attention.out.bias": (d,),
        "norm_2.weight": (d,),
        "norm_2.bias": (d,),
        "feed_forward.up.weight": (f, d),
        "feed_forward.up.bias": (f,),
        "feed_forward.down.weight": (d, f),
        "feed_forward.down.bias": (d,),
    }


def initialize(config: BlockConfig, seed: int) -> Parameters:
    """Draw the parameters at which training starts, in float64.

    W ~ uniform(−a, a) with a = √(6 / (in + out)); norm weights 1; biases 0

    The stacked attention.qkv counts as one matrix with in = D and out = 3D, as in
    nn.MultiheadAttention. Each tensor has a random stream of its own, made from the
    seed and its name. Norms and biases at 1 and 0 hide mistakes: a test that must see
    them passes the result through `perturb`.

    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward
    networks, 2010.
    """
    return {name: _initial(name, shape, seed) for name, shape in shapes(config).items()}


def perturb(
    parameters: Mapping[str, np.ndarray], seed: int, scale: float = 0.1
) -> Parameters:
    """Add independent normal noise to every entry: no bias is 0, no gain is 1.

    p + scale · ε with ε ~ normal(0, 1)

    The dtype of each tensor is kept, and the arrays given are left as they are.
    """
    return {
        name: value
        + (scale * _stream(f"{name} noise", seed).standard_normal(value.shape)).astype(
            value.dtype
        )
        for name, value in parameters.items()
    }


def check(config: BlockConfig, parameters: Mapping[str, np.ndarray]) -> None:
    """Refuse parameters that do not belong to this configuration, naming each at fault.

    Raises: ValueError that lists each missing, unexpected or misshapen tensor;
    TypeError for a tensor whose dtype is not floating, or for dtypes that differ.
    """
    expected = shapes(config)
    faults = [f"{name} is missing" for name in expected if name not in parameters]
    faults += [
        f"{name} is not a parameter of this block"
        for name in parameters
        if name not in expected
    ]
    faults += [
        f"{name} must have shape {shape}; got {parameters[name].shape}"
        for name, shape in expected.items()
        if name in parameters and parameters[name].shape != shape
    ]
    if faults:
        raise ValueError("; ".join(faults))
    for name, value in parameters.items():
        require_floating(name, value)
    dtypes = sorted({str(value.dtype) for value in parameters.values()})
    if len(dtypes) > 1:
        raise TypeError(f"the parameters must share one dtype; got {', '.join(dtypes)}")


def _initial(name: str, shape: Shape, seed: int) -> Float[np.ndarray, "..."]:
    if len(shape) == 1:
        return (
            np.ones(shape)
            if name.startswith("norm") and name.endswith("weight")
            else np.zeros(shape)
        )
    bound = np.sqrt(6 / sum(shape))
    return _stream(name, seed).uniform(-bound, bound, shape)


def _stream(purpose: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])
