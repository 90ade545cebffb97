"""What a configuration computes, right and wrong in each of the known ways, in float64.

Each wrong variant is the package's own block with one thing changed. A block that
agrees with one of them, and not with the right one, has that fault.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from transformer_block import joins
from transformer_block.config import CHOICES, BlockConfig
from transformer_block.in_numpy._call import Call
from transformer_block.in_numpy._sublayers import sublayers
from transformer_block.in_numpy.attention import split_qkv
from transformer_block.in_numpy.block import Block
from transformer_block.in_numpy.heads import QKNorm, merge_heads, prepare_heads
from transformer_block.in_numpy.linear import linear
from transformer_block.in_numpy.masks import causal_mask
from transformer_block.in_numpy.scaled_dot_product import softmax
from transformer_block.parameters import check

Parameters = Mapping[str, np.ndarray]
Run = Callable[..., np.ndarray]
Formula = Callable[[np.ndarray, float], np.ndarray]
EPS = (1e-3, 1e-5, 1e-6, 1e-8, 1e-12)


def right(config: BlockConfig, parameters: Parameters) -> Run:
    """The block as the configuration says.

    Raises: ValueError or TypeError for parameters that are not this block's.
    """
    return Block(config, parameters)


def wrong(config: BlockConfig, parameters: Parameters) -> Iterator[tuple[str, Run]]:
    """Each known fault by name, as a block that has it and nothing else."""
    yield from _norm_faults(config, parameters)
    yield from _join_faults(config, parameters)
    yield from _attention_faults(config, parameters)
    yield from _parameter_faults(config, parameters)
    yield from _other_choices(config, parameters)


def _norm_faults(config: BlockConfig, p: Parameters) -> Iterator[tuple[str, Run]]:
    if config.norm != "layer_norm":
        return
    for name, formula in NORMS.items():
        yield name, _with(config, p, partial(_with_norm, formula, config, p))


def _with_norm(
    formula: Formula, config: BlockConfig, p: Parameters, sublayer: Any, number: int
) -> Any:
    return replace(sublayer, norm=partial(_norm, formula, config, p, f"norm_{number}"))


def _norm(
    formula: Formula,
    config: BlockConfig,
    p: Parameters,
    name: str,
    x: np.ndarray,
) -> np.ndarray:
    gain, bias = p.get(f"{name}.weight", 1.0), p.get(f"{name}.bias", 0.0)
    return np.asarray(gain * formula(x, config.eps) + bias)


def _over(x: np.ndarray, axis: Any, eps: float, ddof: int = 0) -> np.ndarray:
    variance = x.var(axis=axis, keepdims=True, ddof=ddof)
    return np.asarray((x - x.mean(axis=axis, keepdims=True)) / np.sqrt(variance + eps))


def _eps_outside(x: np.ndarray, eps: float) -> np.ndarray:
    spread = x.std(axis=-1, keepdims=True)
    return np.asarray((x - x.mean(axis=-1, keepdims=True)) / (spread + eps))


NORMS: Mapping[str, Formula] = {
    "sample_variance": lambda x, eps: _over(x, -1, eps, ddof=1),
    "eps_outside_the_root": _eps_outside,
    "statistics_over_time_and_features": lambda x, eps: _over(x, (-2, -1), eps),
}


def _join_faults(config: BlockConfig, p: Parameters) -> Iterator[tuple[str, Run]]:
    def without_x(sublayer: Any, number: int) -> Any:
        return replace(sublayer, add=lambda x, update: update)

    def normed(sublayer: Any, number: int) -> Any:
        read: list[np.ndarray] = []

        def norm(x: np.ndarray) -> np.ndarray:
            read.append(sublayer.norm(x))
            return read[-1]

        def add(x: np.ndarray, update: np.ndarray) -> np.ndarray:
            return np.asarray(sublayer.add(read[-1], update))

        return replace(sublayer, norm=norm, add=add)

    yield "no_residual", _with(config, p, without_x)
    if config.placement == "pre":
        yield "normed_x_added", _with(config, p, normed)


def _attention_faults(config: BlockConfig, p: Parameters) -> Iterator[tuple[str, Run]]:
    for name, change in ATTENTIONS.items():
        yield name, _with(config, p, partial(_with_attention, change))


def _with_attention(change: Mapping[str, Any], sublayer: Any, number: int) -> Any:
    if sublayer.name != "attention":
        return sublayer
    return replace(sublayer, branch=partial(_attention, sublayer.branch.call, **change))


def _attention(
    call: Call,
    x: np.ndarray,
    *,
    over: int = -1,
    merge: Callable[[np.ndarray], np.ndarray] = merge_heads,
    scale: Callable[[BlockConfig], float] = lambda config: math.sqrt(config.head_width),
    inverted: bool = False,
) -> np.ndarray:
    """Self-attention with one thing that can be another: see ATTENTIONS."""
    config, p = call.config, call.parameters
    gains = None
    if config.qk_norm:
        norms = p["attention.q_norm.weight"], p["attention.k_norm.weight"]
        gains = QKNorm(*norms, config.eps)
    projected = linear(x, p["attention.qkv.weight"], p.get("attention.qkv.bias"))
    q, k, v = split_qkv(projected, config.n_heads, config.kv_heads)
    base = config.rotary_base if config.positions == "rotary" else None
    q, k = prepare_heads(q, k, gains, base)
    k, v = (np.repeat(each, config.n_heads // config.kv_heads, -3) for each in (k, v))
    scores = np.moveaxis(q @ k.swapaxes(-2, -1) / scale(config), over, -1)
    visible = np.moveaxis(_visible(call, x.shape[-2], inverted), over, -1)
    weights = np.moveaxis(softmax(scores, visible), -1, over)
    merged = merge(weights @ v)
    return linear(merged, p["attention.out.weight"], p.get("attention.out.bias"))


def _visible(call: Call, length: int, inverted: bool) -> np.ndarray:
    """Which query sees which key, the same for all heads: (..., 1, T, S)."""
    visible = np.ones((1, length, length), dtype=bool)
    if call.visible is not None:
        visible = (call.visible ^ inverted)[..., None, :, :]
    return visible & causal_mask(length) if call.config.causal else visible


def _untransposed(heads: np.ndarray) -> np.ndarray:
    *batch, n_heads, length, width = heads.shape
    return heads.reshape(*batch, length, n_heads * width)


ATTENTIONS: Mapping[str, dict[str, Any]] = {
    "heads_not_transposed_back": {"merge": _untransposed},
    "softmax_over_queries": {"over": -2},
    "mask_inverted": {"inverted": True},
    "scores_not_scaled": {"scale": lambda config: 1.0},
    "scores_scaled_by_the_model_width": {
        "scale": lambda config: math.sqrt(config.d_model)
    },
}


def _parameter_faults(config: BlockConfig, p: Parameters) -> Iterator[tuple[str, Run]]:
    second = [name for name in p if name.startswith("norm_2.")]
    if second:
        first = {name: p[name.replace("norm_2", "norm_1")] for name in second}
        yield "first_norm_reused", Block(config, {**p, **first})
    biases = {n: np.zeros_like(v) for n, v in p.items() if n.endswith(".bias")}
    if biases:
        yield "biases_forgotten", Block(config, {**p, **biases})
    n, names = config.n_heads, ("attention.qkv.weight", "attention.qkv.bias")
    if config.kv_heads == n:
        rows = np.arange(3 * config.d_model)
        keys_first = rows.reshape(3, -1)[[1, 0, 2]].ravel()
        values_first = rows.reshape(3, -1)[[2, 0, 1]].ravel()
        head_by_head = rows.reshape(n, 3, -1).swapaxes(0, 1).ravel()
        for order in (keys_first, values_first, head_by_head):
            moved = {name: p[name][order] for name in names if name in p}
            yield "qkv_in_another_order", Block(config, {**p, **moved})


def _other_choices(config: BlockConfig, p: Parameters) -> Iterator[tuple[str, Run]]:
    changes: list[tuple[str, dict[str, Any]]] = [
        (f"{placement}_norm", {"placement": placement, "residual_scaling": "none"})
        for placement in ("pre", "post")
    ]
    changes += [("another_eps", {"eps": eps}) for eps in EPS]
    changes += [
        ("another_activation", {"activation": name}) for name in CHOICES["activation"]
    ]
    changes += [("causal_mask_missing", {"causal": False})] * config.causal
    changes += [("other_positions", {"positions": name}) for name in ("none", "rotary")]
    for name, change in changes:
        try:
            other = replace(config, **change)
            check(other, p)
        except ValueError:
            continue
        if other != config:
            yield name, Block(other, p)


def _with(config: BlockConfig, p: Parameters, around: Callable[[Any, int], Any]) -> Run:
    """The block, with each of its sublayers passed through a change."""

    def run(
        x: np.ndarray, visible: np.ndarray | None = None, **extra: Any
    ) -> np.ndarray:
        call = Call(
            config=config, parameters=dict(p), shape=x.shape, visible=visible, **extra
        )
        parts = [around(each, i) for i, each in enumerate(sublayers(call), start=1)]
        return np.asarray(joins.last(joins.JOINS[config.placement](x, parts)))

    return run
