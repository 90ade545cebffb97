"""A block's parameters as one dict of arrays, in PyTorch's names and layout."""

from collections.abc import Iterator, Mapping

import numpy as np
from jaxtyping import Float

from transformer_block._invariants import Shape, require_floating
from transformer_block.config import BlockConfig
from transformer_block.initialization import initial_value, stream_of

Parameters = dict[str, Float[np.ndarray, "..."]]


def shapes(config: BlockConfig) -> dict[str, Shape]:
    """Name and shape of each tensor of a block, branch by branch.

    Matrices are (out, in): y = x · Wᵀ + b. attention.qkv stacks three matrices: with H
    query heads and G key-value heads its first H · K rows make the queries, the next
    G · K the keys and the last G · K the values. cross_attention.kv stacks keys and
    values alike. Branch i has its norm under norm_i, the second norm of a sandwich
    under norm_i_out, and its residual scale under residual_i.
    """
    return {
        f"{part}.{kind}": shape
        for number, branch in enumerate(config.branches, start=1)
        for part, kind, shape in _of_branch(config, number, branch)
    }


def stack_shapes(config: BlockConfig) -> dict[str, Shape]:
    """Name and shape of each tensor of a stack of config.n_layers blocks.

    Block i has the names of `shapes` behind blocks.i., counted from 0. The final norm
    is `norm`; a post-norm stack has none, for its last block ends in one.
    """
    stack = {
        f"blocks.{i}.{name}": shape
        for i in range(config.n_layers)
        for name, shape in shapes(config).items()
    }
    if config.placement != "post":
        final = _of_norm(config, "norm")
        stack |= {f"{norm}.{kind}": shape for norm, kind, shape in final}
    return stack


def initialize(config: BlockConfig, seed: int) -> Parameters:
    """Draw the parameters at which the training of a block starts, in float64.

    Each tensor has a random stream of its own, made from the seed and its name; the
    distributions are those of `initialization.initial_value`. Norms and biases at 1 and
    0 hide mistakes: a test that must see them passes the result through `perturb`.
    """
    return _initial_values(config, shapes(config), seed)


def initialize_stack(config: BlockConfig, seed: int) -> Parameters:
    """Draw the parameters of a stack, as `initialize` does for one block."""
    return _initial_values(config, stack_shapes(config), seed)


def perturb(
    parameters: Mapping[str, np.ndarray], seed: int, scale: float = 0.1
) -> Parameters:
    """Add independent normal noise to every entry: no bias is 0, no gain is 1.

    p + scale · ε with ε ~ normal(0, 1)

    The dtype of each tensor is kept, and the arrays given are left as they are.
    """
    return {
        name: value + scale * _noise(name, value, seed)
        for name, value in parameters.items()
    }


def within(parameters: Mapping[str, np.ndarray], part: str) -> Parameters:
    """Take the tensors of one part, by the names that they have inside it.

    blocks.3.norm_1.weight is norm_1.weight within blocks.3
    """
    prefix = f"{part}."
    return {
        name.removeprefix(prefix): value
        for name, value in parameters.items()
        if name.startswith(prefix)
    }


def check(config: BlockConfig, parameters: Mapping[str, np.ndarray]) -> None:
    """Refuse parameters that do not belong to this block, naming each at fault.

    Raises: ValueError that lists each missing, unexpected or misshapen tensor;
    TypeError for a tensor whose dtype is not floating, or for dtypes that differ.
    """
    _check("block", shapes(config), parameters)


def check_stack(config: BlockConfig, parameters: Mapping[str, np.ndarray]) -> None:
    """Refuse parameters that do not belong to this stack, as `check` does for a block.

    Raises: as check.
    """
    _check("stack", stack_shapes(config), parameters)


Part = tuple[str, str, Shape]


def _of_branch(config: BlockConfig, number: int, branch: str) -> Iterator[Part]:
    if number == 1 or config.placement != "parallel":
        yield from _of_norm(config, f"norm_{number}")
    if branch == "feed_forward":
        yield from _of_feed_forward(config)
    else:
        yield from _of_attention(config, branch)
    if config.placement == "sandwich":
        yield from _of_norm(config, f"norm_{number}_out")
    if config.residual_scaling == "rezero":
        yield f"residual_{number}", "weight", (1,)
    elif config.residual_scaling == "layer_scale":
        yield f"residual_{number}", "weight", (config.d_model,)


def _of_norm(config: BlockConfig, norm: str) -> Iterator[Part]:
    if config.norm_weight:
        yield norm, "weight", (config.d_model,)
    if config.has_norm_bias:
        yield norm, "bias", (config.d_model,)


def _of_attention(config: BlockConfig, branch: str) -> Iterator[Part]:
    d, bias = config.d_model, config.attention_bias
    keys_and_values = 2 * config.kv_heads * config.head_width
    if branch == "attention":
        yield from _of_linear("attention.qkv", d + keys_and_values, d, bias)
    else:
        yield from _of_linear(f"{branch}.q", d, d, bias)
        yield from _of_linear(f"{branch}.kv", keys_and_values, d, bias)
    yield from _of_linear(f"{branch}.out", d, d, bias)
    if config.qk_norm:
        yield f"{branch}.q_norm", "weight", (config.head_width,)
        yield f"{branch}.k_norm", "weight", (config.head_width,)


def _of_feed_forward(config: BlockConfig) -> Iterator[Part]:
    d, f, bias = config.d_model, config.d_ff, config.feed_forward_bias
    yield from _of_linear("feed_forward.up", f, d, bias)
    if config.gated:
        yield from _of_linear("feed_forward.gate", f, d, bias)
    yield from _of_linear("feed_forward.down", d, f, bias)


def _of_linear(name: str, rows: int, columns: int, bias: bool) -> Iterator[Part]:
    yield name, "weight", (rows, columns)
    if bias:
        yield name, "bias", (rows,)


def _initial_values(
    config: BlockConfig, expected: Mapping[str, Shape], seed: int
) -> Parameters:
    return {name: initial_value(config, name, expected, seed) for name in expected}


def _noise(name: str, value: np.ndarray, seed: int) -> Float[np.ndarray, "..."]:
    noise = stream_of(f"{name} noise", seed).standard_normal(value.shape)
    return noise.astype(value.dtype)


def _check(
    whole: str, expected: Mapping[str, Shape], parameters: Mapping[str, np.ndarray]
) -> None:
    faults = [f"{name} is missing" for name in expected if name not in parameters]
    faults += [
        f"{name} is not a parameter of this {whole}"
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
