"""Known wrong joins of stream and branches, each wrong in one rule, with what to tell its author."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from block_course.checks.telling import first_departure
from block_course.exercise import Array, Case, Misconception, Outputs

Branch = Callable[[Array], Array]


class Given(NamedTuple):
    """What a rule joins: the stream, both branches, LayerScale's rows and the factor of DeepNorm."""

    x: Array
    gather: Branch
    bend: Branch
    scales: Array
    L: int


Rule = Callable[[Given], Array]


def norm(value: Array) -> Array:
    """Layer norm without gain and bias."""
    deviation = value - value.mean(axis=-1, keepdims=True)
    return np.asarray(deviation / np.sqrt(np.square(deviation).mean(axis=-1, keepdims=True) + 1e-5))


def parallel(b: Given) -> Array:
    """Both branches read one norm."""
    return b.x + b.gather(norm(b.x)) + b.bend(norm(b.x))


def pre_norm(b: Given, first: Array | float = 1.0, second: Array | float = 1.0) -> Array:
    """Each branch reads a norm of the stream; updates are multiplied by the two scales."""
    h = b.x + first * b.gather(norm(b.x))
    return h + second * b.bend(norm(h))


def post_norm(b: Given, first: float = 1.0, second: float = 1.0) -> Array:
    """A norm behind each add; the stream is multiplied by the two factors before it."""
    h = norm(first * b.x + b.gather(b.x))
    return norm(second * h + b.bend(h))


def layer_scale(b: Given) -> Array:
    """Pre-norm with a row of scales for each branch."""
    return pre_norm(b, b.scales[0], b.scales[1])


def deep_norm(b: Given) -> Array:
    """Post-norm with the stream made louder."""
    return _louder(b, (2 * b.L) ** 0.25)


def _louder(b: Given, factor: float) -> Array:
    return post_norm(b, factor, factor)


RIGHT: dict[str, Rule] = {"parallel": parallel, "layer_scale": layer_scale, "deep_norm": deep_norm}


def _by(rules: dict[str, Rule]) -> Callable[..., Array]:
    def answer(rule: str, x: Array, mix: Array, up: Array, down: Array, scales: Array, L: int) -> Array:
        given = Given(x, lambda n: mix @ n, lambda n: np.maximum(n @ up.T, 0.0) @ down.T, scales, L)
        return np.asarray(rules[rule](given))

    return answer


def _wrong(rule: str, name: str, wrong: Rule, sentence: str) -> Misconception:
    right = _by(RIGHT)

    def message(case: Case, outputs: Outputs) -> str:
        told = first_departure(outputs, (right(**case.arguments),))
        return f"With the rule {rule}: {told}{sentence}"

    return Misconception(
        name=name,
        answer=_by({**RIGHT, rule: wrong}),
        message=message,
        tells=lambda case: case.name == rule,
        about=lambda case: case.arguments["rule"] == rule,
    )


MISCONCEPTIONS = (
    _wrong(
        "parallel",
        "one branch after the other",
        pre_norm,
        "That is pre-norm: the second branch reads what the first has added. In a parallel block both read "
        "the same norm of x.",
    ),
    _wrong(
        "parallel",
        "second branch reads the first",
        lambda b: b.x + b.gather(norm(b.x)) + b.bend(b.gather(norm(b.x))),
        "The second branch reads what the first has made. Both read the norm of x.",
    ),
    _wrong(
        "parallel",
        "no norm in the parallel block",
        lambda b: b.x + b.gather(b.x) + b.bend(b.x),
        "The branches read x as it is. They read one norm of it.",
    ),
    _wrong(
        "parallel",
        "second branch without a norm",
        lambda b: b.x + b.gather(norm(b.x)) + b.bend(b.x),
        "The second branch reads x as it is. Both read the same norm.",
    ),
    _wrong(
        "parallel",
        "residual around the normed x",
        lambda b: norm(b.x) + b.gather(norm(b.x)) + b.bend(norm(b.x)),
        "The updates are added to the norm of x. They are added to x.",
    ),
    _wrong(
        "parallel",
        "x added twice",
        lambda b: b.x + parallel(b),
        "The stream is in it twice. Both updates are added to one x.",
    ),
    _wrong(
        "layer_scale",
        "scales left out",
        pre_norm,
        "That is plain pre-norm. Each update is multiplied by its row of `scales`.",
    ),
    _wrong(
        "layer_scale",
        "one row for both branches",
        lambda b: pre_norm(b, b.scales[0], b.scales[0]),
        "Row 0 of `scales` was used twice. The second branch has row 1.",
    ),
    _wrong(
        "layer_scale",
        "rows exchanged",
        lambda b: pre_norm(b, b.scales[1], b.scales[0]),
        "The rows of `scales` are exchanged: row 0 belongs to the first branch.",
    ),
    _wrong(
        "layer_scale",
        "stream scaled too",
        lambda b: (
            b.scales[1] * (h := b.scales[0] * (b.x + b.gather(norm(b.x)))) + b.scales[1] * b.bend(norm(h))
        ),
        "The sum was multiplied by the scales, stream and all. Only the update is; the stream passes as it "
        "is.",
    ),
    _wrong(
        "layer_scale",
        "scales before the branch",
        lambda b: (h := b.x + b.gather(b.scales[0] * norm(b.x))) + b.bend(b.scales[1] * norm(h)),
        "The scales multiply what each branch reads. They multiply what it gives.",
    ),
    _wrong(
        "layer_scale",
        "no norms with LayerScale",
        lambda b: (h := b.x + b.scales[0] * b.gather(b.x)) + b.scales[1] * b.bend(h),
        "The branches read the stream as it is. LayerScale changes the add; the norms stay where "
        "pre-norm has them.",
    ),
    _wrong(
        "deep_norm",
        "stream not louder",
        post_norm,
        "That is plain post-norm. The stream is multiplied by (2L)^(1/4) before each add.",
    ),
    _wrong(
        "deep_norm",
        "square root of 2L",
        lambda b: _louder(b, (2 * b.L) ** 0.5),
        "The stream was multiplied by √(2L). The factor is the fourth root.",
    ),
    _wrong(
        "deep_norm",
        "fourth root of L",
        lambda b: _louder(b, b.L**0.25),
        "The stream was multiplied by L^(1/4). Each of L blocks has two branches: (2L)^(1/4).",
    ),
    _wrong(
        "deep_norm",
        "stream quieter",
        lambda b: _louder(b, (2 * b.L) ** -0.25),
        "The stream was divided by (2L)^(1/4). It is made louder: multiplied.",
    ),
    _wrong(
        "deep_norm",
        "first add alone",
        lambda b: post_norm(b, (2 * b.L) ** 0.25),
        "The factor stands at the first add alone. It stands at both.",
    ),
    _wrong(
        "deep_norm",
        "factor on the sum",
        lambda b: norm(
            (2 * b.L) ** 0.25 * ((h := norm((2 * b.L) ** 0.25 * (b.x + b.gather(b.x)))) + b.bend(h))
        ),
        "The factor multiplies stream and update alike, and the norm behind it takes it out again. It "
        "multiplies the stream alone.",
    ),
    _wrong(
        "deep_norm",
        "pre-norm with a louder stream",
        lambda b: (2 * b.L) ** 0.25 * (h := (2 * b.L) ** 0.25 * b.x + b.gather(norm(b.x))) + b.bend(norm(h)),
        "The norms stand before the branches. DeepNorm has them behind the adds.",
    ),
)
