"""What a stage of a block computed for one token, in words and with its numbers put in.

Sums and norms are recognized by their values, not believed by their names: a stage that
adds something else than its block's other stages is shown to.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from transformer_block._stage_knowledge import Knowledge, Vector

Past = Sequence[tuple[str, Vector]]

_FEATURES = 4  # so many features have a line of their own
_TERMS = 10  # so many terms are spelled out
_SHARES = 5  # so many tokens are named, those that get most attention
_HEADS = 4


class Explanation(NamedTuple):
    """How a value came about: from which vectors and by which lines, out of before."""

    kind: str
    parts: list[tuple[str, Vector]]
    lines: list[str]
    before: Vector | None = None


def explain(
    name: str, value: Vector, past: Past, token: int, known: Knowledge
) -> Explanation:
    """Say how the stage called name made value, given the stages before it."""
    if not past:
        return Explanation("stream", [], ["what the block is given"])
    if name.startswith("add"):
        return _sum(name, value, past)
    if "norm" in name:
        return _norm(name, value, past[-1], known)
    kind = next(
        (each for each in ("attention", "feed_forward") if each in name), "other"
    )
    read = dict(past).get(known.reads.get(name, ""))
    parts = [] if read is None else [(known.reads[name], read)]
    if kind == "attention":
        lines = _attention(name, value, token, known)
    elif kind == "feed_forward":
        lines = _feed_forward(name, value, token, known)
    else:
        lines = []
    return Explanation(kind, parts, lines, read)


def number(value: float) -> str:
    """Three decimals, with a true minus sign and no negative zero."""
    text = f"{value:.3f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def vector(values: Vector, shown: int | None = None) -> str:
    """A vector in brackets; with shown, its first features and how many follow."""
    numbers = [number(each) for each in values[:shown]]
    if len(numbers) < len(values):
        numbers.append(f"… {len(values) - len(numbers)} more")
    return f"[{', '.join(numbers)}]"


def _sum(name: str, value: Vector, past: Past) -> Explanation:
    for last in range(len(past) - 1, 0, -1):
        for first in range(last - 1, -1, -1):
            (a_name, a), (b_name, b) = past[first], past[last]
            if a.shape == b.shape and _equal(a + b, value):
                lines = [
                    f"{name} = {a_name} + {b_name}",
                    *_per_feature(value, _added(a, b)),
                ]
                return Explanation(
                    "stream", [(a_name, a), (f"+ {b_name}", b)], lines, a
                )
    stream_name, stream = next(
        (each for each in reversed(past) if each[0].startswith("add")), past[0]
    )
    if stream.shape != value.shape:
        return Explanation("stream", [], [])
    what = name.removeprefix("add_")
    if what.isdigit() or what == name:
        what = "difference"
    update = value - stream
    lines = [
        f"{name} = {stream_name} + {what}",
        *_per_feature(value, _added(stream, update)),
    ]
    return Explanation(
        "stream", [(stream_name, stream), (f"+ {what}", update)], lines, stream
    )


def _added(a: Vector, b: Vector) -> list[str]:
    return [
        f"{number(left)} {_signed(right)}" for left, right in zip(a, b, strict=True)
    ]


def _norm(
    name: str, value: Vector, read: tuple[str, Vector], known: Knowledge
) -> Explanation:
    read_name, x = read
    gamma = known.parameters.get(f"{name}.weight")
    beta = known.parameters.get(f"{name}.bias")
    mean, variance, square = x.mean(), x.var(), np.square(x).mean()
    candidates = (
        (
            mean,
            variance,
            f"mean {number(mean)}, variance {number(variance)}",
            "variance",
        ),
        (0.0, square, f"mean of the squares {number(square)}", "mean of the squares"),
    )
    for center, spread, words, what in candidates:
        root = np.sqrt(spread + known.eps)
        normalized = (x - center) / root
        scaled = normalized if gamma is None else gamma * normalized
        if _equal(scaled if beta is None else scaled + beta, value):
            lines = [f"{words}, √({what} + eps) = {number(root)}"]
            divided = [_over(each, center, root) for each in x]
            lines += _per_feature(normalized, divided)
            if gamma is not None or beta is not None:
                lines.append("then each feature · weight + bias of its own")
                lines += _per_feature(value, _affine(normalized, gamma, beta))
            return Explanation("norm", [(read_name, x)], lines, x)
    lines = [candidates[0][2], "no plain layer norm or RMS norm of these numbers"]
    return Explanation("norm", [(read_name, x)], lines, x)


def _over(x: float, center: float, root: float) -> str:
    top = f"({number(x)} {_signed(-center)})" if center else number(x)
    return f"{top} / {number(root)}"


def _affine(x: Vector, gamma: Vector | None, beta: Vector | None) -> list[str]:
    texts = [number(each) for each in x]
    if gamma is not None:
        texts = [_product(g, each) for g, each in zip(gamma, x, strict=True)]
    if beta is not None:
        texts = [f"{text} {_signed(b)}" for text, b in zip(texts, beta, strict=True)]
    return texts


def _attention(name: str, value: Vector, token: int, known: Knowledge) -> list[str]:
    weights = known.weights.get(name)
    if weights is None:
        return []
    n_keys = weights.shape[-1]
    tokens = known.tokens
    if name != "attention" or n_keys != len(tokens):  # a memory, or keys from a cache
        tokens = [f"key {s}" for s in range(n_keys)]
    lines = []
    for head, shares in enumerate(weights[:_HEADS, token], start=1):
        whose = "weights" if len(weights) == 1 else f"weights of head {head}"
        lines.append(f"{whose}: {_shares(shares, tokens)}")
    if len(weights) > _HEADS:
        lines.append(f"… {len(weights) - _HEADS} more heads")
    if known.values is not None:
        sums = [_dot(weights[0, token], feature) for feature in known.values.T]
        lines += ["each feature: Σ weight · value", *_per_feature(value, sums)]
    return lines


def _shares(shares: Vector, tokens: Sequence[str]) -> str:
    order = np.argsort(-shares, kind="stable")
    named = [f"{tokens[s]} {number(shares[s])}" for s in order[:_SHARES]]
    rest = len(shares) - len(named)
    if rest:
        named.append(f"{rest} more {number(shares[order[_SHARES:]].sum())}")
    return ", ".join(named)


def _feed_forward(name: str, value: Vector, token: int, known: Knowledge) -> list[str]:
    if known.inner is None:
        return []
    inner = known.inner[token]
    lines = [f"inner features {vector(inner, _TERMS)}"]
    down = known.parameters.get(f"{name}.down.weight")
    if down is not None:
        bias = known.parameters.get(f"{name}.down.bias")
        sums = [_dot(row, inner) for row in down]
        if bias is not None:
            sums = [f"{text} {_signed(b)}" for text, b in zip(sums, bias, strict=True)]
        lines += ["each feature: down · inner + bias", *_per_feature(value, sums)]
    return lines


def _per_feature(value: Vector, texts: Sequence[str]) -> list[str]:
    lines = [f"{text} = {number(v)}" for text, v in zip(texts, value, strict=True)]
    rest = len(lines) - _FEATURES
    return lines if rest <= 0 else [*lines[:_FEATURES], f"… {rest} more features"]


def _dot(left: Vector, right: Vector) -> str:
    """Σ leftᵢ · rightᵢ with numbers: all terms if few, else the three largest."""
    order: Sequence[int] = range(len(left))
    if len(left) > _TERMS:
        order = np.argsort(-np.abs(left * right), kind="stable")[:3].tolist()
    text = ""
    for i in order:
        sign = "−" if left[i] < 0 else "+"
        term = _product(abs(left[i]), right[i])
        text = f"{text} {sign} {term}" if text else f"{sign.strip('+')}{term}"
    rest = len(left) - len(order)
    return f"{text} + {rest} more terms" if rest else text


def _product(left: float, right: float) -> str:
    text = number(right)
    return f"{number(left)} · {f'({text})' if text[0] == '−' else text}"


def _signed(value: float) -> str:
    text = number(value)
    return f"− {text[1:]}" if text[0] == "−" else f"+ {text}"


def _equal(a: Vector, b: Vector) -> bool:
    """Whether two vectors are the same, up to what float32 loses on the way."""
    if a.shape != b.shape:
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.abs(a - b).max() <= 1e-5 * max(1.0, np.abs(b).max()))
