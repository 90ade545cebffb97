"""What must hold before a block or a stack starts, worded once for both twins."""

from collections.abc import Sized

from transformer_block._invariants import (
    Shaped,
    dtype_of,
    require_memory,
    require_shape,
)


def require_residual(x: Shaped, update: Shaped, weight: Shaped | None = None) -> None:
    """An update shaped as the stream, and a weight for all features or one for each."""
    require_shape("update", update, x.shape)
    if weight is not None and tuple(weight.shape) not in ((1,), tuple(x.shape[-1:])):
        raise ValueError(
            f"weight must have shape (1,) or {tuple(x.shape[-1:])}; "
            f"got {tuple(weight.shape)}"
        )


def require_stream(x: Shaped, d_model: int) -> None:
    """Token vectors of the width that the block was made for."""
    if len(x.shape) < 2 or x.shape[-1] != d_model:
        raise ValueError(f"x must have shape (..., T, {d_model}); got {tuple(x.shape)}")


def require_same_dtype(name: str, x: Shaped, parameter: Shaped) -> None:
    """The dtype of the parameters, so that nothing is widened or rounded unasked."""
    if x.dtype != parameter.dtype:
        raise TypeError(
            f"{name} is {dtype_of(x)} but the parameters are {dtype_of(parameter)}"
        )


def require_inputs(
    x: Shaped, parameter: Shaped, memory: Shaped | None, reads_memory: bool
) -> None:
    """A stream of the parameters' dtype, and a memory where the block reads one."""
    require_same_dtype("x", x, parameter)
    if memory is None and reads_memory:
        raise ValueError("cross-attention needs a memory; got none")
    if memory is not None and not reads_memory:
        raise ValueError("a memory is given, but cross_attention is False")
    if memory is not None:
        require_memory(x, memory)


def require_gradient(dy: Shaped, y: Shaped) -> None:
    """A gradient by y, entry for entry."""
    require_shape("dy", dy, y.shape)
    require_same_dtype("dy", dy, y)


def require_evaluation(cache: object, rng: object) -> None:
    """No dropout while a cache is filled: what it holds must not be random."""
    if cache is not None and rng is not None:
        raise ValueError("a cache is for evaluation: rng must be None")


def require_no_cache(cache: object) -> None:
    """No cache where gradients are asked for: none flow through what it holds."""
    if cache is not None:
        raise ValueError("no gradients flow through a cache: cache must be None")


def require_caches(caches: Sized | None, n_layers: int) -> None:
    """One cache for each block of a stack."""
    if caches is not None and len(caches) != n_layers:
        raise ValueError(
            f"a stack of {n_layers} blocks needs {n_layers} caches; got {len(caches)}"
        )
