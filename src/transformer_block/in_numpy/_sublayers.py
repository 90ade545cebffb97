"""A block's parts with their parameters bound: each can be called, then run backward.

They are made anew for each call of a block, because each keeps what it was called with
until its backward has run.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from transformer_block.in_numpy._call import Bound, BoundResidual, Call
from transformer_block.in_numpy.attention import attention, attention_backward
from transformer_block.in_numpy.cross_attention import (
    cross_attention,
    cross_attention_backward,
)
from transformer_block.in_numpy.feed_forward import feed_forward, feed_forward_backward
from transformer_block.in_numpy.heads import QKNorm
from transformer_block.in_numpy.layer_norm import layer_norm, layer_norm_backward
from transformer_block.in_numpy.rms_norm import rms_norm, rms_norm_backward
from transformer_block.initialization import deep_norm
from transformer_block.joins import Add, Part, Sublayer

# Which tensor of a part each array argument of its function is.
NORM = {"gamma": "weight", "beta": "bias"}
QK_NORM = {"q_norm": "q_norm.weight", "k_norm": "k_norm.weight"}
ATTENTION = {
    "qkv": "qkv.weight",
    "qkv_bias": "qkv.bias",
    "out": "out.weight",
    "out_bias": "out.bias",
}
CROSS_ATTENTION = {
    "q": "q.weight",
    "q_bias": "q.bias",
    "kv": "kv.weight",
    "kv_bias": "kv.bias",
    "out": "out.weight",
    "out_bias": "out.bias",
}
FEED_FORWARD = {
    "w1": "up.weight",
    "b1": "up.bias",
    "gate": "gate.weight",
    "gate_bias": "gate.bias",
    "w2": "down.weight",
    "b2": "down.bias",
}


class NormGradients(NamedTuple):
    """Gradients of a norm by the names of its arguments."""

    x: np.ndarray
    gamma: np.ndarray
    beta: np.ndarray | None


def sublayers(call: Call) -> list[Sublayer[Part, Add]]:
    """Bind the parts of each branch, in order; in training, draw what they drop."""
    branch = {
        "attention": _attention,
        "cross_attention": _cross_attention,
        "feed_forward": _feed_forward,
    }
    return [
        Sublayer(
            name=name,
            norm=norm(call, f"norm_{number}"),
            branch=branch[name](call),
            norm_out=norm(call, f"norm_{number}_out"),
            add=_residual(call, f"residual_{number}"),
        )
        for number, name in enumerate(call.config.branches, start=1)
    ]


def norm(call: Call, name: str) -> Bound:
    """Bind the block's kind of norm to the gamma and beta of one place."""
    given = call.arrays(name, NORM) | {"eps": call.config.eps}
    if call.config.norm == "rms_norm":
        del given["beta"]
        return Bound(call, name, rms_norm, _rms_norm_backward, NORM, given)
    return Bound(call, name, layer_norm, _layer_norm_backward, NORM, given)


def _layer_norm_backward(
    dy: np.ndarray,
    x: np.ndarray,
    gamma: np.ndarray | None,
    beta: np.ndarray | None,  # moves y and none of the gradients
    eps: float,
) -> NormGradients:
    return NormGradients(*layer_norm_backward(dy, x, gamma, eps))


def _rms_norm_backward(
    dy: np.ndarray, x: np.ndarray, gamma: np.ndarray | None, eps: float
) -> NormGradients:
    return NormGradients(*rms_norm_backward(dy, x, gamma, eps), beta=None)


def _attention(call: Call) -> Bound:
    config, length = call.config, call.shape[-2]
    given = _of_attention(call, "attention", ATTENTION, keys=length) | {
        "visible": call.visible,
        "causal": config.causal,
        "rotary_base": config.rotary_base if config.positions == "rotary" else None,
    }
    function = attention
    if call.cache is not None:
        function = partial(attention, cache=call.cache)
    return Bound(
        call, "attention", function, attention_backward, ATTENTION | QK_NORM, given
    )


def _cross_attention(call: Call) -> Bound:
    name, memory = "cross_attention", call.memory
    assert memory is not None
    given = _of_attention(call, name, CROSS_ATTENTION, keys=memory.shape[-2]) | {
        "visible": call.memory_visible,
        "memory": memory,
    }
    names = CROSS_ATTENTION | QK_NORM
    return Bound(call, name, cross_attention, cross_attention_backward, names, given)


def _of_attention(
    call: Call, name: str, names: Mapping[str, str], keys: int
) -> dict[str, Any]:
    config = call.config
    *batch, length, _ = call.shape
    weights = (*batch, config.n_heads, length, keys)
    norms = call.arrays(name, QK_NORM)
    qk_norm = QKNorm(norms["q_norm"], norms["k_norm"], config.eps)
    return call.arrays(name, names) | {
        "n_heads": config.n_heads,
        "n_kv_heads": config.kv_heads,
        "qk_norm": qk_norm if config.qk_norm else None,
        "drop": call.drop(weights, config.attention_dropout),
        "saved": call.saved_in(name),
    }


def _feed_forward(call: Call) -> Bound:
    name, config = "feed_forward", call.config
    inner = (*call.shape[:-1], config.d_ff)
    given = call.arrays(name, FEED_FORWARD) | {
        "activation": config.activation,
        "drop": call.drop(inner, config.feed_forward_dropout),
        "saved": call.saved_in(name),
    }
    return Bound(call, name, feed_forward, feed_forward_backward, FEED_FORWARD, given)


def _residual(call: Call, name: str) -> BoundResidual:
    config = call.config
    deep = config.residual_scaling == "deep_norm"
    return BoundResidual(
        call,
        name,
        {
            "weight": call.parameters.get(f"{name}.weight"),
            "alpha": deep_norm(config).alpha if deep else None,
            "drop": call.drop(call.shape, config.residual_dropout),
        },
    )
