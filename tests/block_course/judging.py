"""A tiny exercise whose answer is a test: of a block that lets no position see a later one."""

import numpy as np

from block_course.checks.catching import catches, lets_through
from block_course.exercise import Case, Exercise, Misconception, Subject

LENGTH, WIDTH = 5, 3
BLIND, LATE = "no mask", "a mask that comes too late"


def running_mean(x):
    return np.cumsum(x, axis=-2) / np.arange(1, LENGTH + 1)[:, None]


def whole_mean(x):
    return np.zeros_like(x) + x.mean(-2, keepdims=True)


def masked_late(x):
    y = running_mean(x)
    y[..., -2, :] += 0.5 * x[..., -1, :]
    return y


def gradients(block):
    """By differences, which is exact for a linear block."""
    basis = np.eye(LENGTH * WIDTH).reshape(-1, LENGTH, WIDTH)
    return lambda x, dy: np.array([(block(each) * dy).sum() for each in basis]).reshape(LENGTH, WIDTH)


def subject(block, right):
    return Subject(right=right, answers={"forward": block, "gradients": gradients(block)})


def cases(rng):
    x = rng.normal(size=(LENGTH, WIDTH))
    made = [
        ("a running mean", running_mean, True),
        (f"{BLIND}, wide", whole_mean, False),
        (LATE, masked_late, False),
    ]
    return [
        Case(name=name, arguments={"x": x}, subject=subject(block, right))
        for name, block, right in rng.permutation(np.array(made, dtype=object))
    ]


def good(block, x):
    changed = x.copy()
    changed[-1] += np.arange(1.0, WIDTH + 1)
    assert np.allclose(block(changed)[:-1], block(x)[:-1])


def by_gradients(block, x):
    dy = np.zeros_like(x)
    dy[0] = 1.0
    hears = np.abs(block.gradients(x, dy)).sum(axis=-1)
    dy[0], dy[-2] = 0.0, 1.0
    return bool((hears[1:] == 0).all() and not block.gradients(x, dy)[-1].any())


def looks_at_the_first_row(block, x):
    changed = x.copy()
    changed[-1] += 1.0
    return bool(np.allclose(block(changed)[0], block(x)[0]))


EXERCISE = Exercise(
    id="tiny.causal",
    answer="is_causal",
    title="A causal test",
    level="core",
    minutes=5,
    framework="numpy",
    reference=lambda x: True,
    cases=cases,
    properties=(
        lets_through(),
        catches(BLIND, "catches a block without a mask", 2.0),
        catches(LATE, "catches a mask that comes too late", 1.0),
    ),
    misconceptions=(
        Misconception(
            name="one row",
            answer=looks_at_the_first_row,
            message=lambda case, outputs: f"{case.name} got through: you look at the first row alone",
        ),
    ),
    hints=("look", "see", "all rows"),
    calls="test",
)
