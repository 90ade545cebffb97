"""Blocks of each configuration, right and with each known fault, written as formulas from end to end."""

import math

import numpy as np

from transformer_block.in_numpy.positions import rotary

D, H, F = 12, 3, 10


def layer_norm(x, eps):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


def rms_norm(x, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


def sample_variance(x, eps):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps)


def eps_outside(x, eps):
    return (x - x.mean(-1, keepdims=True)) / (np.sqrt(x.var(-1, keepdims=True)) + eps)


def over_time(x, eps):
    """One sequence after the other: each has one mean and one variance."""
    return np.stack([(each - each.mean()) / np.sqrt(each.var() + eps) for each in x])


def over_keys(scores, hidden):
    weights = np.where(hidden, 0, np.exp(np.where(hidden, 0, scores)))
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def over_queries(scores, hidden):
    return np.swapaxes(over_keys(np.swapaxes(scores, -2, -1), np.swapaxes(hidden, -2, -1)), -2, -1)


def side_by_side(heads):
    return np.concatenate([heads[:, h] for h in range(heads.shape[1])], axis=-1)


def laid_flat(heads):
    batch, n_heads, length, width = heads.shape
    return heads.reshape(batch, length, n_heads * width)


def attention(
    config, p, x, visible, *, scale=None, weigh=over_keys, merge=side_by_side, inverted=False, rows=None
):
    """rows is the order in which those of the matrix for queries, keys and values are read."""
    heads, groups, width = config.n_heads, config.kv_heads, config.head_width
    order = np.arange((heads + 2 * groups) * width) if rows is None else rows
    made = x @ p["attention.qkv.weight"][order].T
    if "attention.qkv.bias" in p:
        made = made + p["attention.qkv.bias"][order]
    made = np.moveaxis(made.reshape(*x.shape[:2], -1, width), 2, 1)
    q, k, v = np.split(made, [heads, heads + groups], axis=1)
    if config.qk_norm:
        q = p["attention.q_norm.weight"] * rms_norm(q, config.eps)
        k = p["attention.k_norm.weight"] * rms_norm(k, config.eps)
    if config.positions == "rotary":
        q, k = (rotary(each, base=config.rotary_base) for each in (q, k))
    shared = [h * groups // heads for h in range(heads)]
    scores = np.einsum("bhtk,bhsk->bhts", q, k[:, shared]) / (scale or math.sqrt(width))
    hidden = np.zeros((len(x), 1, x.shape[1], x.shape[1]), dtype=bool)
    if visible is not None:
        hidden = (visible if inverted else ~visible)[:, None]
    if config.causal:
        hidden = hidden | np.triu(np.ones(hidden.shape[-2:], dtype=bool), 1)
    weights = weigh(scores, np.broadcast_to(hidden, scores.shape))
    y = merge(np.einsum("bhts,bhsk->bhtk", weights, v[:, shared])) @ p["attention.out.weight"].T
    return y + p.get("attention.out.bias", 0.0)


def feed_forward(p, x):
    inner = np.maximum(x @ p["feed_forward.up.weight"].T + p.get("feed_forward.up.bias", 0.0), 0)
    return inner @ p["feed_forward.down.weight"].T + p.get("feed_forward.down.bias", 0.0)


def block(config, p, x, visible=None, *, formula=None, added="x", first_norm=False, **faults):
    """Pre-norm or post-norm; added is what a branch is added to: x, nothing, or what the branch reads."""
    formula = formula or (rms_norm if config.norm == "rms_norm" else layer_norm)

    def normed(number, x):
        name = f"norm_{1 if first_norm else number}"
        return p.get(f"{name}.weight", 1.0) * formula(x, config.eps) + p.get(f"{name}.bias", 0.0)

    branches = (lambda x: attention(config, p, x, visible, **faults), lambda x: feed_forward(p, x))
    for number, branch in enumerate(branches, start=1):
        read = normed(number, x) if config.placement == "pre" else x
        x = {"x": x, "nothing": 0.0, "read": read}[added] + branch(read)
        x = x if config.placement == "pre" else normed(number, x)
    return x
