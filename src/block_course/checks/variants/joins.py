"""`variants.joins`: a parallel block, one with LayerScale and one with DeepNorm, from the same parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from block_course.checks.kept import dtype_kept, inputs_unchanged
from block_course.checks.properties import values
from block_course.checks.variants.joined import MISCONCEPTIONS
from block_course.exercise import Array, Case, Exercise, Hints

RULES = ("parallel", "layer_scale", "deep_norm")
START = "layer_scale at its start"


def reference(rule: str, x: Array, mix: Array, up: Array, down: Array, scales: Array, L: int) -> Array:
    """The block that the rule names, in float64."""
    x, mix, up, down, scales = (each.astype(np.float64) for each in (x, mix, up, down, scales))

    def norm(value: Array) -> Array:
        deviation = value - value.mean(axis=-1, keepdims=True)
        return np.asarray(deviation / np.sqrt(np.square(deviation).mean(axis=-1, keepdims=True) + 1e-5))

    if rule == "parallel":
        read = norm(x)
        return np.asarray(x + mix @ read + np.maximum(read @ up.T, 0.0) @ down.T)
    if rule == "layer_scale":
        h = x + scales[0] * (mix @ norm(x))
        return np.asarray(h + scales[1] * (np.maximum(norm(h) @ up.T, 0.0) @ down.T))
    louder = (2 * L) ** 0.25
    h = norm(louder * x + mix @ x)
    return norm(louder * h + np.maximum(h @ up.T, 0.0) @ down.T)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Each rule in both dtypes, with its own depth; LayerScale with scales so small that nothing moves."""
    T, D, F = int(rng.integers(3, 5)), int(rng.integers(6, 9)), int(rng.integers(10, 13))
    made = []
    for rule in RULES:
        for dtype in ("f8", "f4"):
            x = rng.normal(size=(2, T, D)) + rng.uniform(-1.0, 1.0, (2, T, 1))
            mix = rng.dirichlet(np.ones(T), T)
            up, down = rng.normal(size=(F, D)) / np.sqrt(D), rng.normal(size=(D, F)) / np.sqrt(F)
            scales = rng.uniform(0.3, 0.8, (2, D)) * rng.choice([-1.0, 1.0], (2, D))
            arrays = {"x": x, "mix": mix, "up": up, "down": down, "scales": scales}
            name = rule if dtype == "f8" else f"{rule} in float32"
            made.append(_case(name, rule, arrays, int(rng.integers(6, 40)), dtype))
    quiet = {**arrays, "scales": 1e-4 * scales}
    return [*made, _case(START, "layer_scale", quiet, 24, "f8")]


def _case(name: str, rule: str, arrays: dict[str, Array], L: int, dtype: str) -> Case:
    given = {key: each.astype(dtype) for key, each in arrays.items()}
    return Case(name=name, arguments={"rule": rule, **given, "L": L}, condition=60.0)


def _both(rule: str) -> tuple[str, str]:
    """A rule's cases."""
    return rule, f"{rule} in float32"


_PARALLEL_HINTS: Hints = (
    "Which norms does the equation have, and what does each branch read?",
    "One norm. Both branches read its output, and both updates are added to x.",
    "`n = norm(x)`, then `x + gather(n, mix) + bend(n, up, down)`.",
)
_SCALE_HINTS: Hints = (
    "What is multiplied by the scales: the stream, what a branch reads, or what it gives?",
    "What it gives. Row 0 belongs to the first branch, row 1 to the second; otherwise it is pre-norm.",
    "`h = x + scales[0] * gather(norm(x), mix)`, then the same for `bend` from `h` with `scales[1]`.",
)
_DEEP_HINTS: Hints = (
    "On which side of the plus does the factor stand, and what does each norm read?",
    "Both adds are α·(stream) + branch(stream) with α = (2L)^(1/4), and a norm stands behind each.",
    "`h = norm(a * x + gather(x, mix))`, then `norm(a * h + bend(h, up, down))`.",
)

EXERCISE = Exercise(
    id="variants.joins",
    answer="joined",
    title="Three blocks from the same parts",
    level="stretch",
    minutes=15,
    framework="numpy",
    withheld=("transformer_block",),
    reference=reference,
    cases=cases,
    properties=(
        values("parallel", "parallel branches", 1.5, on=_both("parallel"), hints=_PARALLEL_HINTS),
        values("layer_scale", "LayerScale", 1.25, on=_both("layer_scale"), hints=_SCALE_HINTS),
        values("start", "LayerScale at its start", 0.25, on=(START,), requires=("layer_scale",)),
        values("deep_norm", "DeepNorm", 2.0, on=_both("deep_norm"), hints=_DEEP_HINTS),
        dtype_kept(0.5, of="x", requires=("parallel",)),
        inputs_unchanged(0.5, requires=("parallel",)),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Take the three rules one at a time. For each: what do the branches read, and what is added to what?",
        "In a parallel block both branches read one norm of x. With LayerScale a pre-norm block's updates "
        "are multiplied before they are added. DeepNorm is post-norm with a louder stream.",
        "An `if` for each rule; each has two or three lines, with `norm`, `gather` and `bend`.",
    ),
)
