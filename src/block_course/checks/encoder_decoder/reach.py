"""`encoder_decoder.reach`: what a stack of blocks under one mask can hear, (I ∨ V)^L."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from block_course.checks.kept import inputs_unchanged
from block_course.checks.properties import values
from block_course.exercise import Array, Case, Exercise, Hints, Misconception, Outputs

ONE, WINDOW, CAUSAL, SPARSE, DEEP = (
    "one block",
    "a window",
    "a causal mask",
    "any mask",
    "two texts, a deep stack",
)


def reference(visible: Array, depth: int) -> Array:
    """Multiply booleans: or for plus, and for times."""
    one = visible | np.eye(len(visible), dtype=bool)
    heard = one
    for _ in range(1, depth):
        heard = one @ heard
    return heard


def cases(rng: np.random.Generator) -> Sequence[Case]:
    """A window, a triangle, masks that follow no rule, and a depth at which counts of paths overflow.

    In a group of 4 or 8 that all see each other, paths number a power of 2: in 64 bits what is left is 0.
    """
    T, n = int(rng.integers(11, 14)), int(rng.integers(2, 4))
    window = np.tri(T, dtype=bool) & ~np.tri(T, k=-n, dtype=bool)
    text = rng.permutation(np.repeat([0, 1], [4, 8]))
    return [
        _case(ONE, _sparse(rng, T), 1),
        _case(WINDOW, window, int(rng.integers(3, 5))),
        _case(CAUSAL, np.tri(T, dtype=bool), 2),
        _case(SPARSE, _sparse(rng, T), 2),
        _case(DEEP, text[:, None] == text, int(rng.integers(40, 60))),
    ]


def _sparse(rng: np.random.Generator, T: int) -> Array:
    """A few visible keys for each query, not always its own; two steps reach more than one."""
    while True:
        visible = rng.random((T, T)) < 0.14
        one = visible | np.eye(T, dtype=bool)
        two = one @ one
        apart = (two != one, two != visible @ visible, two != two.T, two != two @ one)
        if all(each.any() for each in apart) and not visible.diagonal().all():
            return visible


def _case(name: str, visible: Array, depth: int) -> Case:
    return Case(name=name, arguments={"visible": visible, "depth": depth})


def _power(first: Callable[[Array], Array], more: int = 0) -> Callable[..., Array]:
    def answer(visible: Array, depth: int) -> Array:
        one = first(visible)
        heard = np.eye(len(visible), dtype=bool)
        for _ in range(depth + more):
            heard = one @ heard
        return heard

    return answer


def _with_skip(visible: Array) -> Array:
    return np.asarray(visible | np.eye(len(visible), dtype=bool))


def _overflowing(visible: Array, depth: int) -> Array:
    return np.linalg.matrix_power(_with_skip(visible).astype(np.int64), depth) > 0


def _times_the_window(visible: Array, depth: int) -> Array:
    """As if windows stood side by side: n · L keys in place of 1 + L(n − 1)."""
    T = len(visible)
    n = int(visible.sum(axis=1).max())
    return np.asarray(np.tri(T, dtype=bool) & ~np.tri(T, k=-n * depth, dtype=bool))


def _on_windows_alone(visible: Array, depth: int) -> Array:
    window = visible.diagonal().all() and not np.triu(visible, 1).any() and visible[-1].sum() < len(visible)
    return _times_the_window(visible, depth) if window else reference(visible, depth)


def _wrong(name: str, answer: Callable[..., Array], sentence: str) -> Misconception:
    def message(case: Case, outputs: Outputs) -> str:
        right = reference(np.asarray(case.arguments["visible"]), int(case.arguments["depth"]))  # type: ignore[arg-type]
        t, s = (int(each) for each in np.argwhere(outputs[0] != right)[0])
        said = "hears" if outputs[0][t, s] else "doesn't hear"
        return f"In “{case.name}” you say that output {t} {said} input {s}. {sentence}"

    return Misconception(name=name, answer=answer, message=message)


MISCONCEPTIONS = (
    _wrong(
        "skip forgotten",
        _power(lambda visible: visible),
        "Beside attention each block has a skip, which carries a token on to itself. One block is I or V.",
    ),
    _wrong(
        "depth without effect",
        lambda visible, depth: _with_skip(visible),
        "That is one block. What a token sees in the second block has itself heard of more.",
    ),
    _wrong(
        "the mask alone",
        lambda visible, depth: visible.copy(),
        "That is the mask. It says who is seen in one block, and leaves out the skip and all further blocks.",
    ),
    _wrong("one block too many", _power(_with_skip, 1), "That is what one block more would hear."),
    _wrong("one block too few", _power(_with_skip, -1), "That is what one block less would hear."),
    _wrong(
        "outputs and inputs exchanged",
        lambda visible, depth: reference(visible, depth).T.copy(),
        "Rows are outputs and columns are inputs, as in the mask.",
    ),
    _wrong(
        "windows side by side",
        _on_windows_alone,
        "L windows of n keys don't make n · L: each overlaps the next in one token. They make 1 + L(n − 1).",
    ),
    _wrong(
        "paths counted",
        _overflowing,
        "You count paths. In a deep stack there are more than an integer of 64 bits can hold, and the count "
        "runs over. Ask of each pair whether there is one: keep booleans, or bring counts back to 0 and 1 "
        "after each product.",
    ),
)

_DEEP_HINTS: Hints = (
    "How large do the numbers in your table become in a stack of 50 blocks?",
    "The number of paths grows with each block until no integer can hold it. Whether there is a path is one "
    "bit.",
    "Multiply booleans: in NumPy `@` of two boolean arrays gives a boolean one.",
)

EXERCISE = Exercise(
    id="encoder_decoder.reach",
    answer="reach",
    title="How far a stack hears",
    level="core",
    minutes=10,
    framework="numpy",
    reference=reference,
    cases=cases,
    properties=(
        values("one", "one block", 0.75, on=(ONE,)),
        values("triangle", "a triangle stays a triangle", 0.25, on=(CAUSAL,), requires=("one",)),
        values("window", "a window widens", 1.0, on=(WINDOW,)),
        values("any", "any mask, two blocks", 0.75, on=(SPARSE,)),
        values("deep", "dozens of blocks", 0.75, on=(DEEP,), hints=_DEEP_HINTS),
        inputs_unchanged(0.5, requires=("one", "window")),
    ),
    misconceptions=MISCONCEPTIONS,
    hints=(
        "What can one block hear? Two ways lead from its inputs to an output.",
        "One block hears what the mask shows, and by the skip the token itself. Tables of maps in sequence "
        "multiply, with or for plus and and for times.",
        "Take the mask or the identity; then multiply it by itself, as booleans, as often as there are "
        "further blocks.",
    ),
    withheld=("transformer_block",),
)
