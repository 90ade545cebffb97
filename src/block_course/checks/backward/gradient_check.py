"""`backward.gradient_check`: a test that tells right gradients from wrong ones, by differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from block_course.checks.backward import blocks
from block_course.checks.backward.blocks import Back, Steps, Walk, drawn, subject
from block_course.checks.backward.weak_checks import FAINT, ITEM, LAST, MISCONCEPTIONS, SUMMED, ZEROS
from block_course.checks.catching import catches, let_through, lets_through
from block_course.exercise import Array, Case, Exercise, Subject

SKIP, MEAN, SOFTMAX = "a skip forgotten", "a norm's mean forgotten", "a softmax entry by entry"
ROOT, AVERAGED = "a root forgotten", "averaged over the batch"
_CATCHES = (
    (SKIP, "catches a walk back that forgets the skips", 0.75),
    (MEAN, "catches a layer norm's backward without the mean", 0.75),
    (SOFTMAX, "catches a softmax walked back entry by entry", 0.75),
    (ROOT, "catches a forgotten √K", 0.5),
    (ZEROS, "catches gradients of zeros", 1.0),
    (SUMMED, "catches a gradient that never looks at dy", 0.5),
    (AVERAGED, "catches a mean over the batch", 0.25),
    (LAST, "catches a gradient that is wrong at the last position alone", 0.75),
    (ITEM, "catches one that is wrong in the second item alone", 0.75),
    (FAINT, "catches the slope of another GELU, off by a thousandth", 1.0),
)


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """Six blocks with right gradients and ten with wrong ones, each with weights of its own, shuffled."""
    B, T, D = 2, 3, 4
    x = rng.normal(size=(B, T, D))
    x /= x.std(axis=-1, keepdims=True)
    subjects = _right(rng, D) | _wrong(rng, D)
    order = rng.permutation(list(subjects))
    return [Case(name=str(each), arguments={"x": x}, subject=subjects[each]) for each in order]


def _walk(rng: np.random.Generator, D: int, rule: Callable[..., tuple[Array, Back]], steps: Steps) -> Walk:
    weights = drawn(rng, D, D + 3)
    return lambda x: rule(x, weights, steps)


def _right(rng: np.random.Generator, D: int) -> dict[str, Subject]:
    pre, loud, rounded = (_walk(rng, D, blocks.pre_norm, blocks.RIGHT) for _ in range(3))
    post = _walk(rng, D, blocks.post_norm, blocks.RIGHT)
    matrix = drawn(rng, D, D)["q"]

    def louder(x: Array) -> tuple[Array, Back]:
        y, back = loud(x)
        return 100.0 * y, lambda dy: 100.0 * back(dy)

    return {
        "pre-norm": subject(pre, right=True),
        "post-norm": subject(post, right=True),
        "a linear map": subject(lambda x: (x @ matrix.T, lambda dy: np.asarray(dy @ matrix)), right=True),
        "a layer norm alone": subject(lambda x: blocks.layer_norm(x, blocks.RIGHT), right=True),
        "a loud block": subject(louder, right=True),
        "gradients rounded to float32": subject(
            rounded, right=True, gradients=lambda back, dy: back(dy).astype(np.float32).astype(np.float64)
        ),
    }


def _wrong(rng: np.random.Generator, D: int) -> dict[str, Subject]:
    steps = {
        SKIP: Steps(skip=0.0),
        MEAN: Steps(norm=blocks.norm_without_mean),
        SOFTMAX: Steps(softmax=blocks.softmax_entry_by_entry),
        ROOT: Steps(with_root=False),
        FAINT: blocks.EXACT_BEND,
    }
    spoiled: dict[str, Callable[[Back, Array], Array]] = {
        SUMMED: lambda back, dy: back(np.ones_like(dy)),
        AVERAGED: lambda back, dy: back(dy) / 2.0,
        LAST: lambda back, dy: _halved(back(dy), (..., -1, slice(None))),
        ITEM: lambda back, dy: _halved(back(dy), (slice(1, None),)) if dy.ndim == 3 else back(dy),
    }
    zeros = _walk(rng, D, blocks.post_norm, blocks.RIGHT)
    return {
        **{name: subject(_walk(rng, D, blocks.pre_norm, each), right=False) for name, each in steps.items()},
        **{
            name: subject(_walk(rng, D, blocks.pre_norm, blocks.RIGHT), right=False, gradients=each)
            for name, each in spoiled.items()
        },
        ZEROS: subject(zeros, right=False, gradients=lambda back, dy: np.zeros_like(dy)),
    }


def _halved(gradient: Array, where: tuple[Any, ...]) -> Array:
    gradient = gradient.copy()
    gradient[where] /= 2.0
    return gradient


EXERCISE = Exercise(
    id="backward.gradient_check",
    answer="gradients_are_right",
    title="A test that finds wrong gradients",
    level="stretch",
    minutes=25,
    framework="numpy",
    reference=let_through,
    cases=cases,
    properties=(lets_through(), *(catches(*each) for each in _CATCHES)),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "Which dy do you send in, which entries of x do you move, by how much, and how near must the two "
        "gradients be?",
        "A norm's outputs sum to 0, so that dy of ones sees nothing behind it: draw dy at random. In float64 "
        "a central difference with a step near 1e-6 is right to nine digits or so.",
        "Draw dy. For every entry of x: the outputs for that entry plus 1e-6 and minus 1e-6, their "
        "difference times dy, summed, over 2e-6. Demand that each is within 1e-5 of `block.gradients(x, "
        "dy)`, absolutely or by share.",
    ),
    calls="test",
)
