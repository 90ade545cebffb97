"""What must hold before any arithmetic starts, worded once for both twins."""

from collections.abc import Collection, Iterable
from typing import Protocol, runtime_checkable

Shape = tuple[int, ...]


@runtime_checkable
class Shaped(Protocol):
    """What an array of either twin says about itself."""

    @property
    def shape(self) -> Shape: ...

    @property
    def dtype(self) -> object: ...


def require_layer_norm(x: Shaped, **per_feature: Shaped | None) -> None:
    """A floating dtype, at least one feature, and vectors of one entry per feature."""
    require_floating("layer_norm", x)
    if not x.shape or x.shape[-1] == 0:
        raise ValueError(
            "layer_norm needs at least one feature on the last axis; "
            f"got shape {tuple(x.shape)}"
        )
    for name, vector in per_feature.items():
        if vector is not None:
            require_shape(name, vector, x.shape[-1:])


def require_feed_forward(
    x: Shaped, w1: Shaped, b1: Shaped, w2: Shaped, b2: Shaped
) -> None:
    """Matrices that widen x and bring it back, with biases that fit them."""
    inner, d_model = w1.shape[0], x.shape[-1]
    require_shape("w1", w1, (inner, d_model))
    require_shape("b1", b1, (inner,))
    require_shape("w2", w2, (d_model, inner))
    require_shape("b2", b2, (d_model,))


def require_attention(
    x: Shaped,
    qkv: Shaped,
    qkv_bias: Shaped,
    out: Shaped,
    out_bias: Shaped,
    visible: Shaped | None,
) -> None:
    """Projections that fit x, and a mask over its positions."""
    *batch, length, d_model = x.shape
    require_shape("qkv", qkv, (3 * d_model, d_model))
    require_shape("qkv_bias", qkv_bias, (3 * d_model,))
    require_shape("out", out, (d_model, d_model))
    require_shape("out_bias", out_bias, (d_model,))
    if visible is not None:
        require_visible(visible, (*batch, length, length))


def require_stream(x: Shaped, d_model: int) -> None:
    """Token vectors of the width that the block was made for."""
    if len(x.shape) < 2 or x.shape[-1] != d_model:
        raise ValueError(f"x must have shape (..., T, {d_model}); got {tuple(x.shape)}")


def require_same_dtype(x: Shaped, parameter: Shaped) -> None:
    """One dtype for stream and parameters, so that none is rounded unasked."""
    if x.dtype != parameter.dtype:
        raise TypeError(
            f"x is {_dtype_of(x)} but the parameters are {_dtype_of(parameter)}"
        )


def require_visible(visible: Shaped, scores: Shape) -> None:
    """A boolean mask that broadcasts to the scores (..., T, S), and not the reverse."""
    if _dtype_of(visible) != "bool":
        raise TypeError(
            "visible must be boolean, True where a key is seen; "
            f"got {_dtype_of(visible)}"
        )
    pairs = zip(reversed(visible.shape), reversed(scores), strict=False)
    if not 2 <= len(visible.shape) <= len(scores) or any(
        given not in (1, size) for given, size in pairs
    ):
        raise ValueError(
            f"visible has shape {tuple(visible.shape)}, "
            f"which does not broadcast to {scores}"
        )


def require_lengths(lengths: Iterable[int], limit: int) -> None:
    """Sequence lengths that the padded width can hold."""
    for length in lengths:
        if not 0 <= length <= limit:
            raise ValueError(f"lengths must lie between 0 and S {limit}; got {length}")


def require_divisible(d_model: int, n_heads: int) -> None:
    """A width that the heads share evenly."""
    if n_heads < 1 or d_model % n_heads:
        raise ValueError(f"d_model {d_model} is not divisible by n_heads {n_heads}")


def require_one_of(name: str, value: str, known: Collection[str]) -> None:
    """A name that is known."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}; got {value!r}")


def require_floating(name: str, x: Shaped) -> None:
    """A floating dtype: the mean of integers would be rounded."""
    if "float" not in _dtype_of(x):
        raise TypeError(f"{name} needs a floating dtype; got {_dtype_of(x)}")


def require_integers(name: str, x: Shaped) -> None:
    """An integer dtype of any width."""
    if "int" not in _dtype_of(x):
        raise TypeError(f"{name} must be integers; got {_dtype_of(x)}")


def require_shape(name: str, x: Shaped, expected: Shape) -> None:
    """The shape that the other arrays imply."""
    if tuple(x.shape) != tuple(expected):
        raise ValueError(
            f"{name} must have shape {tuple(expected)}; got {tuple(x.shape)}"
        )


def _dtype_of(x: Shaped) -> str:
    return str(x.dtype).removeprefix("torch.")
