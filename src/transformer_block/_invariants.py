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


def require_norm(norm: str, x: Shaped, **per_feature: Shaped | None) -> None:
    """A floating dtype, at least one feature, and vectors of one entry per feature."""
    require_floating(norm, x)
    if not x.shape or x.shape[-1] == 0:
        raise ValueError(
            f"{norm} needs at least one feature on the last axis; "
            f"got shape {tuple(x.shape)}"
        )
    for name, vector in per_feature.items():
        if vector is not None:
            require_shape(name, vector, x.shape[-1:])


def require_linear(x: Shaped, weight: Shaped, bias: Shaped | None = None) -> None:
    """An (out, in) matrix whose in is the width of x, and a bias of its out."""
    if len(weight.shape) != 2 or not x.shape or weight.shape[1] != x.shape[-1]:
        raise ValueError(
            f"weight must have shape (out, in) with x of shape (..., in); "
            f"got {tuple(weight.shape)} and {tuple(x.shape)}"
        )
    if bias is not None:
        require_shape("bias", bias, weight.shape[:1])


def require_projection(
    name: str, weight: Shaped, bias: Shaped | None, expected: Shape
) -> None:
    """A matrix of this shape, and a bias, if there is one, for each of its rows."""
    require_shape(name, weight, expected)
    if bias is not None:
        require_shape(f"{name}_bias", bias, expected[:1])


def require_feed_forward(
    x: Shaped, w1: Shaped, b1: Shaped | None, w2: Shaped, b2: Shaped | None
) -> None:
    """Matrices that widen x and bring it back, with biases that fit them."""
    require_floating("feed_forward", x)
    inner, d_model = w1.shape[0], x.shape[-1]
    require_shape("w1", w1, (inner, d_model))
    require_shape("w2", w2, (d_model, inner))
    for name, bias, width in (("b1", b1, inner), ("b2", b2, d_model)):
        if bias is not None:
            require_shape(name, bias, (width,))


def require_gate(
    activation: str, gated: bool, w1: Shaped, gate: Shaped | None, bias: Shaped | None
) -> None:
    """A gate as large as w1 for an activation that has one, and none for the others."""
    if gated and gate is None:
        raise ValueError(f"{activation} needs a gate; got None")
    if not gated and not (gate is None and bias is None):
        raise ValueError(f"{activation} has no gate: gate and gate_bias must be None")
    if gate is not None:
        require_projection("gate", gate, bias, w1.shape)


def require_memory(x: Shaped, memory: Shaped) -> None:
    """A memory of the same batch, width and dtype, of any length."""
    expected = (*x.shape[:-2], "S", x.shape[-1])
    given = tuple(memory.shape)
    if len(given) != len(x.shape) or (*given[:-2], "S", given[-1]) != expected:
        shape = f"({', '.join(map(str, expected))})"
        raise ValueError(f"memory must have shape {shape}; got {given}")
    if memory.dtype != x.dtype:
        raise TypeError(f"x is {dtype_of(x)} but memory is {dtype_of(memory)}")


def require_even(name: str, width: int) -> None:
    """A width whose features make pairs, one sine and one cosine for each."""
    if width % 2:
        raise ValueError(f"{name} {width} is odd; positions need pairs of features")


def require_at_least(name: str, value: int, least: int) -> None:
    """A whole number that is large enough."""
    if value < least:
        raise ValueError(f"{name} must be at least {least}; got {value}")


def require_window(window: int | None, causal: bool) -> None:
    """A window of at least one key, over the past alone."""
    if window is not None:
        require_at_least("window", window, 1)
        if not causal:
            raise ValueError("a window needs causal attention: it looks back")


def require_rate(rate: float) -> None:
    """A share of entries to drop, which leaves some."""
    if not 0 <= rate < 1:
        raise ValueError(f"the dropout rate must lie in [0, 1); got {rate}")


def require_visible(visible: Shaped, scores: Shape) -> None:
    """A boolean mask that broadcasts to the scores (..., T, S), and not the reverse."""
    _require_boolean(visible)
    pairs = zip(reversed(visible.shape), reversed(scores), strict=False)
    if not 2 <= len(visible.shape) <= len(scores) or any(
        given not in (1, size) for given, size in pairs
    ):
        raise ValueError(
            f"visible has shape {tuple(visible.shape)}, "
            f"which does not broadcast to {scores}"
        )


def require_mask(visible: Shaped) -> None:
    """A boolean mask over queries and keys, behind any batch axes."""
    _require_boolean(visible)
    if len(visible.shape) < 2:
        raise ValueError(
            f"visible must have shape (..., T, S); got {tuple(visible.shape)}"
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
    if "float" not in dtype_of(x):
        raise TypeError(f"{name} needs a floating dtype; got {dtype_of(x)}")


def require_integers(name: str, x: Shaped) -> None:
    """An integer dtype of any width."""
    if "int" not in dtype_of(x):
        raise TypeError(f"{name} must be integers; got {dtype_of(x)}")


def require_shape(name: str, x: Shaped, expected: Shape) -> None:
    """The shape that the other arrays imply."""
    if tuple(x.shape) != tuple(expected):
        raise ValueError(
            f"{name} must have shape {tuple(expected)}; got {tuple(x.shape)}"
        )


def _require_boolean(visible: Shaped) -> None:
    if dtype_of(visible) != "bool":
        raise TypeError(
            "visible must be boolean, True where a key is seen; "
            f"got {dtype_of(visible)}"
        )


def dtype_of(x: Shaped) -> str:
    return str(x.dtype).removeprefix("torch.")
