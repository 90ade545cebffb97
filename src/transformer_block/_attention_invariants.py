"""What must hold before tokens attend or a cache is filled, worded for both twins."""

from transformer_block._invariants import (
    Shaped,
    dtype_of,
    require_divisible,
    require_floating,
    require_memory,
    require_projection,
    require_shape,
    require_window,
)


def require_attention(
    x: Shaped,
    qkv: Shaped,
    qkv_bias: Shaped | None,
    out: Shaped,
    out_bias: Shaped | None,
    n_heads: int,
    n_kv_heads: int | None,
) -> int:
    """Projections that fit x and its heads; returns the heads of keys and values."""
    require_tokens("attention", x)
    d_model = x.shape[-1]
    groups = require_heads(d_model, n_heads, n_kv_heads)
    rows = d_model + 2 * groups * (d_model // n_heads)
    require_projection("qkv", qkv, qkv_bias, (rows, d_model))
    require_projection("out", out, out_bias, (d_model, d_model))
    return groups


def require_cross_attention(
    x: Shaped,
    memory: Shaped,
    q: Shaped,
    q_bias: Shaped | None,
    kv: Shaped,
    kv_bias: Shaped | None,
    out: Shaped,
    out_bias: Shaped | None,
    n_heads: int,
    n_kv_heads: int | None,
) -> int:
    """A memory and projections that fit x; returns the heads of keys and values."""
    require_tokens("cross_attention", x)
    require_memory(x, memory)
    d_model = x.shape[-1]
    groups = require_heads(d_model, n_heads, n_kv_heads)
    rows = 2 * groups * (d_model // n_heads)
    require_projection("q", q, q_bias, (d_model, d_model))
    require_projection("kv", kv, kv_bias, (rows, d_model))
    require_projection("out", out, out_bias, (d_model, d_model))
    return groups


def require_tokens(part: str, x: Shaped, name: str = "x") -> None:
    """Floating vectors along a sequence."""
    require_floating(part, x)
    if len(x.shape) < 2:
        raise ValueError(f"{name} must have shape (..., T, D); got {tuple(x.shape)}")


def require_heads(d_model: int, n_heads: int, n_kv_heads: int | None) -> int:
    """Heads that share the width; returns n_kv_heads, which is n_heads unless given."""
    require_divisible(d_model, n_heads)
    groups = n_heads if n_kv_heads is None else n_kv_heads
    require_groups(n_heads, groups)
    return groups


def require_groups(n_heads: int, n_kv_heads: int) -> None:
    """Heads of queries that share the heads of keys and values evenly."""
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(
            f"n_heads {n_heads} is not divisible by n_kv_heads {n_kv_heads}"
        )


def require_cached(k: Shaped, v: Shaped, room: Shaped | None) -> None:
    """Keys and values alike, and of the batch, heads, width and dtype of the cache."""
    require_tokens("a cache", k, "k")
    require_shape("v", v, k.shape)
    if room is not None:
        *batch, _, width = room.shape
        require_shape("k", k, (*batch, k.shape[-2], width))
    for name, given, kept in (("v", v, k), ("k", k, k if room is None else room)):
        if given.dtype != kept.dtype:
            raise TypeError(
                f"{name} is {dtype_of(given)} where the cache holds {dtype_of(kept)}"
            )


def require_room(held: int, capacity: int, new: int) -> None:
    """Free positions for all that is new."""
    if held + new > capacity:
        raise ValueError(
            f"the cache holds {held} of {capacity} positions: no room for {new} more"
        )


def require_window_fits(window: int | None, capacity: int) -> None:
    """A window of at least one key that the cache can hold."""
    require_window(window, causal=True)
    if window is not None and window > capacity:
        raise ValueError(f"window {window} does not fit into capacity {capacity}")


def require_causal_cache(causal: bool) -> None:
    """A cache holds the past alone, so that only causal attention can use it."""
    if not causal:
        raise ValueError("a cache needs causal attention: it holds the past alone")


def require_uncached(made: Shaped, compared: Shaped) -> None:
    """Keys that are all of this forward pass: gradients of older ones lead nowhere."""
    if made.shape != compared.shape:
        raise ValueError("no gradient leads back through a cache")
